/** A session as apps see it. */
import type { Session } from '@relay/protocol';

export const session: Session = {
  id: 'd:a:n',
  title: 'A title',
  status: 'idle',
  agentType: 'a',
  deviceId: 'd',
  projectPath: '',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  messageCount: 1,
  lastMessage: 'hello',
  archived: false,
  watched: false,
};
