/** Messages of one conversation, from two sources: the daemon's history, and what came live. */
import type { Message, Prompt } from '@relay/protocol';

/** Limit of messages that a tab keeps of a conversation; older messages can be loaded again. */
export const messagesKept = 2000;
/** Within this time the same words of the same speaker are one message (rules, 12.2). */
const sameWithinMs = 30_000;

/** Adds what was just said; a message that is there already stays where it is. `asked`: older ones that the person loaded, which stay too. */
export function withMessage(messages: readonly Message[], message: Message, asked = 0): Message[] {
  if (messages.some(({ uuid }) => uuid === message.uuid)) return [...messages];
  return [...messages, message].slice(-messagesKept - asked);
}

/**
 * The history, with the live messages that it lacks at their places: before the next message that both have, or at the end.
 * Messages from before the beginning of the page of history are left out. The two may know one message under different uuids.
 */
export function merged(history: readonly Message[], live: readonly Message[]): Message[] {
  const free = new Set(history);
  const indexOf = (message: Message): number => {
    const saidAt = Date.parse(message.timestamp);
    const known = [...free].find(
      ({ uuid, role, content, timestamp }) =>
        uuid === message.uuid ||
        (role === message.role && content === message.content && Date.parse(timestamp) >= saidAt - sameWithinMs),
    );
    if (!known) return -1;
    free.delete(known);
    return history.indexOf(known);
  };
  const beganAt = Date.parse(history[0]?.timestamp ?? '');
  const isOlder = ({ timestamp }: Message) => Date.parse(timestamp) < beganAt;
  const all: Message[] = [];
  let missing: Message[] = [];
  /** Number of messages of the history that are in `all`. */
  let taken = 0;
  for (const message of live) {
    const index = indexOf(message);
    if (index === -1) missing.push(message);
    if (index < taken) continue;
    if (index === 0) missing = [];
    if (taken === 0) missing = missing.filter((one) => !isOlder(one));
    all.push(...history.slice(taken, index), ...missing, history[index]!);
    missing = [];
    taken = index + 1;
  }
  // Nothing that both have says where these stand.
  if (taken === 0) missing = missing.filter((one) => !isOlder(one));
  return [...all, ...history.slice(taken), ...missing];
}

/** A page of history before what is there. */
export const withOlder = (older: readonly Message[], messages: readonly Message[]): Message[] => {
  const known = new Set(messages.map(({ uuid }) => uuid));
  return [...older.filter(({ uuid }) => !known.has(uuid)), ...messages];
};

/** A newer page of history; older messages that are there, and lead up to it, stay. */
export function renewed(
  messages: readonly Message[],
  history: readonly Message[],
  live: readonly Message[],
): Message[] {
  const at = messages.findIndex(({ uuid }) => uuid === history[0]?.uuid);
  return withOlder(messages.slice(0, Math.max(0, at)), merged(history, live));
}

/** Without the words of open questions, which have a card: they come before the item of the question does. */
export const withoutQuestions = (
  messages: readonly Message[],
  open: readonly Pick<Prompt, 'id' | 'prompt'>[],
): readonly Message[] =>
  messages.filter(
    ({ uuid, role, content, part }) =>
      role !== 'AGENT' ||
      part?.kind === 'question' ||
      open.every(({ id, prompt }) => uuid !== id && !`${content}\n`.startsWith(`${prompt}\n`)),
  );
