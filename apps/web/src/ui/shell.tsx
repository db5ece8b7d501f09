/** The frame around every page: the list of sessions, links to the other pages, and whether the page is live. */
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { Laptop, MessageSquare, Settings } from './icons.tsx';
import { Link, useLocation } from 'wouter';
import { words } from '../catalogue.ts';
import { useAccessState, useLiveState, useRooms } from '../rooms.ts';
import { Keys } from '../palette/keys.tsx';
import { useNeeds } from '../sessions/attention.ts';
import { Side } from '../sessions/side.tsx';
import { DevicesProvider, useDeviceList } from './device-list.ts';
import { loadedLater } from './loaded-later.tsx';
import { Mark } from './mark.tsx';
import { Sentence } from './sentence.tsx';
import { Remaining } from './time.tsx';

const AccessNotices = loadedLater(async () => (await import('./access-notices.tsx')).AccessNotices);

/** A wait that is not worth a word yet. */
const shortMs = 1000;
/** Pages with nothing beside them: people are on their way somewhere else. */
const alone = ['/sign-in', '/sign-up', '/setup', '/invite', '/consent', '/error'];

const isUnder = (location: string, path: string) => location === path || location.startsWith(`${path}/`);

function LiveNotice() {
  const live = useLiveState();
  const { live: stream } = useRooms();
  const untilMs = live.kind === 'waiting' ? live.untilMs : undefined;
  const [isLong, setLong] = useState(false);
  const isAway = live.kind !== 'live' && live.kind !== 'off';
  useEffect(() => {
    if (!isAway) {
      setLong(false);
      return undefined;
    }
    const timer = setTimeout(() => setLong(true), shortMs);
    return () => clearTimeout(timer);
  }, [isAway]);
  return (
    <div className="live" role="status">
      {isLong && untilMs !== undefined && (
        <p>
          <Sentence text={words.shell.reconnecting} time={<Remaining untilMs={untilMs} />} />
          <button type="button" className="small" onClick={() => stream.refresh()}>
            {words.shell.retryNow}
          </button>
        </p>
      )}
    </div>
  );
}

const tabs = [
  { path: '/sessions', name: 'sessions', Icon: MessageSquare },
  { path: '/devices', name: 'machines', Icon: Laptop },
  { path: '/account', name: 'settings', Icon: Settings },
] as const;

/** On a phone, at the foot of every page but a session. */
function Tabs({ location }: { location: string }) {
  const needs = useNeeds();
  return (
    <nav className="tabs" aria-label={words.shell.main}>
      {tabs.map(({ path, name, Icon }) => (
        <Link key={path} href={path} {...(isUnder(location, path) ? { 'aria-current': 'page' as const } : {})}>
          <Icon className="i" aria-hidden />
          {words.shell[name]}
          {path === '/sessions' && needs > 0 && (
            <span className="bub">
              <span className="sr">{words.shell.needsYou(needs)}</span>
              <span aria-hidden="true">{needs}</span>
            </span>
          )}
        </Link>
      ))}
    </nav>
  );
}

export function Shell({ children }: { children: ReactNode }) {
  const access = useAccessState();
  const devices = useDeviceList(access.kind === 'in');
  const [location] = useLocation();
  const isAlone = alone.some((path) => isUnder(location, path));
  const isFramed = !isAlone && (access.kind === 'in' || access.kind === 'opening');
  const isHome = location === '/sessions';
  const isSession = location.startsWith('/sessions/') && location !== '/sessions/new';
  return (
    <DevicesProvider value={devices}>
      <a className="skip" href="#main">
        {words.shell.skip}
      </a>
      <div className={`app ${isFramed ? 'framed' : 'bare'}${isHome ? ' at-list' : isSession ? ' at-session' : ''}`}>
        {isFramed ? (
          access.kind === 'in' ? (
            <Side key="side" isHome={isHome} />
          ) : (
            <div key="none" className="side" />
          )
        ) : (
          <header key="top" className="top">
            <Link href="/" className="brand">
              <Mark />
              <span>Relay</span>
            </Link>
          </header>
        )}
        <div className="content" key="content">
          {access.kind === 'in' && <LiveNotice />}
          <Suspense fallback={null}>{access.kind === 'in' && <AccessNotices />}</Suspense>
          {children}
        </div>
        {isFramed && access.kind === 'in' && <Keys key="keys" />}
        {isFramed && access.kind === 'in' && <Tabs key="tabs" location={location} />}
      </div>
    </DevicesProvider>
  );
}
