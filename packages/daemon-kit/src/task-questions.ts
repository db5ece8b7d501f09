/** The open questions of the transcripts: which question a task answers, whether the answer fits, and how a question closes. */
import { type Question as WireQuestion, type Item, formProblem, isForPerson } from '@relay/protocol';
import { fieldBytes, keepHead } from './bounds.ts';
import type { Clock } from './clock.ts';
import type { Store } from './store.ts';
import type { Task, TaskAnswer } from './task.ts';
import type { Transcripts } from './transcript/transcripts.ts';

export interface TaskQuestions {
  /** The open questions of the session, oldest first. */
  of(sessionId: string): Item[];
  /** Whether this question is open, and is still the one with this digest where one is given. */
  isOpen(sessionId: string, uuid: string, digest?: string): boolean;
  /** The open question that the task answers. */
  at(task: Task): WireQuestion | undefined;
  /** Whether an agent gives an answer that only its person gives (rules, 19.9). `names`: the relay names questions. */
  isForPerson(task: Task, names: boolean): boolean;
  /** The reason why the values of a form do not fit its fields. */
  problemOf(task: Task): string | undefined;
  /**
   * Closes the open question that this text answers. Returns its uuid; undefined if no question is open. Throws if the transcript
   * cannot be written.
   */
  answer(sessionId: string, words: string, answer: TaskAnswer | undefined): string | undefined;
  /** Closes this question, or all: they can no longer be answered. */
  supersede: (sessionId: string, uuid?: string) => void;
}

export function createTaskQuestions({
  store,
  transcripts,
  clock,
  record,
}: {
  store: Store;
  transcripts: Transcripts;
  clock: Clock;
  /** Writes to the transcript, whose loss costs no turn. */
  record: (write: () => void) => void;
}): TaskQuestions {
  const of = (sessionId: string) => store.open(sessionId).filter(({ part }) => part.kind === 'question');
  const at = ({ sessionId, answer }: Task) =>
    of(sessionId).find(({ uuid }) => uuid === answer?.question)?.part.question as WireQuestion | undefined;

  return {
    of,
    isOpen(sessionId, uuid, digest) {
      const part = of(sessionId).find((item) => item.uuid === uuid)?.part;
      return part !== undefined && (digest === undefined || (part.question as WireQuestion).digest === digest);
    },
    at,
    isForPerson(task, names) {
      const { sessionId, answer, message, restricted } = task;
      const words = of(sessionId)[0]?.part.question as WireQuestion | undefined;
      const question = answer ? at(task) : names ? undefined : words;
      if (restricted !== 'agent' || !question) return false;
      return isForPerson(question, answer?.isChoice ? answer : { text: message });
    },
    problemOf(task) {
      const values = task.answer?.fields;
      return values && formProblem(at(task)?.fields ?? [], values);
    },
    answer(sessionId, words, answer) {
      const open = of(sessionId);
      const question = answer === undefined ? open[0] : open.find(({ uuid }) => uuid === answer.question);
      if (!question) return undefined;
      const option = answer?.option === undefined ? {} : { option: answer.option };
      const by = answer?.on === undefined ? {} : { by: answer.on };
      const given = { ...option, text: keepHead(words, fieldBytes.lastMessage), at: timeOf(clock), ...by };
      transcripts.change(sessionId, [{ op: 'set', uuid: question.uuid, part: { state: 'answered', answer: given } }]);
      return question.uuid;
    },
    supersede: (sessionId, uuid) =>
      record(() => {
        const open = of(sessionId).filter((item) => uuid === undefined || item.uuid === uuid);
        transcripts.change(
          sessionId,
          open.map((item) => ({ op: 'set', uuid: item.uuid, part: { state: 'superseded' } })),
        );
      }),
  };
}

const timeOf = (clock: Clock) => new Date(clock.now()).toISOString();
