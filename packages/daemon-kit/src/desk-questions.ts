/**
 * The questions of programs beside the daemon, in sessions that they have open (rules, 24.9). The answer of a person is a task like any other,
 * which settles as soon as the program has the answer: the agent of the daemon never gets it.
 */
import type { AskedAtDesk } from './agent.ts';
import type { TaskQuestions } from './task-questions.ts';
import type { Task, TasksOptions } from './task.ts';
import { type End, completed, questionOf, tooLate } from './task-ends.ts';

export interface DeskQuestions {
  ask: (asked: AskedAtDesk) => (() => void) | undefined;
  /** Whether the task answers such a question. */
  isFor(task: Task): boolean;
  /** Gives the answer of a written task to the program, and settles the task. */
  give(task: Task): void;
  /** A question of a session closed. */
  closed(uuid: string): void;
  /** Closes all questions. */
  stop(): void;
}

interface DeskQuestionsOptions {
  room: Pick<TasksOptions, 'store' | 'sync' | 'reportNew' | 'transcripts' | 'voice' | 'log' | 'namesQuestions'> & {
    taskQuestions: TaskQuestions;
  };
  isBusy: (sessionId: string) => boolean;
  record: (write: () => void) => void;
  finish: (task: Task, end: End) => void;
}

const maxOpen = 50;

export function createDeskQuestions({ room, isBusy, record, finish }: DeskQuestionsOptions): DeskQuestions {
  const { store, transcripts, taskQuestions, voice, log } = room;
  const open = new Map<string, AskedAtDesk>();

  const close = (uuid: string) => {
    const asked = open.get(uuid);
    open.delete(uuid);
    if (asked) taskQuestions.supersede(asked.sessionId, uuid);
  };

  const end = (uuid: string) => {
    const asked = open.get(uuid);
    close(uuid);
    asked?.leave();
  };

  return {
    ask(asked) {
      const { sessionId } = asked;
      if (!room.namesQuestions() || isBusy(sessionId)) return undefined;
      try {
        // A terminal began it a moment ago: the relay has to know the session before its question.
        if (!store.has(sessionId)) room.reportNew?.();
        room.sync?.(sessionId);
      } catch {
        return undefined;
      }
      if (!store.has(sessionId)) return undefined;
      // A program asks one question at a time: the one before has an answer, or its turn was stopped.
      for (const [uuid, one] of [...open]) if (one.sessionId === sessionId) end(uuid);
      if (open.size >= maxOpen) return undefined;
      // An agent never answers: it would run commands in a program that its person supervises.
      const question = questionOf({ ...asked.question, person: true });
      record(() => transcripts.ask(sessionId, question, asked.question.result || question.title));
      if (!taskQuestions.isOpen(sessionId, question.uuid)) return undefined;
      open.set(question.uuid, asked);
      voice.promptOpened({ type: 'event', event_type: 'PROMPT_OPEN', task_id: '', session_id: sessionId, question });
      log.info('a program asks', { session: sessionId });
      return () => close(question.uuid);
    },
    isFor: ({ answer }) => answer !== undefined && open.has(answer.question),
    give(task) {
      const uuid = task.answer?.question ?? '';
      const asked = open.get(uuid);
      open.delete(uuid);
      const isGiven = asked?.answer(task.answer?.option, task.message) === true;
      log.info('an answer for a program', { session: task.sessionId, given: isGiven });
      finish(task, isGiven ? completed('desk_answered') : tooLate);
    },
    closed(uuid) {
      const asked = open.get(uuid);
      open.delete(uuid);
      asked?.leave();
    },
    stop() {
      for (const uuid of [...open.keys()]) end(uuid);
    },
  };
}
