/** A conversation as a list of items: items from the relay, and plain messages converted to items. */
import type { Item, Message } from '@relay/protocol';

export interface LogItem extends Item {
  /** `content` was cut by the relay. */
  truncated?: true;
}

const kinds: Readonly<Record<Message['role'], string>> = { USER: 'user', AGENT: 'text', SYSTEM: 'error' };
/** One object per message, so that unchanged messages are not rendered again. */
const cache = new WeakMap<Message, LogItem>();

/** A message as an item; keeps the part of the message. */
export function itemOf(message: Message): LogItem {
  const { uuid, role, content, timestamp, truncated, seq, v, turn, part } = message;
  const hasPart = typeof part === 'object' && part !== null && typeof part.kind === 'string';
  if (hasPart && typeof seq === 'number' && typeof content === 'string') return message as LogItem;
  const before = cache.get(message);
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
  cache.set(message, item);
  return item;
}

/** The daemon stopped the turn at a cap on cost. */
export const isCapped = ({ part }: Pick<Item, 'part'>): boolean => part.kind === 'error' && part['code'] === 'COST_CAP';
/** More text can follow. */
export const isGrowing = ({ part }: Pick<Item, 'part'>): boolean => part['open'] === true;
