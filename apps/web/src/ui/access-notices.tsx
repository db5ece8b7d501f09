/** On every page: a device or a program was allowed on the account just now (rules, 8.13). */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Attention } from '@relay/protocol';
import { useFrames } from '../rooms.ts';
import { Notice } from './notice.tsx';
import { fullTime } from './time.tsx';
import { visible } from './visible.ts';

/** The newest; notifications have them all. */
const shown = 3;

export function AccessNotices() {
  const [notices, setNotices] = useState<readonly Attention<'access_granted'>[]>([]);
  useFrames((frame) => {
    if (frame.type === 'access_granted') setNotices((all) => [frame, ...all].slice(0, shown));
  });
  if (notices.length === 0) return null;
  return (
    <aside className="access-notices" aria-label="New access to your account">
      {notices.map((notice) => (
        <Notice key={`${notice.at} ${notice.kind} ${notice.name}`}>
          <p>
            {notice.kind === 'device' ? 'The machine' : 'The app'} <strong>{visible(notice.name)}</strong> was given
            access to your account, {fullTime(notice.at)}. Wasn’t it you?{' '}
            {notice.kind === 'device' ? (
              <Link href="/devices">Remove it under Machines</Link>
            ) : (
              <Link href="/applications">Revoke it under Apps</Link>
            )}
          </p>
          <button type="button" onClick={() => setNotices((all) => all.filter((one) => one !== notice))}>
            Dismiss<span className="for-readers"> the notice about {visible(notice.name)}</span>
          </button>
        </Notice>
      ))}
    </aside>
  );
}
