/**
 * The transcripts of this daemon: the events of a turn become items on disk and frames for a relay that accepts them. Knows the store and
 * no socket; a task passes it the words, and gets the item with which it ended.
 */
import { randomUUID } from 'node:crypto';
import type { DaemonEvent, Item, Operation, Question as AskedQuestion } from '@relay/protocol';
import { fieldBytes, keepHead } from '../bounds.ts';
import type { Clock } from '../clock.ts';
import { type Contents, imageName, keepingIn } from '../contents.ts';
import { reasonOf } from '../failure.ts';
import type { Change, NewItem, Store, Writing } from '../store.ts';
import type { Fields } from './content.ts';
import { type Detail, type Mapper, type MapperOptions, bytesOf, cancelledText, createMapper } from './mapper.ts';
import { type Stream, createStream } from './stream.ts';

export interface TranscriptSettings {
  /** `off`: no transcript is sent to a relay. */
  detail: Detail | 'off';
  thoughts: boolean;
}

export const transcriptSettings: TranscriptSettings = { detail: 'full', thoughts: true };

export interface TranscriptsOptions {
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
}

export interface Words {
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

export type Ending =
  | { type: 'TASK_COMPLETE'; result: string }
  | { type: 'ERROR'; error: string; code?: string }
  /** `about`: the text that is shown; `before`: text in front of it for a reader without parts. */
  | { type: 'WAIT_FOR_USER'; about: string; before: string; question: AskedQuestion };

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
  /** Sends changes of a session without a turn of ours. */
  written: (sessionId: string, ops: readonly Operation[], v: number) => void;
  /** Sends the pending changes: a later read contains them already. */
  flush: (sessionId: string) => void;
}

interface Talk {
  taskId: string;
  mapper: Mapper;
  turn: string;
  /** The disk refused a write: the rest of the turn is not kept, so that each update need not fail. */
  lost?: string;
}

const maxTalks = 1000;

/** For people, in the text of a turn and in its list. */
export const notKept = (why: string): string =>
  `Part of this turn is missing from its history, because the disk of this machine could not be written: ${why}`;

export function createTranscripts(options: TranscriptsOptions): Transcripts {
  const { store, contents, clock, settings, joinMs } = options;
  const talks = new Map<string, Talk>();
  const streams = new Map<string, Stream>();

  const streamOf = (sessionId: string): Stream => {
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
        return talks.has(sessionId) || options.isWatched(sessionId) ? options.frames() : undefined;
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

  const write = (sessionId: string, changes: readonly Change[], writing?: Writing) => {
    if (changes.length === 0) return;
    const { ops, v } = store.write(sessionId, changes, writing);
    streamOf(sessionId).push(ops, v);
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

  /** Closes everything of a turn that is still open. Of a turn that was not kept only the items on the disk. */
  const closing = (sessionId: string, talk: Talk, how: 'ended' | 'cancelled' | 'interrupted'): Change[] => {
    if (talk.lost === undefined) return talk.mapper.close(how);
    const left = store.open(sessionId).filter(({ part }) => part.kind !== 'question');
    return [...left.map(interrupted), mark('notice', notKept(talk.lost), talk.turn)];
  };

  const interrupted = ({ uuid, part }: Item): Change => ({
    op: 'set',
    uuid,
    part: part.kind === 'tool' ? { status: 'interrupted', open: null } : { open: null },
  });

  /** The end of a turn: no answer to its questions will come. */
  const unanswered = (sessionId: string): Change[] =>
    store
      .open(sessionId)
      .filter(({ part }) => part.kind === 'question')
      .map(({ uuid }) => ({ op: 'set', uuid, part: { state: 'superseded' } }));

  const over = (sessionId: string) => {
    streamOf(sessionId).flush();
    talks.delete(sessionId);
    streams.delete(sessionId);
    store.tidy(sessionId);
  };

  const put = (item: NewItem): Change => ({ op: 'put', item });

  const mark = (what: string, text: string, turn: string | undefined): Change =>
    put({
      uuid: randomUUID(),
      role: 'SYSTEM',
      content: text,
      ...(turn === undefined ? {} : { turn }),
      part: { kind: 'mark', what, text },
    });

  /** The item of the words that end a turn: the last ones, or one of its own. */
  const final = (sessionId: string, talk: Talk | undefined, result: string): string => {
    const last = talk?.lost === undefined ? talk?.mapper.last() : undefined;
    const changes = talk === undefined ? [] : [...closing(sessionId, talk, 'ended'), ...unanswered(sessionId)];
    if (last && result.includes(last.content.trim()) && last.content.trim() !== '') {
      changes.push({ op: 'set', uuid: last.uuid, part: {}, ...(last.content === result ? {} : { content: result }) });
      write(sessionId, changes, { sync: true, messages: [last.uuid] });
      return last.uuid;
    }
    const uuid = randomUUID();
    const turn = talk === undefined ? {} : { turn: talk.turn };
    write(sessionId, [...changes, put({ uuid, role: 'AGENT', content: result, ...turn, part: { kind: 'text' } })], {
      sync: true,
      messages: [uuid],
    });
    return uuid;
  };

  const conclude = (
    sessionId: string,
    talk: Talk | undefined,
    ending: Exclude<Ending, { type: 'WAIT_FOR_USER' }>,
  ): string => {
    let uuid: string;
    if (ending.type === 'TASK_COMPLETE') uuid = final(sessionId, talk, ending.result);
    else {
      uuid = randomUUID();
      const part = { kind: 'error', ...(ending.code === undefined ? {} : { code: ending.code }) };
      const turn = talk === undefined ? {} : { turn: talk.turn };
      const error = put({ uuid, role: 'SYSTEM', content: ending.error, ...turn, part });
      const closed = talk ? closing(sessionId, talk, 'interrupted') : [];
      // An answer that came too late ends nothing but itself.
      if (talk && ending.code !== 'PROMPT_SUPERSEDED') closed.push(...unanswered(sessionId));
      write(sessionId, [...closed, error], { sync: true });
    }
    if (talk) {
      speak(sessionId, talk, uuid);
      over(sessionId);
    } else streamOf(sessionId).flush();
    return uuid;
  };

  const ask = (
    sessionId: string,
    talk: Talk | undefined,
    ending: Extract<Ending, { type: 'WAIT_FOR_USER' }>,
  ): string => {
    const { question, about, before } = ending;
    const part = { kind: 'question', question, state: 'open' };
    const turn = talk === undefined ? {} : { turn: talk.turn };
    // An agent that holds its question goes on with its tools after the answer; the turn of any other is over.
    const goesOn = talk?.lost === undefined && !options.keepsQuestions;
    const changes = talk === undefined ? [] : goesOn ? talk.mapper.closeText() : closing(sessionId, talk, 'ended');
    talk?.mapper.forget();
    // A question asked beside another one is there already, and did not change.
    const isThere = store.open(sessionId).some(({ uuid }) => uuid === question.uuid);
    const item = { uuid: question.uuid, role: 'AGENT' as const, content: about, ...turn, part };
    write(sessionId, [...changes, ...(isThere ? [] : [put(item)])], {
      sync: true,
      before: before === '' ? undefined : before,
    });
    return question.uuid;
  };

  return {
    begin({ taskId, sessionId, message, projectPath, uuid = randomUUID(), answers, images }, goesOn) {
      const known = goesOn ? talks.get(sessionId) : undefined;
      const attached = images.map((image, index) => {
        const [, mime = ''] = /^data:([^;,]{1,100})/.exec(image.slice(0, 200)) ?? [];
        const base64 = image.slice(image.indexOf(',') + 1);
        const name = `${imageName}${index + 1}`;
        const isKept = contents.image({ sessionId, uuid, name }, mime, base64);
        return { data: isKept ? name : '', mime, bytes: bytesOf(base64) };
      });
      const part = {
        kind: 'user',
        ...(attached.length === 0 ? {} : { images: attached }),
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
          keep: keepingIn(contents, sessionId),
        });
      const content = keepHead(message, fieldBytes.message);
      talks.delete(sessionId);
      talks.set(sessionId, { taskId, mapper, turn });
      try {
        // Of an earlier turn whose end the disk refused.
        const left = known ? [] : store.open(sessionId).filter(({ part }) => part.kind !== 'question');
        const words = put({ uuid, role: 'USER', content, turn, part });
        write(sessionId, [...left.map(interrupted), words], { sync: true });
      } catch (error) {
        if (known) talks.set(sessionId, known);
        else talks.delete(sessionId);
        throw error;
      }
    },
    update: (sessionId, update) => told(sessionId, (mapper) => mapper.update(update)),
    call: (sessionId, call) => told(sessionId, (mapper) => mapper.call(call)),
    show: (sessionId, text) => streamOf(sessionId).print(text),
    print: (sessionId, taskId, text) => told(sessionId, (mapper) => mapper.print(taskId, 'Output', text)),
    lost: (sessionId) => talks.get(sessionId)?.lost,
    end(taskId, sessionId, ending) {
      const talk = talks.get(sessionId);
      const mine = talk?.taskId === taskId ? talk : undefined;
      if (ending.type === 'WAIT_FOR_USER') {
        const uuid = ask(sessionId, mine, ending);
        if (mine) speak(sessionId, mine);
        streamOf(sessionId).flush();
        return uuid;
      }
      try {
        return conclude(sessionId, mine, ending);
      } finally {
        // Also when the disk refuses the write.
        if (mine) talks.delete(sessionId);
      }
    },
    ask(sessionId, question, about) {
      const turn = talks.get(sessionId)?.turn;
      const part = { kind: 'question', question, state: 'open' };
      const item = { uuid: question.uuid, role: 'AGENT' as const, content: about, part };
      write(sessionId, [put({ ...item, ...(turn === undefined ? {} : { turn }) })], { sync: true });
    },
    cancel(sessionId) {
      const talk = talks.get(sessionId);
      if (!talk) return;
      const changes = [
        ...closing(sessionId, talk, 'cancelled'),
        ...unanswered(sessionId),
        ...talk.mapper.mark('cancelled', cancelledText),
      ];
      write(sessionId, changes, { sync: true });
      speak(sessionId, talk);
      over(sessionId);
    },
    change: (sessionId, changes) => write(sessionId, changes, { sync: true }),
    recover() {
      for (const { sessionId } of store.sessions()) {
        const left = store.open(sessionId).filter(({ part }) => part.kind !== 'question' || !options.keepsQuestions);
        const wasAtWork = left.some(({ part }) => part.kind !== 'question');
        if (left.length === 0) continue;
        const changes = left.map((item): Change => {
          const { uuid, part } = item;
          if (part.kind === 'question') return { op: 'set', uuid, part: { state: 'superseded' } };
          return interrupted(item);
        });
        if (wasAtWork) changes.push(mark('interrupted', 'The daemon crashed while this was running.', left[0]?.turn));
        write(sessionId, changes, { sync: true });
        streamOf(sessionId).flush();
        streams.delete(sessionId);
        store.tidy(sessionId);
      }
    },
    written: (sessionId, ops, v) => streamOf(sessionId).push(ops, v),
    flush: (sessionId) => streams.get(sessionId)?.flush(),
  };
}
