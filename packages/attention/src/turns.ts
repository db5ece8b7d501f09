/**
 * The turns of the sessions of one device. Its gateway holds them, and stores them for the gateway that has the device next: a text is
 * appended to the stored turn, so a long turn costs no more per text than a short one.
 */
import { type PublishedTurn, type TurnText, maxTexts, newTurn } from './turn.ts';

/** Stores turns, each under the key of its session. */
export interface TurnChannel {
  peek(key: string): Promise<string | undefined>;
  take(key: string): Promise<string | undefined>;
  put(key: string, value: string, ttlMs: number): Promise<unknown>;
  extend(key: string, more: string, ttlMs: number): Promise<boolean>;
}

interface Held {
  turn: PublishedTurn;
  /** Expiry, ms since 1970. */
  untilMs: number;
  /** Number of texts stored after the whole turn; undefined if the store holds another turn, or nothing. */
  appended: number | undefined;
}

/** The turns that a connection holds, by session. Empty at first; bounded by who writes to it. */
export interface HeldTurns {
  readonly size: number;
  get(sessionKey: string): Held | undefined;
  set(sessionKey: string, held: Held): unknown;
  clear(): void;
}

/** Sessions of one connection: each can hold the hashes of `maxTexts` texts. */
const maxHeld = 16;

/** How long texts of a running turn are remembered; each text restarts it. */
const turnMs = 3_600_000;

// A new key name: releases that stored a turn as a whole cannot read appended texts.
const keyOf = (sessionKey: string) => `texts:${sessionKey}`;

/** The turns in a store of many things. */
export const turnsIn = (store: TurnChannel): TurnChannel => ({
  peek: (sessionKey) => store.peek(keyOf(sessionKey)),
  take: (sessionKey) => store.take(keyOf(sessionKey)),
  put: (sessionKey, value, ttlMs) => store.put(keyOf(sessionKey), value, ttlMs),
  extend: (sessionKey, more, ttlMs) => store.extend(keyOf(sessionKey), more, ttlMs),
});

const decode = (stored: string): { turn: PublishedTurn; appended: number } => {
  const [turn, ...texts] = stored.split('\n').map((line) => JSON.parse(line) as unknown);
  const { said, owed } = turn as PublishedTurn;
  return { turn: { said: [...said, ...(texts as TurnText[])].slice(-maxTexts), owed }, appended: texts.length };
};

/** Calls for one session must not overlap, except that `add` can run during another call. Never rejects. */
export function createTurns(channel: TurnChannel, windowMs: number, onError: (error: unknown) => void) {
  const ttlOf = ({ said }: PublishedTurn) => (said.length > 0 ? Math.max(turnMs, windowMs) : windowMs);

  const hold = (turns: HeldTurns, sessionKey: string, turn: PublishedTurn, appended: number | undefined): Held => {
    if (turns.size >= maxHeld && !turns.get(sessionKey)) turns.clear();
    const held = { turn, untilMs: Date.now() + ttlOf(turn), appended };
    turns.set(sessionKey, held);
    return held;
  };

  const store = async (sessionKey: string, held: Held): Promise<void> => {
    const { turn } = held;
    held.appended = undefined;
    try {
      if (turn.said.length + turn.owed.length === 0) await channel.take(sessionKey);
      else await channel.put(sessionKey, JSON.stringify(turn), ttlOf(turn));
      held.appended = 0;
    } catch (error) {
      onError(error);
    }
  };

  return {
    /** Returns the current turn of a session. */
    read: async (turns: HeldTurns, sessionKey: string): Promise<PublishedTurn> => {
      const held = turns.get(sessionKey);
      if (held) return held.untilMs > Date.now() ? held.turn : newTurn();
      try {
        const stored = await channel.peek(sessionKey);
        const { turn, appended } = stored === undefined ? { turn: newTurn(), appended: undefined } : decode(stored);
        return hold(turns, sessionKey, turn, appended).turn;
      } catch (error) {
        onError(error);
        return newTurn();
      }
    },

    /** Replaces the turn. Like `add`, asks the store before it returns. */
    write: (turns: HeldTurns, sessionKey: string, turn: PublishedTurn): Promise<void> =>
      store(sessionKey, hold(turns, sessionKey, turn, undefined)),

    /** Replaces the turn by a turn with one more text, its last. */
    add: async (turns: HeldTurns, sessionKey: string, turn: PublishedTurn): Promise<void> => {
      const appended = turns.get(sessionKey)?.appended;
      const held = hold(turns, sessionKey, turn, undefined);
      if (appended === undefined || appended >= maxTexts) return store(sessionKey, held);
      try {
        const isStored = await channel.extend(
          sessionKey,
          `\n${JSON.stringify(turn.said.at(-1))}`,
          Math.max(turnMs, windowMs),
        );
        if (!isStored) return await store(sessionKey, held);
        held.appended = appended + 1;
      } catch (error) {
        onError(error);
      }
    },
  };
}
