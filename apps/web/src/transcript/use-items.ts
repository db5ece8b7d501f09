/** Turns the page's data of a session into the items of its log. Only this file knows how messages and output arrive. */
import { useMemo, useRef, useState } from 'react';
import type { Message, Session } from '@relay/protocol';
import { useOurs } from '../conversation/own-question.ts';
import { type LogItem, isGrowing, itemOf } from './items.ts';
import { type Texts, createTexts } from './texts.ts';

const unfinished = new Set(['queued', 'sent', 'running']);
const partial = new Set(['cancelled', 'failed', 'unknown']);

/** The same list when nothing changed but text that grows; that goes to `texts`. */
export function settled(before: readonly LogItem[], now: readonly LogItem[], texts: Texts): readonly LogItem[] {
  const old = new Map(before.map((item) => [item.uuid, item]));
  const growing = new Set<string>();
  const items = now.map((item) => {
    if (!isGrowing(item) || typeof item.part['output'] === 'string') return item;
    growing.add(item.uuid);
    texts.set(item.uuid, item.content);
    const previous = old.get(item.uuid);
    return previous && isGrowing(previous) && previous.part.kind === item.part.kind ? previous : item;
  });
  texts.keepOnly(growing);
  const isSame = items.length === before.length && items.every((item, index) => item === before[index]);
  return isSame ? before : items;
}

interface ItemSource {
  session: Session;
  messages: readonly Message[];
  /** Undefined: the messages are the daemon's own items, and complete. */
  output: string | undefined;
}

/** The current or last turn arrives as parts, which contain all of this. */
const hasParts = (messages: readonly Message[]): boolean =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'USER') + 1).some(({ part }) => part !== undefined);

/** The output of the running task, from a relay that sends no parts: one item that grows, and stays when the task was stopped. */
function outputItem({ session, messages, output }: ItemSource, startedAt: string): LogItem | undefined {
  const { lastTask } = session;
  if (!lastTask || output === undefined || output.trim() === '') return undefined;
  const isRunning = unfinished.has(lastTask.state);
  if (!isRunning && !partial.has(lastTask.state)) return undefined;
  if (hasParts(messages)) return undefined;
  // The answer arrives before the frame that the task completed.
  const newest = messages.at(-1);
  if (newest?.role === 'AGENT' && newest.content.trim() === output.trim()) return undefined;
  const part = isRunning ? { kind: 'text', open: true } : { kind: 'text' };
  return { uuid: `output ${lastTask.id}`, role: 'AGENT', content: output, timestamp: startedAt, seq: 0, part };
}

/** Where the person stopped the agent, from a relay that sends no parts. */
function stoppedItem({ session, messages, output }: ItemSource): LogItem | undefined {
  const { lastTask } = session;
  if (lastTask?.state !== 'cancelled' || output === undefined || hasParts(messages)) return undefined;
  const part = { kind: 'mark', what: 'cancelled' };
  const timestamp = messages.at(-1)?.timestamp ?? session.updatedAt;
  return { uuid: `stopped ${lastTask.id}`, role: 'SYSTEM', content: '', timestamp, seq: 0, part };
}

const isDaemons = ({ part }: LogItem) => part['reason'] !== undefined || part['cap'] !== undefined;

/** The items in the language of the pages if the daemon itself wrote them; as it wrote them until our texts are loaded, and offline. */
function useOwnItems(items: readonly LogItem[]): readonly LogItem[] {
  const ours = useOurs(items.some(isDaemons));
  return useMemo(() => (ours ? items.map(ours.inOwnText) : items), [ours, items]);
}

export function useItems(source: ItemSource): { items: readonly LogItem[]; texts: Texts } {
  const [texts] = useState(() => createTexts());
  const last = useRef<readonly LogItem[]>([]);
  const { session, messages, output } = source;
  const hasItems = output === undefined;
  const messageItems = useOwnItems(useMemo(() => messages.map(itemOf), [messages]));
  const startedAt = messages.at(-1)?.timestamp ?? session.updatedAt;
  const written = useMemo(
    () => outputItem({ session, messages, output }, startedAt),
    [session, messages, output, startedAt],
  );
  let all: readonly LogItem[] = messageItems;
  if (written) {
    // An error of the agent follows the text it wrote.
    const at = messageItems.findLastIndex(({ role }) => role === 'USER') + 1;
    all = [...messageItems.slice(0, at), written, ...messageItems.slice(at)];
  }
  const stopped = useMemo(
    () => stoppedItem({ session, messages, output: hasItems ? undefined : '' }),
    [session, messages, hasItems],
  );
  if (stopped) all = [...all, stopped];
  last.current = settled(last.current, all, texts);
  return { items: last.current, texts };
}
