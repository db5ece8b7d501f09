/** Items whose text the daemon itself wrote, in the language of the pages. */
import { useMemo } from 'react';
import { useOurs } from '../conversation/own-question.ts';
import type { LogItem } from './items.ts';

const isDaemons = ({ part }: LogItem) => part['reason'] !== undefined || part['cap'] !== undefined;

/** The items; as the daemon wrote them until our texts are loaded, and offline. */
export function useOwnItems(items: readonly LogItem[]): readonly LogItem[] {
  const ours = useOurs(items.some(isDaemons));
  return useMemo(() => (ours ? items.map(ours.inOwnText) : items), [ours, items]);
}
