/** The pages while the relay can't be reached: the last pages read here, read-only. */
import { Suspense, useEffect } from 'react';
import { ChevronRight } from '../ui/icons.tsx';
import { CloudOff } from '../ui/later-icons.tsx';
import { withoutMarks } from '@relay/protocol/plain';
import { Link, useLocation } from 'wouter';
import type { Refusal } from '../api/refusal.ts';
import { fullTime, momentOf, shortAgo, words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { sessionPath, useLastSegment } from '../ui/address.ts';
import { Problem } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';
import { pageChunk } from '../ui/page-chunk.tsx';
import { Sentence } from '../ui/sentence.tsx';
import { useResource } from '../ui/resource.ts';
import { lastConversation, lastList } from './last.ts';

const LastLog = pageChunk('session', () => import('../pages/conversation.tsx')).page(({ LastLog: log }) => log);

const retryMs = 15_000;
const firstRetryMs = 1_000;

/**
 * Tries again by itself: every 15 s, and as soon as there is a network. A request in that moment often still fails, so the next ones
 * follow sooner.
 */
function useRetry(): () => void {
  const { access } = useRooms();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let pauseMs = retryMs;
    let isOver = false;
    const wait = () => {
      clearTimeout(timer);
      if (!isOver) timer = setTimeout(again, pauseMs);
      pauseMs = Math.min(2 * pauseMs, retryMs);
    };
    const again = () => void access.renew().then(wait, wait);
    const back = () => {
      pauseMs = firstRetryMs;
      again();
    };
    wait();
    window.addEventListener('online', back);
    return () => {
      isOver = true;
      clearTimeout(timer);
      window.removeEventListener('online', back);
    };
  }, [access]);
  return () => void access.open();
}

function Offline({ at, onRetry }: { at: string; onRetry: () => void }) {
  return (
    <div className="notice" role="status">
      <p>
        <CloudOff className="i" aria-hidden /> <Sentence text={words.here.offline} time={momentOf(at)} />
      </p>
      <button type="button" className="small" onClick={onRetry}>
        {words.retry}
      </button>
    </div>
  );
}

/** `refusal`: why the relay can't be reached; shown if nothing was stored. */
export function LastPage({ refusal }: { refusal: Refusal }) {
  const [location] = useLocation();
  const onRetry = useRetry();
  const isSession = /^\/sessions\/(?!new$)./.test(location);
  return isSession ? <LastSession onRetry={onRetry} /> : <LastSessions refusal={refusal} onRetry={onRetry} />;
}

function LastSessions({ refusal, onRetry }: { refusal: Refusal; onRetry: () => void }) {
  const found = useResource('', lastList);
  if (found.kind !== 'ready') return null;
  const { value } = found;
  return (
    <Page title={words.shell.sessions}>
      {value === undefined ? (
        <Problem refusal={refusal} onRetry={onRetry} />
      ) : (
        <>
          <Offline at={value.at} onRetry={onRetry} />
          {value.sessions.length === 0 && <p>{words.here.noneThen}</p>}
          <ul className="set-list" hidden={value.sessions.length === 0}>
            {value.sessions.map((session) => (
              <li key={session.id}>
                <Link href={sessionPath(session.id)} className="li">
                  <span className="grow">
                    <b>{session.title || words.untitled}</b>
                    <span className="d cut">{withoutMarks(session.lastMessage)}</span>
                  </span>
                  <time className="faint" dateTime={session.updatedAt} title={fullTime(session.updatedAt)}>
                    {shortAgo(session.updatedAt, Date.now())}
                  </time>
                  <ChevronRight className="i" aria-hidden />
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </Page>
  );
}

function LastSession({ onRetry }: { onRetry: () => void }) {
  const id = useLastSegment();
  const found = useResource(id, () => lastConversation(id));
  if (found.kind !== 'ready') return null;
  const { value } = found;
  if (value === undefined)
    return (
      <Page title={words.shell.sessions} back={{ path: '/sessions', name: words.here.allSessions }}>
        <p role="status">{words.here.notKept}</p>
      </Page>
    );
  return (
    <Suspense fallback={null}>
      <LastLog kept={value}>
        <Offline at={value.at} onRetry={onRetry} />
      </LastLog>
    </Suspense>
  );
}
