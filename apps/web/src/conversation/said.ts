/** Words that are not, or not yet, among the items of a daemon: said by the person a moment ago, or by the relay itself. */
import type { Item, Message } from '@relay/protocol';

export interface Said {
  message: Message;
  /** It was said behind the item with this place. */
  behind: number;
}

const kept = 200;

export const withSaid = (said: readonly Said[], items: readonly Item[], message: Message): readonly Said[] =>
  said.some((one) => one.message.uuid === message.uuid) || items.some(({ uuid }) => uuid === message.uuid)
    ? said
    : [...said, { message, behind: items.at(-1)?.seq ?? 0 }].slice(-kept);

/** All there is to show: words of the person that the agent has not begun with stand last, as they will. */
export function shownOf(items: readonly Item[], said: readonly Said[]): Message[] {
  if (said.length === 0) return [...items];
  const known = new Set(items.map(({ uuid }) => uuid));
  const left = said.filter(({ message }) => !known.has(message.uuid));
  const own = left.filter(({ message }) => message.role === 'USER');
  const others = left.filter(({ message }) => message.role !== 'USER');
  const all: Message[] = [];
  let next = 0;
  for (const item of items) {
    while (others[next] && others[next]!.behind < item.seq) all.push(others[next++]!.message);
    all.push(item);
  }
  return [...all, ...[...others.slice(next), ...own].map(({ message }) => message)];
}
