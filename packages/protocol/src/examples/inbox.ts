/** The inbox of the story, while the agent asks for the time zone. */
import type { InboxCounts, InboxItem } from '../rest/inbox.ts';
import { waiting } from './sessions.ts';
import { deviceId, deviceName, projectPath, questionInFull, sessionId, times, title } from './story.ts';

export const inboxCounts: InboxCounts = {
  question: 1,
  failure: 1,
  unknown: 0,
  finished: 1,
  device: 0,
  snoozed: 0,
  total: 3,
  badge: 2,
};

export const inboxItem: InboxItem = {
  id: 'f0b8a1d6-7c55-4c58-9d5e-0d7f3a6c2b11',
  kind: 'question',
  state: 'open',
  version: 42,
  createdAt: times.asked,
  deviceId,
  deviceName,
  sessionId,
  title,
  projectPath,
  lastMessage: questionInFull,
  prompt: waiting.prompt!,
};
