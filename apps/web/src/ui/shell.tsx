/** What is around every page: the way to the others, and whether the page is live. */
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { words } from '../catalogue.ts';
import { useAccessState, useLiveState } from '../rooms.ts';
import { AccessNotices } from './access-notices.tsx';
import { Mark } from './mark.tsx';
import { Remaining } from './time.tsx';

const places = [
  { path: '/sessions', name: 'Sessions' },
  { path: '/devices', name: 'Devices' },
  { path: '/account', name: 'Account' },
];

const isUnder = (location: string, path: string) => location === path || location.startsWith(`${path}/`);

function LiveNotice() {
  const live = useLiveState();
  return (
    <div className="live" role="status">
      {live.kind === 'waiting' && (
        <p>
          {words.shell.reconnecting} <Remaining untilMs={live.untilMs} />
        </p>
      )}
    </div>
  );
}

export function Shell({ children }: { children: ReactNode }) {
  const access = useAccessState();
  const [location] = useLocation();
  return (
    <>
      <a className="skip" href="#main">
        {words.shell.skip}
      </a>
      <header className="top">
        <Link href="/" className="brand">
          <Mark />
          <span>Relay</span>
        </Link>
        {access.kind === 'in' && (
          <nav aria-label="Main">
            {places.map(({ path, name }) => (
              <Link key={path} href={path} {...(isUnder(location, path) ? { 'aria-current': 'page' as const } : {})}>
                {name}
              </Link>
            ))}
          </nav>
        )}
      </header>
      {access.kind === 'in' && <LiveNotice />}
      {access.kind === 'in' && <AccessNotices />}
      {children}
    </>
  );
}
