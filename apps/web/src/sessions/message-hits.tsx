/** Messages that match, found by the daemons of the machines: the relay has only the last message of a session. */
import { useEffect, useState } from 'react';
import type { Device } from '@relay/protocol';
import { Link } from 'wouter';
import { fullTime, shortAgo, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { sessionPath } from '../ui/address.ts';
import { useResource } from '../ui/resource.ts';
import { useNow } from '../ui/time.tsx';
import { Marked } from './marked.tsx';

/** A daemon reads files, so the search is sent only after a longer pause. */
const restMs = 350;

interface MessageHitsProps {
  text: string;
  devices: readonly Device[];
  /** The machine of the filter. */
  only: string | undefined;
}

export function MessageHits({ text, devices, only }: MessageHitsProps) {
  const { client } = useRooms();
  const now = useNow(20_000);
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), restMs);
    return () => clearTimeout(timer);
  }, [text]);
  const ids = devices
    .filter(
      ({ id, status, capabilities }) => status === 'online' && capabilities.includes('search') && id === (only ?? id),
    )
    .map(({ id }) => id);
  const found = useResource(settled === '' ? '' : JSON.stringify([settled, ids]), async () => {
    if (settled === '') return [];
    const query = { q: settled };
    const answers = await Promise.allSettled(ids.map((id) => client.call('searchMessages', { params: { id }, query })));
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.hits : []));
  });
  if (found.kind !== 'ready' || settled !== text || found.value.length === 0) return null;
  return (
    <section>
      <div className="sec">
        <h2>{words.keys.groups.messages}</h2>
      </div>
      <ul>
        {found.value.map(({ sessionId, uuid, title, text: part, timestamp }) => (
          <li key={`${sessionId} ${uuid}`} className="row-place">
            <Link href={`${sessionPath(sessionId)}#${encodeURIComponent(uuid)}`} className="row">
              <span className="st" aria-hidden />
              <span className="t cut">{title === '' ? words.untitled : title}</span>
              <time dateTime={timestamp} title={fullTime(timestamp)}>
                {shortAgo(timestamp, now)}
              </time>
              <span className="w cut">
                <Marked text={part} words={settled} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <p className="sr" role="status">
        {words.keys.found(found.value.length)}
      </p>
    </section>
  );
}
