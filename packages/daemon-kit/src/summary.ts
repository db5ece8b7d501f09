/** The subject of a session, for `context_request`: from the history alone, with texts cut. */
import type { ToDaemon } from '@relay/protocol';
import { keepHead } from './bounds.ts';
import type { Store } from './store.ts';

const textBytes = 8 * 1024;
const maxMessages = 20;

/** Undefined for an unknown session. */
export function summaryOf(
  store: Store,
  sessionId: string,
  include: NonNullable<ToDaemon<'context_request'>['include']>,
  active: boolean,
): Record<string, unknown> | undefined {
  const session = store.session(sessionId);
  const messages = store.messages(sessionId);
  if (!session || !messages) return undefined;
  const count = Math.min(include.recent_messages ?? 0, maxMessages);
  const first = messages.find(({ role }) => role === 'USER');
  return {
    title: session.title,
    project_path: session.projectPath,
    ...(include.initial_prompt && first ? { initial_prompt: keepHead(first.content, textBytes) } : {}),
    ...(count > 0
      ? {
          recent_messages: messages
            .slice(-count)
            .map(({ role, content }) => ({ role, content: keepHead(content, textBytes) })),
        }
      : {}),
    message_count: session.messageCount,
    ...(messages[0] ? { started_at: messages[0].timestamp } : {}),
    last_activity_at: session.lastActivity,
    status: active ? 'working' : 'completed',
  };
}
