/** Messages of one conversation, from two sources: the daemon's history, and what came live. */
import type { Message } from '@relay/protocol';

/** What a tab keeps of a conversation; older messages can be loaded again. */
export const messagesKept = 2000;
/** Within this time the same words of the same speaker are one message (contract §9). */
const sameWithinMs = 30_000;

/** Adds what was just said; a message that is there already stays where it is. */
export function withMessage(messages: readonly Message[], message: Message): Message[] {
  if (messages.some(({ uuid }) => uuid === message.uuid)) return [...messages];
  return [...messages, message].slice(-messagesKept);
}

/** Live ones that the history does not have yet come after it. The two may know one message under different uuids. */
export function merged(history: readonly Message[], live: readonly Message[]): Message[] {
  const free = new Set(history);
  const missing = live.filter((message) => {
    const saidAt = Date.parse(message.timestamp);
    const known = [...free].find(
      ({ uuid, role, content, timestamp }) =>
        uuid === message.uuid ||
        (role === message.role && content === message.content && Date.parse(timestamp) >= saidAt - sameWithinMs),
    );
    if (known) free.delete(known);
    return !known;
  });
  return [...history, ...missing];
}

/** A page of history before what is there. */
export const withOlder = (older: readonly Message[], messages: readonly Message[]): Message[] => {
  const known = new Set(messages.map(({ uuid }) => uuid));
  return [...older.filter(({ uuid }) => !known.has(uuid)), ...messages];
};
