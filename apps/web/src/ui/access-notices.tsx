/** On every page: a device or a program was allowed on the account just now (rules, 8.13). */
import { useState } from 'react';
import { X } from './icons.tsx';
import { ShieldCheck } from './later-icons.tsx';
import { Link } from 'wouter';
import type { Attention } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { useFrames, useRooms } from '../rooms.ts';
import { IconButton } from './icon-button.tsx';
import { Sentence } from './sentence.tsx';
import { fullTime } from './time.tsx';
import { visible } from './visible.ts';

/** The newest; notifications have them all. */
const shown = 3;

export function AccessNotices() {
  const { live } = useRooms();
  // Some can have arrived while this was loading.
  const [notices, setNotices] = useState<readonly Attention<'access_granted'>[]>(() =>
    live.recent().filter((frame) => frame.type === 'access_granted'),
  );
  useFrames((frame) => {
    if (frame.type === 'access_granted') setNotices((all) => [frame, ...all].slice(0, shown));
  });
  if (notices.length === 0) return null;
  return (
    <aside className="access-notices" aria-label={words.shell.newAccess}>
      {notices.map((notice) => (
        <div key={`${notice.at} ${notice.kind} ${notice.name}`} className="access" role="status">
          <ShieldCheck className="i" aria-hidden />
          <p className="cut" title={fullTime(notice.at)}>
            <Sentence text={words.shell.access} name={<strong>{visible(notice.name)}</strong>} />
          </p>
          <Link href={notice.kind === 'device' ? '/devices' : '/applications'}>
            {words.shell.notYou}
            <span className="sr"> {notice.kind === 'device' ? words.shell.removeMachine : words.shell.revokeApp}</span>
          </Link>
          <IconButton
            icon={X}
            label={words.shell.dismissAccess(visible(notice.name))}
            onClick={() => setNotices((all) => all.filter((one) => one !== notice))}
          />
        </div>
      ))}
    </aside>
  );
}
