/** Messages and the frames that carry them, as apps see them. Pure. */
import { type Attention, type Message, type MessageRole, type Session, cutText, limits } from '@relay/protocol';

/** Text for apps: at most 256 KiB, and it says so when it was cut (rules, 12.1). */
export function cut(content: string): { content: string; truncated?: true } {
  const kept = cutText(content, limits.messageBytes);
  return kept.length === content.length ? { content } : { content: kept, truncated: true };
}

export function message(uuid: string, role: MessageRole, content: string, at: string): Message {
  return { uuid, role, timestamp: at, ...cut(content) };
}

/**
 * The text that operations of a transcript add, joined; '' when they add none. The first words of a text come with the item that they
 * begin; one that is put as a whole, or by the user, was not said just now. Thoughts are left out. Shapes are unchecked.
 */
export function addedText(ops: unknown): string {
  let text = '';
  for (const operation of Array.isArray(ops) ? (ops as unknown[]) : []) {
    const { op, text: added, to, item } = fieldsOf(operation);
    const words = op === 'add' && to !== 'thought' ? added : op === 'put' ? firstWords(fieldsOf(item)) : undefined;
    if (typeof words === 'string') text += words;
  }
  return text;
}

function firstWords({ role, content, part }: Record<string, unknown>): unknown {
  const { kind, open } = fieldsOf(part);
  return role === 'AGENT' && kind === 'text' && open === true ? content : undefined;
}

const fieldsOf = (value: unknown) => (value ?? {}) as Record<string, unknown>;

export const sessionUpdate = (session: Session, previousId?: string): Attention<'session_update'> => ({
  type: 'session_update',
  session,
  ...(previousId === undefined ? {} : { previousId }),
});

export const newMessage = (sessionId: string, said: Message): Attention<'new_message'> => ({
  type: 'new_message',
  sessionId,
  message: said,
});
