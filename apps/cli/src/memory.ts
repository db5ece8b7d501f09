/**
 * The messages that were shown already. The same message may come twice, live from the relay and later in the history of the
 * daemon, and then under two uuids; within 30 s the same role and text is one message (rules, 12.2).
 */
import type { Message } from '@relay/protocol';

type Source = 'live' | 'history';

const windowMs = 30_000;
const maxUuids = 5000;
const maxRecent = 300;

export function createMemory() {
  const uuids = new Set<string>();
  let recent: { message: Message; source: Source }[] = [];

  const isSame = (one: Message, other: Message) =>
    one.role === other.role &&
    one.content === other.content &&
    Math.abs(Date.parse(one.timestamp) - Date.parse(other.timestamp)) <= windowMs;

  return {
    /** True the first time. Only what came from the other source is compared by text: within one, equal texts are two messages. */
    isNew(message: Message, source: Source): boolean {
      if (uuids.has(message.uuid)) return false;
      uuids.add(message.uuid);
      if (uuids.size > maxUuids) uuids.delete(uuids.values().next().value!);
      const twin = recent.findIndex((known) => known.source !== source && isSame(known.message, message));
      if (twin >= 0) {
        // Each stands for one message only.
        recent.splice(twin, 1);
        return false;
      }
      recent = [...recent.slice(1 - maxRecent), { message, source }];
      return true;
    },
  };
}
