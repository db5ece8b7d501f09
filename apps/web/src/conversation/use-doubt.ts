/** Finds lost operations that no later frame reveals: their frames are hot, and the relay keeps none of them for an app that was away. */
import { useEffect, useState } from 'react';
import type { TranscriptCopy } from '@relay/client';
import type { Message } from '@relay/protocol';
import type { Live } from '../live.ts';

/** A message may come before the operations of its item: the daemon gathers those for a moment. */
const itemComesMs = 1000;

/** Whether the item of this message is here as it was said. A question has words of its own. */
function isWhole({ uuid, content, truncated }: Message, copy: TranscriptCopy): boolean {
  const item = copy.get(uuid);
  if (!item || item.part.kind === 'question') return item !== undefined;
  return item.part.open !== true && (truncated === true || item.content === content);
}

/**
 * `onDoubt`: the copy is behind. `isRunning`: the agent was at work when the copy was loaded; undefined before. Returns a check for each
 * message that comes.
 */
export function useDoubt(
  live: Live,
  copy: TranscriptCopy,
  onDoubt: () => void,
  isRunning: boolean | undefined,
): (message: Message) => void {
  const [unsure, setUnsure] = useState<Message>();
  useEffect(() => {
    if (!unsure) return undefined;
    const timer = setTimeout(() => {
      if (copy.v === undefined || isWhole(unsure, copy)) return;
      copy.doubt();
      onDoubt();
    }, itemComesMs);
    return () => clearTimeout(timer);
  }, [unsure, copy, onDoubt]);
  /** The page was loaded before its stream was live. */
  const [isEarly, setEarly] = useState(false);
  useEffect(
    () =>
      live.subscribe(() => {
        if (live.state.kind !== 'live') return;
        if (!live.state.resumed) return setEarly(true);
        copy.doubt();
        onDoubt();
      }),
    [live, copy, onDoubt],
  );
  useEffect(() => {
    if (!isEarly || isRunning === undefined) return;
    setEarly(false);
    // An agent that rested sent nothing that the stream does not repeat.
    if (!isRunning) return;
    copy.doubt();
    onDoubt();
  }, [isEarly, isRunning, copy, onDoubt]);
  return (message) => {
    if (message.role !== 'USER' && !isWhole(message, copy)) setUnsure(message);
  };
}
