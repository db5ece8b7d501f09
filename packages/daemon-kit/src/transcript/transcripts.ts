/**
 * The transcripts of this daemon: the events of a turn become items on disk and frames for a relay that accepts them. Knows the store and
 * no socket; a task passes it the words, and gets the item with which it ended.
 */
import { randomUUID } from 'node:crypto';
import { type DaemonEvent, type Operation, type Question as AskedQuestion, transcriptLimits } from '@relay/protocol';
import { fieldBytes, keepHead } from '../bounds.ts';
import type { Clock } from '../clock.ts';
import { type Contents, imageName, keepingIn } from '../contents.ts';
import { reasonOf } from '../failure.ts';
import type { Log } from '../log.ts';
import type { Change, Store, Writing } from '../store.ts';
import type { Fields } from './content.ts';
import { type Ending, type Talk, createEndings, interrupted } from './endings.ts';
import { type Mapper, createMapper } from './mapper.ts';
import type { Detail, MapperOptions } from './mapper-options.ts';
import { type Stream, createStream } from './stream.ts';
import { bytesOf } from './words.ts';

export interface TranscriptSettings {
  /** `off`: no transcript is sent to a relay. */
  detail: Detail | 'off';
  thoughts: boolean;
}

export const transcriptSettings: TranscriptSettings = { detail: 'full', thoughts: true };

interface TranscriptsOptions {
  store: Store;
  contents: Contents;
  clock: Clock;
  settings: TranscriptSettings;
  joinMs: number;
  /** How the agent of a session names its messages. */
  idOf?: (sessionId: string) => MapperOptions['idOf'];
  /** Sends a frame; undefined while the relay accepts none. */
  frames: () => ((frame: DaemonEvent<'TRANSCRIPT'>) => void) | undefined;
  /** Words of the agent that do not end their turn. */
  said: (event: DaemonEvent<'AGENT_RESPONSE'>) => void;
  /** A question was closed without an answer. */
  closed: (sessionId: string, taskId: string, uuid: string, state: string) => void;
  /** Questions outlive this process: the next message answers. */
  keepsQuestions: boolean;
  /** Whether local changes are sent. */
  isWatched: (sessionId: string) => boolean;
  log: Pick<Log, 'warn'>;
}

interface Words {
  taskId: string;
  sessionId: string;
  message: string;
  projectPath: string;
  /** Chosen by the relay. */
  uuid?: string | undefined;
  /** The question that they answer. */
  answers?: string | undefined;
  images: readonly string[];
}

export interface Transcripts {
  /** A turn begins, or continues with an answer (`goesOn`). Throws when the disk refuses the write. */
  begin(words: Words, goesOn: boolean): void;
  update(sessionId: string, update: Fields): void;
  call(sessionId: string, call: Fields): void;
  /** Text for apps that read no items. With titles and states alone (`outline`) it is the text of the items. */
  show(sessionId: string, text: string): void;
  /** Output of a program that reports nothing else. */
  print(sessionId: string, taskId: string, text: string): void;
  /** The reason why the turn of this session is no longer kept: the disk refused a write. Undefined while it is kept. */
  lost(sessionId: string): string | undefined;
  /** The item that the task ends with. Throws when the disk refuses the write. */
  end(taskId: string, sessionId: string, ending: Ending): string;
  /** Another question, while one is open. */
  ask(sessionId: string, question: AskedQuestion, about: string): void;
  cancel(sessionId: string): void;
  /** Changes of existing items. */
  change(sessionId: string, changes: readonly Change[]): void;
  /** Closes the items that the process before this one left open. */
  recover(): void;
  /** Sends changes of a session in which none of our turns runs. */
  written: (sessionId: string, ops: readonly Operation[], v: number) => void;
  /** Sends the pending changes: a later read contains them already. */
  flush: (sessionId: string) => void;
}

const maxTalks = 1000;

export function createTranscripts(options: TranscriptsOptions): Transcripts {
  const { store, contents, clock, settings } = options;
  const talks = new Map<string, Talk>();
  const streams = createStreams(options, talks);

  const write = (sessionId: string, changes: readonly Change[], writing?: Writing) => {
    if (changes.length === 0) return;
    const { ops, v } = store.write(sessionId, changes, writing);
    streams.of(sessionId).push(ops, v);
    for (const op of ops) {
      const state = op.op === 'set' ? op.part.state : undefined;
      if (op.op !== 'set' || typeof state !== 'string' || state === 'open' || state === 'answered') continue;
      options.closed(sessionId, talks.get(sessionId)?.taskId ?? '', op.uuid, state);
    }
  };

  const speak = (sessionId: string, { taskId, mapper }: Talk, except?: string) => {
    for (const { uuid, content } of mapper.spoken()) {
      if (uuid === except) continue;
      const event = { type: 'event', event_type: 'AGENT_RESPONSE', task_id: taskId, session_id: sessionId } as const;
      const timestamp = new Date(clock.now()).toISOString();
      options.said({ ...event, uuid, content: keepHead(content, fieldBytes.message), timestamp });
    }
  };

  const told = (sessionId: string, changes: (mapper: Mapper) => Change[]) => {
    const talk = talks.get(sessionId);
    if (!talk || talk.lost !== undefined) return;
    try {
      write(sessionId, changes(talk.mapper));
    } catch (error) {
      talk.lost = reasonOf(error);
      throw error;
    }
    speak(sessionId, talk);
  };

  /** Everything is on the disk by then: one without room for the shorter file costs nothing else. */
  const tidy = (sessionId: string) => {
    try {
      store.tidy(sessionId);
    } catch (error) {
      options.log.warn('history not tidied', { session: sessionId, why: reasonOf(error) });
    }
  };

  const over = (sessionId: string) => {
    streams.of(sessionId).flush();
    talks.delete(sessionId);
    streams.drop(sessionId);
    tidy(sessionId);
  };

  const endings = createEndings({ store, write, keepsQuestions: options.keepsQuestions });

  return {
    begin({ taskId, sessionId, message, projectPath, uuid = randomUUID(), answers, images }, goesOn) {
      const known = goesOn ? talks.get(sessionId) : undefined;
      const part = {
        kind: 'user',
        ...(images.length === 0 ? {} : { images: attached(contents, sessionId, uuid, images) }),
        ...(answers === undefined ? {} : { answers }),
      };
      const turn = known?.turn ?? uuid;
      const mapper =
        known?.mapper ??
        createMapper({
          sessionId,
          cwd: projectPath,
          turn,
          idOf: options.idOf?.(sessionId),
          detail: settings.detail === 'outline' ? 'outline' : 'full',
          thoughts: settings.thoughts,
          now: () => clock.now(),
          isTaken: (uuid) => store.holds(sessionId, uuid),
          newestPlan: () => newestPlan(store, sessionId),
          keep: keepingIn(contents, sessionId),
        });
      const content = keepHead(message, fieldBytes.message);
      talks.delete(sessionId);
      talks.set(sessionId, { taskId, mapper, turn });
      try {
        // Of an earlier turn whose end the disk refused.
        const left = known ? [] : store.open(sessionId).filter(({ part }) => part.kind !== 'question');
        const words: Change = { op: 'put', item: { uuid, role: 'USER', content, turn, part } };
        write(sessionId, [...left.map(interrupted), words], { sync: true });
      } catch (error) {
        if (known) talks.set(sessionId, known);
        else talks.delete(sessionId);
        throw error;
      }
    },
    update: (sessionId, update) => told(sessionId, (mapper) => mapper.update(update)),
    call: (sessionId, call) => told(sessionId, (mapper) => mapper.call(call)),
    show: (sessionId, text) => streams.of(sessionId).print(text),
    print: (sessionId, taskId, text) => told(sessionId, (mapper) => mapper.print(taskId, 'Output', text)),
    lost: (sessionId) => talks.get(sessionId)?.lost,
    end(taskId, sessionId, ending) {
      const talk = talks.get(sessionId);
      const mine = talk?.taskId === taskId ? talk : undefined;
      if (ending.type === 'WAIT_FOR_USER') {
        const uuid = endings.ask(sessionId, mine, ending);
        if (mine) speak(sessionId, mine);
        streams.of(sessionId).flush();
        return uuid;
      }
      try {
        const uuid = endings.conclude(sessionId, mine, ending);
        if (mine) {
          speak(sessionId, mine, uuid);
          over(sessionId);
        } else streams.of(sessionId).flush();
        return uuid;
      } finally {
        // Also when the disk refuses the write.
        if (mine) talks.delete(sessionId);
      }
    },
    ask(sessionId, question, about) {
      const turn = talks.get(sessionId)?.turn;
      const part = { kind: 'question', question, state: 'open' };
      const item = { uuid: question.uuid, role: 'AGENT' as const, content: about, part };
      write(sessionId, [{ op: 'put', item: { ...item, ...(turn === undefined ? {} : { turn }) } }], { sync: true });
    },
    cancel(sessionId) {
      const talk = talks.get(sessionId);
      if (!talk) return;
      endings.cancel(sessionId, talk);
      speak(sessionId, talk);
      over(sessionId);
    },
    change: (sessionId, changes) => write(sessionId, changes, { sync: true }),
    recover() {
      for (const { sessionId } of store.sessions()) if (endings.recover(sessionId)) over(sessionId);
    },
    written: (sessionId, ops, v) => streams.of(sessionId).push(ops, v),
    flush: (sessionId) => streams.flush(sessionId),
  };
}

/** The images of a message: each is kept beside its item, if there is room. */
const attached = (contents: Contents, sessionId: string, uuid: string, images: readonly string[]) =>
  images.map((image, index) => {
    const [, mime = ''] = /^data:([^;,]{1,100})/.exec(image.slice(0, 200)) ?? [];
    const base64 = image.slice(image.indexOf(',') + 1);
    const name = `${imageName}${index + 1}`;
    const isKept = contents.image({ sessionId, uuid, name }, mime, base64);
    return { data: isKept ? name : '', mime, bytes: bytesOf(base64) };
  });

/** The newest plan among the newest items: one that is older may be repeated. */
function newestPlan(store: Store, sessionId: string): string | undefined {
  const page = store.items(sessionId, { limit: transcriptLimits.pageItems });
  const plan = page && 'items' in page ? page.items.findLast(({ part }) => part.kind === 'plan') : undefined;
  return plan && JSON.stringify(plan.part.entries);
}

/** The streams of the sessions, as many as are remembered: each joins the changes of its session into frames. */
function createStreams(
  { store, clock, joinMs, settings, isWatched, frames }: TranscriptsOptions,
  talks: ReadonlyMap<string, Talk>,
) {
  const streams = new Map<string, Stream>();

  const of = (sessionId: string): Stream => {
    const known = streams.get(sessionId);
    if (known) return known;
    const stream = createStream({
      sessionId,
      taskId: () => talks.get(sessionId)?.taskId ?? '',
      clock,
      joinMs,
      next: () => store.write(sessionId, []).v,
      advance: () => store.advance(sessionId),
      prints: settings.detail === 'full',
      send() {
        if (settings.detail === 'off') return undefined;
        return talks.has(sessionId) || isWatched(sessionId) ? frames() : undefined;
      },
    });
    streams.set(sessionId, stream);
    const [oldest] = streams.keys();
    if (streams.size > maxTalks && oldest !== undefined && oldest !== sessionId) {
      streams.get(oldest)?.flush();
      streams.delete(oldest);
    }
    return stream;
  };

  return {
    of,
    flush: (sessionId: string) => streams.get(sessionId)?.flush(),
    drop: (sessionId: string) => void streams.delete(sessionId),
  };
}
