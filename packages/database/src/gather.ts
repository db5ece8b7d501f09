/**
 * Questions that are asked at the same time are asked together: when thousands of daemons come back at once, or many people read, the
 * database answers a few statements and not thousands. Knows nothing about the questions.
 */

/** Subjects in one question, and questions under way: past it they wait, and go together. */
const maxSubjects = 500;
const maxQuestions = 2;

/** Returns an entry for each subject with an answer. */
type AskMany<Subject, Answer> = (subjects: readonly Subject[]) => Promise<ReadonlyMap<Subject, Answer>>;

interface Waiting<Subject, Answer> {
  subject: Subject;
  readonly resolve: (answer: Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function that looks up one subject, batched with all calls of the same tick or during a running lookup. The
 * answer is read after the call. Rejects, for a whole batch, with the error of `ask`.
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
      const batch = waiting.splice(0, maxSubjects);
      underWay += 1;
      void answer(batch).finally(() => {
        underWay -= 1;
        plan();
      });
      plan();
    });
  };

  const answer = async (batch: readonly Waiting<Subject, Answer>[]) => {
    try {
      const answers = await ask([...new Set(batch.map(({ subject }) => subject))]);
      for (const { subject, resolve } of batch) resolve(answers.get(subject));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  return (subject) =>
    new Promise((resolve, reject) => {
      waiting.push({ subject, resolve, reject });
      plan();
    });
}
