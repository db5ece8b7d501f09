/**
 * The words of one conversation, each yielded once: its messages, or its items where the daemon has a transcript. Asks for what frames did
 * not bring.
 */
import { TranscriptCopy, type TranscriptPage } from '@relay/client';
import { type Attention, type Item, type Message, isItem, isOperation, uuidOf } from '@relay/protocol';
import { pause } from './clock.ts';
import { Failure } from './failure.ts';
import { createMemory } from './memory.ts';
import type { Relay } from './relay.ts';

export type Told =
  | { type: 'new_message'; sessionId: string; message: Message; history?: true }
  /** An item as it is now. `grows`: nothing but text came, and more of it may come. */
  | { type: 'item'; sessionId: string; item: Item; history?: true; grows?: true }
  /** The daemon cannot be asked for earlier messages. */
  | { type: 'history_error'; code: string; error: string };

interface TranscriptWish {
  relay: Relay;
  signal: AbortSignal;
  /** The message that the person has just sent; it is not yielded again. */
  said: Message | undefined;
  /** Its id now: it changes when the session gets its name. */
  sessionId: () => string;
}

type Page = Omit<TranscriptPage, 'messages'> & { messages: readonly Message[] };

/** Least number of newest items to ask for: the items that can still change are among them. */
const openItems = 50;
const itemsKept = 1000;
const askAgainMs = 2000;

export function createTranscript({ relay, signal, said, sessionId }: TranscriptWish) {
  const memory = createMemory();
  /** Knows a version as soon as the daemon turned out to have a transcript; then items are printed instead of messages. */
  const copy = new TranscriptCopy({ keep: itemsKept });
  let askedAt = -Infinity;
  if (said) memory.isNew(said, 'live');

  /** Of the newest messages or items, at least this many, or of what has changed since. */
  const query = (limit: number) => ({
    parts: '1' as const,
    ...(copy.v === undefined ? { limit: Math.max(limit, openItems) } : { changed: copy.v }),
  });

  function* past(messages: readonly Message[]): Generator<Told, void> {
    for (const message of messages)
      if (memory.isNew(message, 'history'))
        yield { type: 'new_message', sessionId: sessionId(), message, history: true };
  }

  /** The answer to `query`; of a first one the newest `limit`. */
  function* take(page: Page, limit: number): Generator<Told, void> {
    const { messages, v } = page;
    if (v === undefined) return yield* past(limit > 0 ? messages.slice(-limit) : []);
    const isFirst = copy.v === undefined;
    yield* past(messages.filter((message) => !isItem(message)));
    const items = copy.take(page);
    for (const item of isFirst ? items.slice(Math.max(0, items.length - limit)) : items)
      yield { type: 'item', sessionId: sessionId(), item, history: true };
  }

  /** The place in the newest page behind the message that was just sent, or else behind the newest one of a user. */
  const beginOf = (items: readonly Item[]): number => {
    const own = items.findIndex(({ uuid }) => uuid === said?.uuid);
    return (own >= 0 ? own : items.findLastIndex(({ role }) => role === 'USER')) + 1;
  };

  /** Asks for what is missing, like all apps not at the same moment and not too often. */
  async function* catchUp(): AsyncGenerator<Told, void> {
    await pause(Math.max(Math.random() * 500, askedAt + askAgainMs - Date.now()), signal);
    if (signal.aborted) return;
    askedAt = Date.now();
    const isFirst = copy.v === undefined;
    try {
      const page = await relay.call('readMessages', { params: { id: sessionId() }, query: query(0) });
      const items = copy.take(page);
      for (const item of isFirst ? items.slice(beginOf(items)) : items)
        yield { type: 'item', sessionId: sessionId(), item };
    } catch (error) {
      // The next frame asks again.
      if (!(error instanceof Failure)) throw error;
      yield { type: 'history_error', code: error.code, error: error.message };
    }
  }

  return {
    query,
    take,
    async *hear(frame: Attention<'transcript'>): AsyncGenerator<Told, void> {
      const more = new Set<unknown>();
      for (const operation of frame.ops as readonly unknown[])
        if (isOperation(operation) && operation.op !== 'add') more.add(uuidOf(operation));
      for (const item of copy.hear(frame))
        yield { type: 'item', sessionId: sessionId(), item, ...(more.has(item.uuid) ? {} : { grows: true as const }) };
      if (copy.isBehind) yield* catchUp();
    },
    /** With a daemon that has a transcript every message is an item too, whose frames may have been lost. */
    async *hearMessage(frame: Attention<'new_message'>): AsyncGenerator<Told, void> {
      const { message } = frame;
      const item = copy.get(message.uuid);
      if (!item) {
        if (memory.isNew(message, 'live')) yield frame;
        return;
      }
      if (item.part.open !== true && (message.truncated || item.content === message.content)) return;
      copy.doubt();
      yield* catchUp();
    },
  };
}
