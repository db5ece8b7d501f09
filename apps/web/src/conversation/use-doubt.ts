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

/** `onDoubt`: the copy is behind. Returns a check for each message that comes. */
export function useDoubt(live: Live, copy: TranscriptCopy, onDoubt: () => void): (message: Message) => void {
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
  useEffect(
    () =>
      live.subscribe(() => {
        if (live.state.kind !== 'live' || !live.state.resumed) return;
        copy.doubt();
        onDoubt();
      }),
    [live, copy, onDoubt],
  );
  return (message) => {
    if (message.role !== 'USER' && !isWhole(message, copy)) setUnsure(message);
  };
}
