/**
 * Questions about devices that several connections ask at the same time are asked together: when thousands of daemons come back at
 * once, the database answers a few statements and not thousands. Knows nothing about the questions.
 */

/** Devices in one question, and questions under way: past it they wait, and go together. */
const maxDevices = 500;
const maxQuestions = 2;

/** Answers for those devices of which there is something to say. */
type AskMany<T> = (deviceIds: readonly string[]) => Promise<ReadonlyMap<string, T>>;

interface Waiting<T> {
  deviceId: string;
  readonly resolve: (answer: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A function that asks about one device, together with all that is asked in the same turn or while earlier questions are under way. What
 * it answers was true after the call. Rejects, for all of a question, with what `ask` rejects with.
 */
export function gathered<T>(ask: AskMany<T>): (deviceId: string) => Promise<T | undefined> {
  const waiting: Waiting<T>[] = [];
  let underWay = 0;
  let planned = false;

  const plan = () => {
    if (planned || underWay >= maxQuestions || waiting.length === 0) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      const asked = waiting.splice(0, maxDevices);
      underWay += 1;
      void answer(asked).finally(() => {
        underWay -= 1;
        plan();
      });
      plan();
    });
  };

  const answer = async (asked: readonly Waiting<T>[]) => {
    try {
      const answers = await ask([...new Set(asked.map(({ deviceId }) => deviceId))]);
      for (const { deviceId, resolve } of asked) resolve(answers.get(deviceId));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };

  return (deviceId) =>
    new Promise((resolve, reject) => {
      waiting.push({ deviceId, resolve, reject });
      plan();
    });
}
