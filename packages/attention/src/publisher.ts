/**
 * From the relay to the apps of a user: encode once, hand over. What matters is in the database before it gets here, so
 * instances that cannot reach each other cost a frame, never a state. Errors are told to `onError` and never thrown.
 */
import { hash } from 'node:crypto';
import {
  type AttentionFrame,
  type Message,
  type MessageRole,
  type UserFrameKind,
  encodeUserFrame,
} from '@relay/protocol';
import { newMessage } from './messages.ts';

/** What a publisher needs of the backplane. */
export interface UserChannel {
  append(user: string, body: string): Promise<unknown>;
  appendOnce(user: string, body: string, keys: readonly string[], ttlMs: number): Promise<boolean>;
  publish(user: string, body: string): Promise<unknown>;
  mark(scope: string, keys: readonly string[], ttlMs: number): Promise<unknown>;
}

export interface Publisher {
  /** A frame that is kept in the history of the user. `x`: only for clients that understand additive frames. */
  append(ownerId: string, frame: AttentionFrame, kind?: Extract<UserFrameKind, 'f' | 'x'>): Promise<void>;
  /** A frame that only those hear who listen now. Not awaited: hot frames never hold up the others. */
  hot(ownerId: string, frame: AttentionFrame, kind: Extract<UserFrameKind, 'p' | 'o'>): void;
  /** The same for a frame that is JSON already. */
  hotText(ownerId: string, json: string, kind: Extract<UserFrameKind, 'p' | 'o'>): void;
  /** A message, unless the same one was said before (contract §9): same session, role and text, or one of the uuids. */
  say(
    ownerId: string,
    sessionKey: string,
    sessionId: string,
    message: Message,
    uuids?: readonly string[],
  ): Promise<void>;
  /** Remembers a message as said now, without saying it: the apps know it already. Its window begins anew. */
  markSaid(
    ownerId: string,
    sessionKey: string,
    said: { role: MessageRole; content: string } | { uuid: string },
  ): Promise<void>;
}

const textKey = (sessionKey: string, role: MessageRole, content: string) =>
  `${sessionKey}:${role}:${hash('sha256', content, 'base64url')}`;
const uuidKey = (sessionKey: string, uuid: string) => `${sessionKey}:uuid:${uuid}`;

/** `windowMs`: for how long the same message is one message. */
export function createPublisher(channel: UserChannel, windowMs: number, onError: (error: unknown) => void): Publisher {
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
  return {
    append,
    hotText,
    hot: (ownerId, frame, kind) => hotText(ownerId, JSON.stringify(frame), kind),
    say: async (ownerId, sessionKey, sessionId, message, uuids = []) => {
      if (message.content === '') return;
      const keys = [
        textKey(sessionKey, message.role, message.content),
        ...uuids.map((uuid) => uuidKey(sessionKey, uuid)),
      ];
      const body = encodeUserFrame('f', JSON.stringify(newMessage(sessionId, message)));
      try {
        await channel.appendOnce(ownerId, body, keys, windowMs);
      } catch (error) {
        onError(error);
      }
    },
    markSaid: async (ownerId, sessionKey, said) => {
      const key = 'uuid' in said ? uuidKey(sessionKey, said.uuid) : textKey(sessionKey, said.role, said.content);
      try {
        await channel.mark(ownerId, [key], windowMs);
      } catch (error) {
        onError(error);
      }
    },
  };
}
