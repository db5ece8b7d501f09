/** The buttons of the composer while the agent works: into its turn, or after it. A chunk of its own. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { useLastSegment } from '../ui/address.ts';
import { ListPlus, Zap } from './icons.tsx';
import '../styles/steering.css';

/** Whether the agent of the session takes messages while it works, as far as its daemon knows. */
function useTakes(): boolean {
  const { client } = useRooms();
  const id = useLastSegment();
  const [takes, setTakes] = useState(true);
  useEffect(() => {
    client.call('readSettings', { params: { id }, query: { known: '1' } }).then(
      ({ can }) => setTakes(can?.includes('steer') !== false),
      () => undefined,
    );
  }, [client, id]);
  return takes;
}

const onNetwork = (changed: () => void) => {
  for (const event of ['online', 'offline']) window.addEventListener(event, changed);
  return () => {
    for (const event of ['online', 'offline']) window.removeEventListener(event, changed);
  };
};

interface SendButtonsProps {
  agent: string;
  busy: boolean;
  /** Sends the message into the turn. */
  onNow: () => void;
}

/** Offline, nothing is sent into a turn: it can be over before the message arrives. */
export function SendButtons({ agent, busy, onNow }: SendButtonsProps) {
  /** The line below the field, on a keyboard. */
  const [hints] = useState(() => document.querySelector('.hints'));
  const isOnline = useSyncExternalStore(onNetwork, () => navigator.onLine);
  const canNow = useTakes() && isOnline;
  useEffect(() => {
    if (!canNow) return undefined;
    // On a keyboard: with Enter alone the message is queued.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !event.shiftKey || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      onNow();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  });
  return (
    <>
      {canNow && (
        <button type="button" className="alt" aria-disabled={busy} onClick={() => busy || onNow()}>
          <Zap className="i" aria-hidden /> {words.steer.now}
        </button>
      )}
      <button type="submit" className="primary alt" aria-disabled={busy}>
        {busy ? <span className="spinner" aria-hidden /> : <ListPlus className="i wide-only" aria-hidden />}{' '}
        {words.steer.queue}
      </button>
      {canNow && hints && createPortal(<Hints agent={agent} />, hints)}
    </>
  );
}

const Hints = ({ agent }: { agent: string }) => (
  <>
    <span className="now">
      <kbd className="k">Enter</kbd> {words.steer.hintQueue}
    </span>
    <span className="now">
      <kbd className="k">⌘ ⇧ Enter</kbd> {words.steer.hintNow}
    </span>
    <span className="now grow" />
    <span className="now">{words.steer.hint(agent)}</span>
  </>
);
