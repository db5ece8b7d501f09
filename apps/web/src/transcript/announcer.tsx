/** Announces each completed item once to screen readers. */
import { useEffect, useRef, useState } from 'react';
import { words } from '../catalogue.ts';
import { speakerOf } from './item-view.tsx';
import { type LogItem, isGrowing } from './items.ts';
import { isShown } from './rows.ts';

const maxCharacters = 500;
const announcedKinds = new Set(['text', 'error', 'mark']);

export function Announcer({ items }: { items: readonly LogItem[] }) {
  /** Whether each item was complete. */
  const completed = useRef(new Map<string, boolean>());
  const [announced, setAnnounced] = useState({ count: 0, text: '' });
  useEffect(() => {
    const before = completed.current;
    completed.current = new Map(items.map((item) => [item.uuid, !isGrowing(item)]));
    // Older pages come before the known items.
    const first = items.findIndex(({ uuid }) => before.has(uuid));
    if (first < 0) return;
    const text = items
      .slice(first)
      .filter(
        (item) => !isGrowing(item) && !before.get(item.uuid) && announcedKinds.has(item.part.kind) && isShown(item),
      )
      .map((item) => words.readers.newMessage(speakerOf(item), item.content.slice(0, maxCharacters)))
      .join('\n');
    if (text !== '') setAnnounced(({ count }) => ({ count: count + 1, text }));
  }, [items]);
  return (
    <div className="sr" role="status">
      {/* The same words twice are two announcements. */}
      <p key={announced.count}>{announced.text}</p>
    </div>
  );
}
