/** Says each item once to people who do not see it, when it is complete. */
import { useEffect, useRef, useState } from 'react';
import { words } from '../catalogue.ts';
import { speakerOf } from './item-view.tsx';
import { type LogItem, isGrowing } from './items.ts';
import { isShown } from './rows.ts';

const spokenCharacters = 500;
const spokenKinds = new Set(['text', 'error', 'mark']);

export function Announcer({ items }: { items: readonly LogItem[] }) {
  const known = useRef<Set<string>>(undefined);
  const [said, setSaid] = useState('');
  useEffect(() => {
    const before = known.current;
    const complete = items.filter((item) => !isGrowing(item));
    known.current = new Set(complete.map(({ uuid }) => uuid));
    const newest = complete.at(-1);
    if (!before || !newest || before.has(newest.uuid) || !spokenKinds.has(newest.part.kind) || !isShown(newest)) return;
    setSaid(words.readers.newMessage(speakerOf(newest), newest.content.slice(0, spokenCharacters)));
  }, [items]);
  return (
    <p className="sr" role="status">
      {said}
    </p>
  );
}
