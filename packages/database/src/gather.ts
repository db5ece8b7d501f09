/**
 * Questions that are asked at the same time are asked together: when thousands of daemons come back at once, or many people read, the
 * database answers a few statements and not thousands. Knows nothing about the questions.
 */

/** Subjects in one question, and questions under way: past it they wait, and go together. */
const maxSubjects = 500;
const maxQuestions = 2;

/** Answers for those subjects of which there is something to say. */
type AskMany<Subject, Answer> = (subjects: readonly Subject[]) => Promise<ReadonlyMap<Subject, Answer>>;

interface Waiting<Subject, Answer> {
  subject: Subject;
  readonly resolve: (answer: Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A function that asks about one subject, together with all that is asked in the same turn or while earlier questions are under way. The
 * answer was true after the call. Rejects, for all of a question, with what `ask` rejects with.
 */
export function gathered<Answer, Subject = string>(
  ask: AskMany<Subject, Answer>,
): (subject: Subject) => Promise<Answer | undefined> {
  const waiting: Waiting<Subject, Answer>[] = [];
  let underWay = 0;
  let planned = false;

  const plan = () => {
    if (planned || underWay >= maxQuestions || waiting.length === 0) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      const asked = waiting.splice(0, maxSubjects);
      underWay += 1;
      void answer(asked).finally(() => {
        underWay -= 1;
        plan();
      });
      plan();
    });
  };

  const answer = async (asked: readonly Waiting<Subject, Answer>[]) => {
    try {
      const answers = await ask([...new Set(asked.map(({ subject }) => subject))]);
      for (const { subject, resolve } of asked) resolve(answers.get(subject));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };

  return (subject) =>
    new Promise((resolve, reject) => {
      waiting.push({ subject, resolve, reject });
      plan();
    });
}
