/** Messages and the frames that carry them, as apps see them. Pure. */
import { type Attention, type Message, type MessageRole, type Session, cutText, limits } from '@relay/protocol';

/** Text for apps: at most 256 KiB, with a mark if it was cut (rules, 12.1). */
export function cut(content: string): { content: string; truncated?: true } {
  const kept = cutText(content, limits.messageBytes);
  return kept.length === content.length ? { content } : { content: kept, truncated: true };
}

export function message(uuid: string, role: MessageRole, content: string, at: string): Message {
  return { uuid, role, timestamp: at, ...cut(content) };
}

export const sessionUpdate = (session: Session, previousId?: string): Attention<'session_update'> => ({
  type: 'session_update',
  session,
  ...(previousId === undefined ? {} : { previousId }),
});

export const newMessage = (sessionId: string, message: Message): Attention<'new_message'> => ({
  type: 'new_message',
  sessionId,
  message,
});
