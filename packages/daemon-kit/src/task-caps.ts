/** The beginning of a turn under the caps of its session. A message waits here while the question of a cap is open. */
import type { CapQuestion } from './caps.ts';
import { chosen } from './questions.ts';
import type { Task } from './task.ts';
import { completed, questionEnd } from './task-ends.ts';
import type { Finish, TaskRoom } from './task-finish.ts';

/** A message whose turn has not begun. */
interface Held extends Pick<Task, 'message' | 'images' | 'files'> {
  question: CapQuestion;
}

interface Opening {
  /** It continues a turn that runs. */
  isAnswer: boolean;
  /** The message that waited for the answer to the question of a cap. */
  before: Held | undefined;
}

interface CapTurns {
  /** The message that waits for the answer in this task, if the task answers the question of a cap. */
  answeredBy(task: Task): Held | undefined;
  /** Forgets the message that waits in this session. */
  forget(sessionId: string): void;
  /** Notes how the turn of a written task begins. */
  prepare(task: Task, opening: Opening): void;
  /** Begins the turn of a prepared task. */
  begin(task: Task): void;
}

export function createCapTurns(
  { caps, spending, namesQuestions }: Pick<TaskRoom, 'caps' | 'spending' | 'namesQuestions'>,
  finish: Finish['finish'],
  start: (task: Task) => void,
): CapTurns {
  /** Messages that wait for the answer to the question of a cap, by session. */
  const held = new Map<string, Held>();
  /** How the turn of a written task begins. */
  const openings = new WeakMap<Task, Opening>();

  /** Begins the turn, unless a cap has to be asked first or the person stopped there. */
  const begin = (task: Task) => {
    const { isAnswer, before } = openings.get(task)!;
    const { sessionId, answer, message, images, files } = task;
    if (before && !caps.answer(before.question, answer?.option ?? optionOf(before.question, message)))
      return finish(task, completed('cap_stopped'));
    const asks = before || !isAnswer ? caps.question(sessionId) : undefined;
    const waits = before ?? { message, images, files };
    if (asks) {
      held.set(sessionId, { ...waits, question: asks });
      return finish(task, questionEnd(asks.question));
    }
    if (before) {
      Object.assign(task, { message: before.message, images: before.images, files: before.files });
      delete task.answer;
    }
    if (before || !isAnswer) spending.turn(sessionId);
    start(task);
  };

  return {
    answeredBy({ sessionId, answer }) {
      const waits = held.get(sessionId);
      // A relay without named questions sends only text.
      const isMeant = answer ? answer.question === waits?.question.question.uuid : !namesQuestions();
      return isMeant ? waits : undefined;
    },
    forget: (sessionId) => void held.delete(sessionId),
    prepare: (task, opening) => void openings.set(task, opening),
    begin,
  };
}

/** The option that this text chooses. */
const optionOf = ({ question: { choices = [] } }: CapQuestion, words: string): string | undefined =>
  choices[
    chosen(
      words,
      choices.map(({ label }) => label),
    )
  ]?.id;
