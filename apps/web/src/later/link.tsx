/** The link to messages with a time and schedules: below the list of sessions, on a phone above it. A chunk of its own. */
import { useEffect } from 'react';
import { Link } from 'wouter';
import { momentOf, words } from '../catalogue.ts';
import { keepStored } from '../forget.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { Clock } from '../ui/icons.tsx';
import { useResource } from '../ui/resource.ts';

export function LaterLink({ isRow }: { isRow: boolean }) {
  const { client } = useRooms();
  const found = useResource('', () => client.call('listLater'));
  const { tasks, schedules = [] } = found.kind === 'ready' ? found.value : { tasks: [] };
  useFrames((frame) => {
    const isAbout =
      frame.type === 'session_update' &&
      (frame.session.later !== undefined || tasks.some(({ sessionId }) => sessionId === frame.session.id));
    if (isAbout || frame.type === 'later_changed') found.reload();
  });
  const count = tasks.length + schedules.length;
  const isReady = found.kind === 'ready';
  useEffect(() => {
    if (isReady) keepStored('later', count > 0 ? 'yes' : null);
  }, [isReady, count]);
  if (count === 0) return null;
  const times = [...tasks.map(({ notBefore }) => notBefore), ...schedules.flatMap(({ nextAt }) => nextAt ?? [])];
  const [next] = times.toSorted();
  return (
    <Link href="/later" className={isRow ? 'later-row' : 'button ghost small'}>
      <Clock className="i" aria-hidden /> {words.later.title}
      <span className="faint num">
        {words.later.waiting(count)}
        {isRow && next !== undefined && `, ${words.later.nextAt(momentOf(next))}`}
      </span>
    </Link>
  );
}
