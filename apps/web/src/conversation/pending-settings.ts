/** Choices that wait for the next message of a session, because its machine was away when they were made. */
import type { MessageSetting } from '@relay/protocol';
import { keepStored, readStored } from '../forget.ts';

const nameOf = (sessionId: string) => `settings ${sessionId}`;

export const pendingSettings = (sessionId: string): MessageSetting[] =>
  JSON.parse(readStored(nameOf(sessionId)) ?? '[]') as MessageSetting[];

export const keepPending = (sessionId: string, settings: readonly MessageSetting[]): void =>
  keepStored(nameOf(sessionId), settings.length === 0 ? null : JSON.stringify(settings));
