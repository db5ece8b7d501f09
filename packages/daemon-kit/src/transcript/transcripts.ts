/**
 * The transcripts of this daemon: the events of a turn become items on disk and frames for a relay that accepts them. Knows the
 * store and no socket; a task passes it the text, and receives the item of its result.
 */
import { randomUUID } from 'node:crypto';
import { type DaemonEvent, type Operation, type Question as WireQuestion } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { fieldBytes, keepHead } from '../bounds.ts';
import type { Clock } from '../clock.ts';
import { type Contents, type NamedFile, imageName } from '../contents.ts';
import { type ReadFile, fileContentName } from '../file-blocks.ts';
import type { IncomingFile } from '../incoming.ts';
import type { Log } from '../log.ts';
import type { Store, StoreChange, Writing } from '../store.ts';
import type { Fields } from './content.ts';
import type { PermissionAnswer } from './call-items.ts';
import { type Talk, type TurnEnd, closed, createEndings } from './endings.ts';
import type { Effect, Mapper } from './mapper.ts';
import type { Detail, MapperOptions } from './mapper-options.ts';
import { type Stream, createStream } from './stream.ts';
import { createTalks } from './talks.ts';
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
  /** Reads files that agents offer; undefined: they stay on the machine. */
  readFile?: ReadFile | undefined;
  clock: Clock;
  settings: TranscriptSettings;
  joinMs: number;
  /** How the agent of a session names its messages. */
  idOf?: (sessionId: string) => MapperOptions['idOf'];
  /** Sends a frame, and returns whether it was sent; undefined while the relay does not accept these frames. */
  frames: () => ((frame: DaemonEvent<'TRANSCRIPT'>) => boolean) | undefined;
  /** Text of the agent in the middle of a turn. */
  send: (event: DaemonEvent<'AGENT_RESPONSE'>) => void;
  /** A question was closed without an answer. */
  closed: (sessionId: string, taskId: string, uuid: string, state: string) => void;
  /** Questions outlive this process: the next message answers. */
  keepsQuestions: boolean;
  /** Whether local changes are sent. */
  isWatched: (sessionId: string) => boolean;
  log: Pick<Log, 'warn' | 'info'>;
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
  files?: readonly IncomingFile[] | undefined;
  /** They were meant for the turn before. */
  steer?: 'next' | undefined;
}

export interface Transcripts {
  /** A turn begins, or continues with an answer (`goesOn`). Throws when the disk refuses the write. */
  begin(words: Words, goesOn: boolean): void;
  /** Adds text that the agent received while the turn of this session runs. Throws if the disk refuses the write. */
  steer(words: SteeredMessage): void;
  /** Outside of a turn it belongs to the one before, or to the agent's own. Undefined for an unknown session. */
  update(sessionId: string, update: Fields): Effect | undefined;
  /** A call as a permission shows it, with the uuid of the question. */
  call(sessionId: string, call: Fields, question?: string): Effect | undefined;
  /** The answer to a permission. */
  answered(sessionId: string, about: { question: string } | { call: Fields }, verdict: PermissionAnswer): void;
  /** The agent begins a turn itself; nothing while a turn runs. */
  own(sessionId: string): void;
  /** Completes the agent's own turn (`own`), or the updates after a turn (`over`). Returns whether its own turn sent text. */
  settle(sessionId: string, phase: 'own' | 'over'): boolean;
  /** Updates that became no item, by reason. */
  dropped(): Readonly<Record<string, number>>;
  /** Text for apps that read no items. With titles and states alone (`outline`) it is the text of the items. */
  show(sessionId: string, text: string): void;
  /** Output of a program that reports nothing else. */
  print(sessionId: string, taskId: string, text: string): void;
  /** The reason why the turn of this session is not kept: the disk refused a write. Undefined while it is kept. */
  lost(sessionId: string): string | undefined;
  /** Writes the item of the task's result. Throws if the disk refuses the write. */
  end(taskId: string, sessionId: string, ending: TurnEnd): string;
  /** Another question, while one is open. */
  ask(sessionId: string, question: WireQuestion, about: string): void;
  cancel(sessionId: string): void;
  /** Changes of existing items. */
  change(sessionId: string, changes: readonly StoreChange[]): void;
  /** Closes the items that the process before this one left open. */
  recover(): void;
  /** Sends changes of a session while our turns are idle there. */
  written: (sessionId: string, ops: readonly Operation[], v: number) => void;
  /** Sends the pending changes: a later read contains them already. */
  flush: (sessionId: string) => void;
  /** A relay accepts frames again: of each session that changed without one, apps see that they lack something. */
  announce: () => void;
}

export function createTranscripts(options: TranscriptsOptions): Transcripts {
  const { store, contents } = options;
  const talkStore = createTalks(options);
  const { talks, mapperOf, remember, drop, speak, tidy } = talkStore;
  const streams = createStreams(options, talks);

  const write = (sessionId: string, changes: readonly StoreChange[], writing?: Writing) => {
    if (changes.length === 0) return;
    const { ops, v } = store.write(sessionId, changes, writing);
    streams.of(sessionId).push(ops, v);
    for (const op of ops) {
      const state = op.op === 'set' ? op.part.state : undefined;
      if (op.op !== 'set' || typeof state !== 'string' || state === 'open' || state === 'answered') continue;
      options.closed(sessionId, talks.get(sessionId)?.taskId ?? '', op.uuid, state);
    }
  };

  /** The mapper receives every update, also those the disk refuses. */
  const change = (sessionId: string, changes: (mapper: Mapper) => StoreChange[], how?: Writing): Effect | undefined => {
    const talk = talkStore.of(sessionId);
    if (!talk) return drop(sessionId, 'an update of an unknown session');
    if (talk.phase === 'over') talk.late = true;
    const now = changes(talk.mapper);
    const effect = talk.mapper.effect();
    if (talk.lost === undefined)
      try {
        write(sessionId, now, how);
        speak(sessionId, talk);
      } catch (error) {
        talk.lost = reasonOf(error);
        throw error;
      }
    return effect;
  };

  const over = (sessionId: string) => {
    streams.of(sessionId).flush();
    const talk = talks.get(sessionId);
    if (talk) Object.assign(talk, { taskId: '', phase: 'over', late: false });
    // The disk refused a part of it: the next turn begins with an empty memory.
    if (talk?.lost !== undefined) talks.delete(sessionId);
    streams.drop(sessionId);
    tidy(sessionId);
  };

  /** Completes a turn without a task, or late updates. */
  const settle: Transcripts['settle'] = (sessionId, phase) => {
    const talk = talks.get(sessionId);
    if (talk?.phase !== phase || (phase === 'over' && talk.late !== true)) return false;
    const hasItems = phase === 'own' && talk.mapper.last() !== undefined;
    endings.settle(sessionId, talk);
    speak(sessionId, talk);
    over(sessionId);
    return hasItems;
  };
  const endings = createEndings({ store, write, keepsQuestions: options.keepsQuestions });

  return {
    begin({ taskId, sessionId, message, projectPath, uuid = randomUUID(), answers, images, files, steer }, goesOn) {
      const before = talks.get(sessionId);
      const same = goesOn && before?.phase !== 'over' ? before : undefined;
      const turn = same?.turn ?? uuid;
      const how = { ...(answers === undefined ? {} : { answers }), ...(steer === undefined ? {} : { steer }) };
      const words = userItem(contents, { sessionId, message, uuid, images, files }, turn, how);
      const mapper = before?.mapper ?? mapperOf(sessionId, projectPath, turn);
      const left = same ? [] : mapper.close('ended');
      if (before) speak(sessionId, before);
      if (!same) mapper.begin(turn);
      remember(sessionId, { taskId, mapper, turn, phase: 'task' });
      try {
        // Items of an earlier turn whose result the disk refused.
        const open = same ? [] : store.open(sessionId).filter(({ part }) => part.kind !== 'question');
        const named = new Set(left.map((change) => (change.op === 'put' ? change.item.uuid : change.uuid)));
        const rest = open.filter((item) => !named.has(item.uuid)).map(closed);
        write(sessionId, [...left, ...rest, words], { sync: true });
      } catch (error) {
        if (before) talks.set(sessionId, before);
        else talks.delete(sessionId);
        throw error;
      }
    },
    steer: (message) =>
      void change(message.sessionId, steered(contents, message, talkStore.of(message.sessionId)), { sync: true }),
    update: (sessionId, update) => change(sessionId, (mapper) => mapper.update(update)),
    call: (sessionId, call, question) => change(sessionId, (mapper) => mapper.call(call, question)),
    answered(sessionId, about, verdict) {
      const given = 'question' in about ? talkStore.answerTo(about.question) : undefined;
      change(sessionId, (mapper) => mapper.answered(about, { ...given, ...verdict }));
    },
    own(sessionId) {
      const talk = talkStore.of(sessionId);
      if (talk?.phase !== 'over') return;
      settle(sessionId, 'over');
      const turn = randomUUID();
      talk.mapper.begin(turn);
      talk.mapper.forget();
      Object.assign(talk, { turn, phase: 'own' });
    },
    settle,
    dropped: talkStore.drops,
    show: (sessionId, text) => streams.of(sessionId).print(text),
    print: (sessionId, taskId, text) => void change(sessionId, (mapper) => mapper.print(taskId, 'Output', text)),
    lost: (sessionId) => talks.get(sessionId)?.lost,
    end(taskId, sessionId, ending) {
      const talk = talks.get(sessionId);
      const mine = talk && talk.phase !== 'over' && talk.taskId === taskId ? talk : undefined;
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
        if (mine && mine.phase !== 'over') talks.delete(sessionId);
      }
    },
    ask(sessionId, question, about) {
      const talk = talks.get(sessionId);
      const turn = talk?.phase === 'over' ? undefined : talk?.turn;
      const part = { kind: 'question', question, state: 'open' };
      const item = { uuid: question.uuid, role: 'AGENT' as const, content: about, part };
      write(sessionId, [{ op: 'put', item: { ...item, ...(turn === undefined ? {} : { turn }) } }], { sync: true });
    },
    cancel(sessionId) {
      const talk = talks.get(sessionId);
      if (!talk || talk.phase === 'over') return;
      endings.cancel(sessionId, talk);
      speak(sessionId, talk);
      over(sessionId);
    },
    change(sessionId, changes) {
      write(sessionId, changes, { sync: true });
      for (const change of changes) if (change.op === 'set') talkStore.noteAnswer(change.uuid, change.part.answer);
    },
    recover() {
      for (const { sessionId } of store.sessions()) if (endings.recover(sessionId)) over(sessionId);
    },
    written: (sessionId, ops, v) => streams.of(sessionId).push(ops, v),
    flush: streams.flush,
    announce: streams.announce,
  };
}

type SteeredMessage = Pick<Words, 'sessionId' | 'message' | 'images' | 'files'> & { uuid: string };

/** The item of a message of the person. */
function userItem(
  contents: Contents,
  { sessionId, message, uuid, images, files = [] }: SteeredMessage,
  turn: string,
  how: Record<string, string>,
): StoreChange {
  const shown = images.length === 0 ? {} : { images: attached(contents, sessionId, uuid, images) };
  const named = files.map((file, index): NamedFile => {
    const name = `${fileContentName}${index + 1}`;
    const isKept = contents.file({ sessionId, uuid, name }, file.path, file.name);
    return { name: file.name, mime: file.mime, bytes: file.bytes, data: isKept ? name : '' };
  });
  const content = keepHead(message, fieldBytes.message);
  const part = { kind: 'user', ...shown, ...(named.length === 0 ? {} : { files: named }), ...how };
  return { op: 'put', item: { uuid, role: 'USER', content, turn, part } };
}

/** The changes by a message that the agent got during a turn. */
const steered = (contents: Contents, message: SteeredMessage, talk: Talk | undefined) => (mapper: Mapper) => [
  ...mapper.closeText(),
  userItem(contents, message, talk?.turn ?? message.uuid, { steer: 'now' }),
];

/** The images of a message: each is kept beside its item, if there is room. */
const attached = (contents: Contents, sessionId: string, uuid: string, images: readonly string[]) =>
  images.map((image, index) => {
    const [, mime = ''] = /^data:([^;,]{1,100})/.exec(image.slice(0, 200)) ?? [];
    const base64 = image.slice(image.indexOf(',') + 1);
    const name = `${imageName}${index + 1}`;
    const isKept = contents.image({ sessionId, uuid, name }, mime, base64);
    return { data: isKept ? name : '', mime, bytes: bytesOf(base64) };
  });

const maxStreams = 1000;

/** The streams of the sessions, as many as are remembered: each joins the changes of its session into frames. */
function createStreams(
  { store, clock, joinMs, settings, isWatched, frames }: TranscriptsOptions,
  talks: ReadonlyMap<string, Talk>,
) {
  const streams = new Map<string, Stream>();
  /** Sessions that changed while no relay accepted frames. */
  const missed = new Set<string>();

  const of = (sessionId: string): Stream => {
    const existing = streams.get(sessionId);
    if (existing) return existing;
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
        const talk = talks.get(sessionId);
        const isLive = talk !== undefined && (talk.phase !== 'over' || talk.late === true);
        const to = frames();
        // No talk and no relay: the process before this one left it open.
        const isLeft = talk === undefined && to === undefined;
        if (!isLive && !isLeft && !isWatched(sessionId) && !missed.has(sessionId)) return undefined;
        return (frame) => {
          if (to?.(frame) === true) missed.delete(sessionId);
          else if (missed.size < maxStreams) missed.add(sessionId);
        };
      },
    });
    streams.set(sessionId, stream);
    const [oldest] = streams.keys();
    if (streams.size > maxStreams && oldest !== undefined && oldest !== sessionId) {
      streams.get(oldest)?.flush();
      streams.delete(oldest);
    }
    return stream;
  };

  return {
    of,
    flush: (sessionId: string) => streams.get(sessionId)?.flush(),
    drop: (sessionId: string) => void streams.delete(sessionId),
    announce: () => {
      if (frames()) for (const sessionId of [...missed]) of(sessionId).announce();
    },
  };
}
