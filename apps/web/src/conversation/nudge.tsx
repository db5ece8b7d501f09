/** The offer of notifications: once something has waited for the person, and never again after an answer. */
import { useEffect, useState } from 'react';
import type { Session } from '@relay/protocol';
import { Link } from 'wouter';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';

const answered = 'relay.nudge';

/** Only where a browser could be asked, and was not yet. */
const isWorthIt = () =>
  window.isSecureContext &&
  'serviceWorker' in navigator &&
  'PushManager' in window &&
  'Notification' in window &&
  Notification.permission === 'default' &&
  localStorage.getItem(answered) === null;

/** The browser that has notifications keeps them when the relay takes another key. */
function useRenewal() {
  const { client, place } = useRooms();
  useEffect(() => {
    if (localStorage.getItem('relay.push') === null) return;
    void import('../push/browser.ts')
      .then(({ renewBrowserPush }) => renewBrowserPush(client, place))
      .catch(() => undefined);
  }, [client, place]);
}

/** Someone who watches an agent for so long may want to go. */
const watchedMs = 60_000;

/** After the first question that was answered here, or a minute of work that was watched. */
function useIsDue({ prompt, status }: Session): boolean {
  const [isDue, setDue] = useState(false);
  const [hadPrompt, setHad] = useState(false);
  if (prompt && !hadPrompt) setHad(true);
  if (!prompt && hadPrompt && !isDue) setDue(true);
  const isActive = status === 'active';
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setTimeout(() => setDue(true), watchedMs);
    return () => clearTimeout(timer);
  }, [isActive]);
  return isDue;
}

export function Nudge({ session }: { session: Session }) {
  useRenewal();
  const isDue = useIsDue(session);
  const [isOver, setOver] = useState(() => !isWorthIt());
  if (isOver || !isDue || !session.watched || session.status === 'active') return null;
  const end = () => {
    localStorage.setItem(answered, 'done');
    setOver(true);
  };
  return (
    <aside className="under-bar nudge" aria-label={words.nudgeYes}>
      <p>{words.nudge}</p>
      <span className="actions start">
        <Link href="/notifications" className="button" onClick={end}>
          {words.nudgeYes}
        </Link>
        <button type="button" className="ghost" onClick={end}>
          {words.nudgeNo}
        </button>
      </span>
    </aside>
  );
}
