/** The sessions whose newest state is only in this process: their open calls and texts, and the turn that runs. */
import { randomUUID } from 'node:crypto';
import { type DaemonEvent, transcriptLimits } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { fieldBytes, keepHead } from '../bounds.ts';
import type { Clock } from '../clock.ts';
import { type Contents, keepingIn } from '../contents.ts';
import { type ReadFile, keepFile } from '../file-blocks.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store.ts';
import type { PermissionAnswer } from './call-items.ts';
import { recordOf } from './content.ts';
import type { Talk } from './endings.ts';
import { type Mapper, createMapper } from './mapper.ts';
import type { Detail, MapperOptions } from './mapper-options.ts';

const maxTalks = 1000;

interface TalksOptions {
  store: Store;
  contents: Contents;
  readFile?: ReadFile | undefined;
  clock: Clock;
  settings: { detail: Detail | 'off'; thoughts: boolean };
  /** How the agent of a session names its messages. */
  idOf?: (sessionId: string) => MapperOptions['idOf'];
  /** Text of the agent in the middle of a turn. */
  send: (event: DaemonEvent<'AGENT_RESPONSE'>) => void;
  log: Pick<Log, 'warn' | 'info'>;
}

export function createTalks(options: TalksOptions) {
  const { store, contents, clock, settings } = options;
  const talks = new Map<string, Talk>();

  const drops: Record<string, number> = {};
  const drop = (sessionId: string, why: string): undefined => {
    drops[why] = (drops[why] ?? 0) + 1;
    options.log.info('update not kept', { session: sessionId, why, count: drops[why] });
  };

  const mapperOf = (sessionId: string, cwd: string, turn: string): Mapper =>
    createMapper({
      sessionId,
      cwd,
      turn,
      idOf: options.idOf?.(sessionId),
      detail: settings.detail === 'outline' ? 'outline' : 'full',
      thoughts: settings.thoughts,
      now: () => clock.now(),
      isTaken: (uuid) => store.holds(sessionId, uuid),
      newestPlan: () => newestPlan(store, sessionId),
      keep: {
        ...keepingIn(contents, sessionId),
        ...(options.readFile ? { file: keepFile(contents, sessionId, options.readFile) } : {}),
      },
      dropped: (why) => drop(sessionId, why),
    });
  /** Forgets the oldest quiet session when there are too many. */
  const remember = (sessionId: string, talk: Talk): Talk => {
    talks.delete(sessionId);
    talks.set(sessionId, talk);
    if (talks.size <= maxTalks) return talk;
    for (const [oldest, { phase }] of talks)
      if (phase === 'over' && oldest !== sessionId) {
        talks.delete(oldest);
        break;
      }
    return talk;
  };
  /** A session that has run no turn since the start. */
  const fresh = (sessionId: string): Talk | undefined => {
    const session = store.session(sessionId);
    if (!session) return undefined;
    const turn = randomUUID();
    return remember(sessionId, {
      taskId: '',
      mapper: mapperOf(sessionId, session.projectPath, turn),
      turn,
      phase: 'over',
    });
  };

  /** The people who answered the newest questions, until the agent gets the answer. */
  const answers = new Map<string, Pick<PermissionAnswer, 'by' | 'at'>>();
  const noteAnswer = (uuid: string, answer: unknown) => {
    const { by, at } = recordOf(answer);
    if (typeof at !== 'string') return;
    answers.set(uuid, { at, ...(typeof by === 'string' ? { by } : {}) });
    const [oldest] = answers.keys();
    if (answers.size > maxTalks && oldest !== undefined) answers.delete(oldest);
  };

  const speak = (sessionId: string, { taskId, mapper }: Talk, except?: string) => {
    for (const { uuid, content } of mapper.takeTexts()) {
      if (uuid === except) continue;
      const event = { type: 'event', event_type: 'AGENT_RESPONSE', task_id: taskId, session_id: sessionId } as const;
      const timestamp = new Date(clock.now()).toISOString();
      options.send({ ...event, uuid, content: keepHead(content, fieldBytes.message), timestamp });
    }
  };

  /** Everything is on the disk already; a disk without room for the shorter file loses nothing else. */
  const tidy = (sessionId: string) => {
    try {
      store.tidy(sessionId);
    } catch (error) {
      options.log.warn('history not tidied', { session: sessionId, why: reasonOf(error) });
    }
  };

  return {
    talks,
    speak,
    tidy,
    of: (sessionId: string) => talks.get(sessionId) ?? fresh(sessionId),
    mapperOf,
    remember,
    drop,
    drops: () => ({ ...drops }),
    noteAnswer,
    /** Once. */
    answerTo(question: string) {
      const given = answers.get(question);
      answers.delete(question);
      return given;
    },
  };
}

/** The newest plan among the newest items; an older plan can be shown again. */
function newestPlan(store: Store, sessionId: string): string | undefined {
  const page = store.items(sessionId, { limit: transcriptLimits.pageItems });
  const plan = page && 'items' in page ? page.items.findLast(({ part }) => part.kind === 'plan') : undefined;
  return plan && JSON.stringify(plan.part.entries);
}
