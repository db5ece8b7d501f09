/**
 * The turns that an agent begins itself: background work, subagents, wake-ups (rules, 20.6). Their items are kept and sent at
 * once, their questions wait like any other, and they complete when the agent is done or the next task begins.
 */
import { type Question, limits } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import type { TurnReport } from './agent.ts';
import { firstLine } from './bounds.ts';
import { endingOf, frameOf, questionEnd, questionOf } from './task-ends.ts';
import type { Task } from './task.ts';
import type { TaskRoom } from './task-finish.ts';
import { transcribing } from './task-report.ts';

export interface OwnTurns {
  /** The agent begins a turn in this session. */
  begin: (sessionId: string) => TurnReport;
  /** Whether such a turn runs. */
  runs: (sessionId: string) => boolean;
  /** A task begins: the further work of its session belongs to it. */
  leave: (task: Pick<Task, 'id' | 'sessionId'>) => void;
  /** The task whose cancel also cancels the session's questions: `asker`, or the newest task where the agent asks by itself. */
  taskOf: (sessionId: string, asker: string) => string;
}

const maxSessions = 1000;

export function createOwnTurns(
  room: Omit<TaskRoom, 'tasks' | 'resumed' | 'lines' | 'outgoing' | 'stopped'>,
  record: (write: () => void) => void,
): OwnTurns {
  const { store, transcripts, questions, spending, taskQuestions, voice, log } = room;
  const running = new Map<string, TurnReport>();
  /** The newest task of each session. */
  const newest = new Map<string, string>();

  const open = (sessionId: string, question: Question) =>
    voice.promptOpened({ type: 'event', event_type: 'PROMPT_OPEN', task_id: '', session_id: sessionId, question });

  const reportOf = (sessionId: string): TurnReport => {
    const runs = () => running.get(sessionId) === report;
    const end = () => {
      if (!runs()) return;
      running.delete(sessionId);
      let hasItems = false;
      record(() => (hasItems = transcripts.settle(sessionId, 'own')));
      voice.own(sessionId, false, hasItems);
    };
    const report: TurnReport = {
      ...transcribing(sessionId, room, record),
      progress: () => undefined,
      output: (text) => record(() => transcripts.show(sessionId, text)),
      complete: end,
      error: end,
      wait(question) {
        if (!runs()) return;
        const waiting = questionEnd(question);
        record(() => void transcripts.end('', sessionId, endingOf(frameOf('', sessionId, waiting), waiting)));
        questions.opened(sessionId, {
          taskId: '',
          prompt: waiting.prompt,
          labels: waiting.options.map(({ label }) => label),
        });
        open(sessionId, waiting.question);
        log.info('the agent asks by itself', { session: sessionId });
      },
      further(more) {
        const question = questionOf(more);
        record(() => transcripts.ask(sessionId, question, more.result || more.prompt));
        open(sessionId, question);
      },
      closed: (uuid) => taskQuestions.supersede(sessionId, uuid),
      withdrawn(why, uuid) {
        questions.gone(sessionId, why);
        taskQuestions.supersede(sessionId, uuid);
      },
      title(title) {
        try {
          store.entitle(sessionId, firstLine(title, limits.titleCharacters));
        } catch (error) {
          log.warn('title not written', { session: sessionId, why: reasonOf(error) });
        }
      },
      process: () => undefined,
    };
    return report;
  };

  return {
    begin(sessionId) {
      const report = reportOf(sessionId);
      running.set(sessionId, report);
      record(() => transcripts.own(sessionId));
      spending.turn(sessionId);
      voice.own(sessionId, true, false);
      log.info('the agent works by itself', { session: sessionId });
      return report;
    },
    runs: (sessionId) => running.has(sessionId),
    leave({ id, sessionId }) {
      running.delete(sessionId);
      newest.delete(sessionId);
      newest.set(sessionId, id);
      const [oldest] = newest.keys();
      if (newest.size > maxSessions && oldest !== undefined) newest.delete(oldest);
    },
    taskOf: (sessionId, asker) => asker || (newest.get(sessionId) ?? ''),
  };
}
