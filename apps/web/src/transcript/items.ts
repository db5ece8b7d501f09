/** A conversation as a list of items: what the relay sends as items, and plain messages in their shape. */
import type { Item, Message } from '@relay/protocol';

export interface LogItem extends Item {
  /** `content` was cut by the relay. */
  truncated?: true;
}

const kinds: Readonly<Record<Message['role'], string>> = { USER: 'user', AGENT: 'text', SYSTEM: 'error' };
/** One object per message, so that what did not change is not rendered again. */
const known = new WeakMap<Message, LogItem>();

/** A message as an item; one that came with its part keeps it. */
export function itemOf(message: Message): LogItem {
  const { uuid, role, content, timestamp, truncated, seq, v, turn, part } = message;
  const hasPart = typeof part === 'object' && part !== null && typeof part.kind === 'string';
  if (hasPart && typeof seq === 'number' && typeof content === 'string') return message as LogItem;
  const before = known.get(message);
  if (before) return before;
  const item: LogItem = {
    uuid,
    role,
    content: typeof content === 'string' ? content : '',
    timestamp,
    seq: seq ?? 0,
    ...(v === undefined ? {} : { v }),
    ...(turn === undefined ? {} : { turn }),
    part: hasPart ? part : { kind: kinds[role] ?? 'text' },
    ...(truncated ? { truncated } : {}),
  };
  known.set(message, item);
  return item;
}

/** More of it may come. */
export const isGrowing = ({ part }: Pick<Item, 'part'>): boolean => part['open'] === true;
