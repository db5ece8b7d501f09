/**
 * Publishes from the relay to the apps of a user: encodes once and passes on. State is in the database before it gets here, so
 * instances that cannot reach each other cost a frame, never a state. Errors go to `onError` and are never thrown.
 */
import { hash } from 'node:crypto';
import {
  type AttentionFrame,
  type Message,
  type MessageRole,
  type Session,
  type UserFrameKind,
  encodeUserFrame,
} from '@relay/protocol';
import { newMessage, sessionUpdate } from './messages.ts';
import { alreadyInResult, unpublishedIn, withResult, withText } from './turn.ts';
import { type HeldTurns, type TurnChannel, createTurns, turnsIn } from './turns.ts';

/** The part of the backplane that a publisher needs. */
export interface UserChannel extends TurnChannel {
  append(user: string, body: string): Promise<unknown>;
  appendNewest(user: string, body: string, state: VersionedState): Promise<boolean>;
  publishNewest(user: string, body: string, state: VersionedState): Promise<boolean>;
  appendOnce(user: string, body: string, keys: readonly string[], ttlMs: number): Promise<boolean>;
  publish(user: string, body: string): Promise<unknown>;
  once(scope: string, keys: readonly string[], ttlMs: number): Promise<boolean>;
  mark(scope: string, keys: readonly string[], ttlMs: number): Promise<unknown>;
}

/** The subject of a frame, and its version. */
interface VersionedState {
  key: string;
  version: number;
  ttlMs: number;
}

/** A session record, and its version. */
interface SessionState {
  readonly ownerId: string;
  readonly key: string;
  readonly version: number;
  readonly session: Session;
}

/** A session whose daemon sends messages. */
export interface SessionChannel {
  readonly ownerId: string;
  readonly key: string;
  /** The id that apps know. */
  readonly sessionId: string;
  /** Held by the device connection: only the first text of a connection loads the stored turn. */
  readonly turns: HeldTurns;
}

export interface Publisher {
  /**
   * `session_update`, unless a newer version of the session was published within a minute: two instances that publish
   * one session can cross (rules, 11.6). With `previousId` it is always published: no other frame carries the new id.
   */
  session(state: SessionState, previousId?: string): Promise<void>;
  /** Reads these sessions and publishes their current state; skips deleted sessions. Rejects if it cannot read them. */
  sessions(keys: readonly string[]): Promise<void>;
  /** The same for connected apps only. Not awaited. */
  sessionHot(state: SessionState): void;
  /**
   * The same, only for connected apps without `since`: apps with `since` learn of many sessions at once through
   * `sessions_changed`. Skips the history, because many such frames would push everything else out of it.
   */
  sessionSingle(state: SessionState): Promise<void>;
  /** A frame that is kept in the history of the user. `x`: only for clients that understand additive frames. */
  append(ownerId: string, frame: AttentionFrame, kind?: Extract<UserFrameKind, 'f' | 'x'>): Promise<void>;
  /** A frame only for currently connected apps. Not awaited: hot frames never delay other frames. */
  hot(ownerId: string, frame: AttentionFrame, kind: Extract<UserFrameKind, 'p' | 'o'>): void;
  /** The same for a frame in JSON form; for `t` it follows its head (`encodeTranscript`). */
  hotText(ownerId: string, json: string, kind: Extract<UserFrameKind, 'p' | 'o' | 't'>): void;
  /**
   * A message of the conversation, unless one of its uuids was published within the window. Except for agent messages,
   * the same text of the same role within the window is one message (rules, 12.2). Every agent message counts
   * separately, unless the result of a turn that completed within the window contains it (rules, 12.3).
   */
  publishMessage(conversation: SessionChannel, message: Message, uuids?: readonly string[]): Promise<void>;
  /**
   * A message, or the final message of a turn, of a daemon with `transcript`, unless its uuid was published within the
   * window: the same text twice is two messages.
   */
  publishOnce(conversation: SessionChannel, message: Message): Promise<void>;
  /** Returns the texts of a turn, given in order, that apps did not receive live since `sinceMs`. */
  unpublished(conversation: SessionChannel, texts: readonly Message[], sinceMs?: number): Promise<Message[]>;
  /**
   * A turn completed with this message: two turns have two final messages (rules, 12.3). Publishes only the part of an
   * agent's result that is new in this turn. `key`: two calls with one key within the window count as one. `sinceMs`:
   * earlier texts (ms since 1970) belong to another turn.
   */
  publishEnd(conversation: SessionChannel, message: Message, end?: { key?: string; sinceMs?: number }): Promise<void>;
  /** Records a message as published now, without publishing it: the apps have it already, by each of its names. Its window starts again. */
  markPublished(
    ownerId: string,
    sessionKey: string,
    published: { role: MessageRole; content: string; uuid?: string } | { uuid: string },
  ): Promise<void>;
}

const textKey = (sessionKey: string, role: MessageRole, content: string) =>
  `${sessionKey}:${role}:${hash('sha256', content, 'base64url')}`;
const uuidKey = (sessionKey: string, uuid: string) => `${sessionKey}:uuid:${uuid}`;
const endKey = (sessionKey: string, key: string) => `${sessionKey}:end:${hash('sha256', key, 'base64url')}`;

/** Longer than any instance holds a record before it publishes it. */
const newestMs = 60_000;

interface PublisherDeps {
  channel: UserChannel;
  /** Stores turns by the key of their session: a place that outlives this process. Default: the channel. */
  turns?: TurnChannel | undefined;
  /** Equal messages within this window count as one. */
  windowMs: number;
  /** Returns the current sessions of these keys, in any order, without deleted sessions. */
  readSessions: (keys: readonly string[]) => Promise<readonly SessionState[]>;
  onError: (error: unknown) => void;
}

export function createPublisher({
  channel,
  turns: stored = turnsIn(channel),
  windowMs,
  readSessions,
  onError,
}: PublisherDeps): Publisher {
  const append: Publisher['append'] = async (ownerId, frame, kind = 'f') => {
    try {
      await channel.append(ownerId, encodeUserFrame(kind, JSON.stringify(frame)));
    } catch (error) {
      onError(error);
    }
  };
  const hotText: Publisher['hotText'] = (ownerId, json, kind) => {
    channel.publish(ownerId, encodeUserFrame(kind, json)).catch(onError);
  };

  const turns = createTurns(stored, windowMs, onError);
  const isFirst = (ownerId: string, keys: readonly string[]) =>
    keys.length === 0
      ? true
      : channel.once(ownerId, keys, windowMs).catch((error: unknown) => {
          onError(error);
          return true;
        });

  const appendOnce = async (ownerId: string, sessionId: string, message: Message, keys: readonly string[]) => {
    const body = encodeUserFrame('f', JSON.stringify(newMessage(sessionId, message)));
    try {
      if (keys.length > 0) return await channel.appendOnce(ownerId, body, keys, windowMs);
      await channel.append(ownerId, body);
    } catch (error) {
      onError(error);
    }
    return true;
  };

  /** Publishes the live text of the agent. */
  const speak = async (conversation: SessionChannel, message: Message, keys: readonly string[]) => {
    const { ownerId, key, sessionId, turns: held } = conversation;
    const turn = await turns.read(held, key);
    const now = Date.now();
    const settled = alreadyInResult(turn, message.content, now, windowMs);
    if (settled) {
      if (await isFirst(ownerId, keys)) await turns.write(held, key, settled);
      return;
    }
    // Both in one tick, which is one message to Redis: an instance that crashes here has done both or neither.
    const [isNew] = await Promise.all([
      appendOnce(ownerId, sessionId, message, keys),
      turns.add(held, key, withText(turn, message.content, now, windowMs)),
    ]);
    if (!isNew) await turns.write(held, key, turn);
  };

  const markPublished: Publisher['markPublished'] = async (ownerId, sessionKey, published) => {
    const keys = [
      ...('role' in published ? [textKey(sessionKey, published.role, published.content)] : []),
      ...(published.uuid === undefined ? [] : [uuidKey(sessionKey, published.uuid)]),
    ];
    try {
      await channel.mark(ownerId, keys, windowMs);
    } catch (error) {
      onError(error);
    }
  };

  const stateOf = ({ key, version }: SessionState): VersionedState => ({ key, version, ttlMs: newestMs });

  const session: Publisher['session'] = async (state, previousId) => {
    const frame = sessionUpdate(state.session, previousId);
    const body = encodeUserFrame('f', JSON.stringify(frame));
    const isPublished = await channel.appendNewest(state.ownerId, body, stateOf(state)).catch((error: unknown) => {
      onError(error);
      return true;
    });
    // Never dropped: no other frame carries the changed id.
    if (!isPublished && previousId !== undefined) await append(state.ownerId, frame);
  };

  return {
    session,
    sessions: async (keys) => {
      // Asked of the backplane in one turn, which carries them out in this order.
      await Promise.all((await readSessions(keys)).map((state) => session(state)));
    },
    sessionHot: (state) => {
      const body = encodeUserFrame('p', JSON.stringify(sessionUpdate(state.session)));
      channel.publishNewest(state.ownerId, body, stateOf(state)).catch(onError);
    },
    sessionSingle: async (state) => {
      const body = encodeUserFrame('s', JSON.stringify(sessionUpdate(state.session)));
      await channel.publishNewest(state.ownerId, body, stateOf(state)).catch(onError);
    },
    append,
    hotText,
    markPublished,
    hot: (ownerId, frame, kind) => hotText(ownerId, JSON.stringify(frame), kind),
    publishMessage: async (conversation, message, uuids = []) => {
      if (message.content === '') return;
      const { ownerId, key, sessionId } = conversation;
      const keys = uuids.map((uuid) => uuidKey(key, uuid));
      if (message.role === 'AGENT') await speak(conversation, message, keys);
      else await appendOnce(ownerId, sessionId, message, [textKey(key, message.role, message.content), ...keys]);
    },
    publishOnce: async ({ ownerId, key, sessionId }, message) => {
      if (message.content !== '') await appendOnce(ownerId, sessionId, message, [uuidKey(key, message.uuid)]);
    },
    unpublished: async ({ key, turns: held }, texts, sinceMs) => {
      const isUnpublished = unpublishedIn(await turns.read(held, key), sinceMs);
      return texts.filter(({ content }) => isUnpublished(content));
    },
    publishEnd: async ({ ownerId, key: sessionKey, sessionId, turns: held }, message, { key, sinceMs } = {}) => {
      if (message.content === '') return;
      if (key !== undefined && !(await isFirst(ownerId, [endKey(sessionKey, key)]))) return;
      if (message.role !== 'AGENT') {
        await append(ownerId, newMessage(sessionId, message));
        return;
      }
      const current = await turns.read(held, sessionKey);
      const { unpublished, turn } = withResult(current, message.content, Date.now(), windowMs, sinceMs);
      // In one tick, as above.
      await Promise.all([
        unpublished !== '' && append(ownerId, newMessage(sessionId, { ...message, content: unpublished })),
        turns.write(held, sessionKey, turn),
      ]);
    },
  };
}

/** Longest time for all instances to learn of one cause. */
const rememberMs = 3_600_000;

/**
 * Makes all apps of a user reload stale data: `resync`, once per `cause` over all instances, as an entry of the user's history: connected apps get it now, and
 * returning apps get it with the missed frames, or reload because the history does not reach back far enough. Only apps
 * that sent `since` understand it. Rejects like `appendOnce`.
 */
export async function publishReload(
  channel: Pick<UserChannel, 'appendOnce'>,
  user: string,
  cause: string,
): Promise<void> {
  await channel.appendOnce(user, encodeUserFrame('x', '{"type":"resync"}'), [`reload ${cause}`], rememberMs);
}
