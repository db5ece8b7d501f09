/** The report of an agent during a turn: to the relay, to the transcript, and to the life of its task. */
import { type DaemonEvent, type MessageSetting, limits } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import type { Agent, TurnReport } from './agent.ts';
import { fieldBytes, firstLine, keepTail } from './bounds.ts';
import type { Caps, Overrun } from './caps.ts';
import type { Clock } from './clock.ts';
import type { Controls } from './controls.ts';
import type { Journal } from './journal.ts';
import type { Log } from './log.ts';
import { outputStream } from './output.ts';
import type { Spending } from './spending.ts';
import type { Store } from './store.ts';
import { type End, questionEnd, questionOf } from './task-ends.ts';
import type { Effect } from './transcript/mapper.ts';
import type { Transcripts } from './transcript/transcripts.ts';

interface Reported {
  id: string;
  sessionId: string;
  settings?: readonly MessageSetting[] | undefined;
  phase: string;
  hasQuestion?: boolean;
}

interface ReportOptions<T> {
  agent: Agent;
  controls: Pick<Controls, 'chosen' | 'keep'>;
  store: Store;
  transcripts: Transcripts;
  spending: Spending;
  caps: Caps;
  journal: Pick<Journal, 'process'>;
  log: Log;
  clock: Clock;
  event: (event: DaemonEvent<'OUTPUT'>) => void;
  promptOpened: (event: DaemonEvent<'PROMPT_OPEN'>) => void;
  progress: (task: T, action: string, target: string) => void;
  /** Writes to the transcript, whose loss costs no turn. */
  record: (write: () => void, task?: T) => void;
  /** This question can no longer be answered. */
  superseded: (sessionId: string, uuid: string) => void;
  finish: (task: T, end: End) => void;
  /** The turn costs more than its caps allow: it fails with this reason, and its agent is cancelled. */
  stopped: (task: T, over: Overrun) => void;
  /** The agent withdrew the question of the task, and continues. */
  withdrawn: (task: T, why: string, uuid: string | undefined) => void;
  /** The turn completes before the agent read this message. */
  dropped: (task: T, steerId: string) => void;
}

/** Passes the updates of a turn to the transcript. A failure there never costs the turn. */
export function transcribing(
  sessionId: string,
  { transcripts, spending }: { transcripts: Transcripts; spending: Spending },
  record: (write: () => void) => void,
): Required<Pick<TurnReport, 'update' | 'call' | 'answered' | 'spent'>> {
  const effectOf = (write: () => Effect | undefined): Effect | undefined => {
    let what: Effect | undefined;
    record(() => (what = write()));
    return what;
  };
  return {
    update(update) {
      spending.update(sessionId, update);
      return effectOf(() => transcripts.update(sessionId, update));
    },
    spent: (tokens) => spending.tokens(sessionId, tokens),
    call: (call, question) => effectOf(() => transcripts.call(sessionId, call, question)),
    answered: (about, allowed) =>
      record(() => transcripts.answered(sessionId, about, { allowed, ...('call' in about ? { by: atMachine } : {}) })),
  };
}

/** The place of an answer at the keyboard of the machine. */
const atMachine = 'machine';

export function createReports<T extends Reported>(options: ReportOptions<T>): (task: T) => TurnReport {
  const { agent, store, transcripts, caps, journal, log, clock, progress, record, superseded, finish } = options;
  return (task) => {
    const event = { type: 'event', task_id: task.id, session_id: task.sessionId } as const;
    const live = () => task.phase === 'running';
    const emit = (text: string) => {
      if (!live()) return;
      if (!agent.tellsUpdates) record(() => transcripts.print(task.sessionId, `output:${task.id}`, text), task);
      // A note about omitted text can precede a full portion.
      options.event({ ...event, event_type: 'OUTPUT', output: keepTail(text, fieldBytes.output + 100) });
    };
    const effectOf = transcribing(task.sessionId, options, (write) => record(write, task));
    const joined = outputStream(emit, clock);
    const end = (ended: End) => {
      joined.flush();
      finish(task, ended);
    };
    return {
      progress(action, target = '') {
        if (live()) progress(task, action, target);
      },
      ...effectOf,
      update(update) {
        const what = effectOf.update(update);
        const isCost = live() && update.sessionUpdate === 'usage_update';
        const over = isCost ? caps.overrun(task.sessionId) : undefined;
        if (over !== undefined) options.stopped(task, over);
        return what;
      },
      output(text) {
        if (!live()) return;
        record(() => transcripts.show(task.sessionId, text));
        // Other agents have their output joined.
        if (agent.tellsUpdates) joined.add(text);
        else emit(text);
      },
      complete: (result, reason) => end({ type: 'TASK_COMPLETE', result, ...(reason ? { reason } : {}) }),
      wait: (question) => end(questionEnd(question)),
      further(agentQuestion) {
        const question = questionOf(agentQuestion);
        record(() => transcripts.ask(task.sessionId, question, agentQuestion.result || agentQuestion.prompt));
        const about = { task_id: task.id, session_id: task.sessionId };
        options.promptOpened({ type: 'event', event_type: 'PROMPT_OPEN', ...about, question });
      },
      closed: (uuid) => superseded(task.sessionId, uuid),
      error: (error, code, limit) =>
        end({
          type: 'ERROR',
          error,
          ...(code === undefined ? {} : { code }),
          ...(limit === undefined ? {} : { limit }),
        }),
      withdrawn: (why, uuid) => options.withdrawn(task, why, uuid),
      dropped: (steerId) => options.dropped(task, steerId),
      chosen(settings) {
        options.controls.chosen(task.sessionId, settings);
        options.controls.keep(store.session(task.sessionId)?.agentType, task.settings);
      },
      title(title) {
        try {
          if (live()) store.entitle(task.sessionId, firstLine(title, limits.titleCharacters));
        } catch (error) {
          log.warn('title not written', { session: task.sessionId, why: reasonOf(error) });
        }
      },
      process: (pid) => journal.process(task.id, pid),
    };
  };
}
