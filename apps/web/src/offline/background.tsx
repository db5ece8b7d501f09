/**
 * Background of the pages: the worker that starts them offline, the hint that a new version is ready, and everything shown
 * outside of them.
 */
import { useEffect, useState } from 'react';
import { words } from '../catalogue.ts';
import { registerWorker } from '../push/worker.ts';
import { useLiveState, useRooms } from '../rooms.ts';
import { useOutside } from './outside.ts';

/** A person who writes is not disturbed. */
function isWriting(): boolean {
  const { activeElement } = document;
  return (
    (activeElement instanceof HTMLTextAreaElement || activeElement instanceof HTMLInputElement) &&
    activeElement.value !== ''
  );
}

/** The worker of a newer version, waiting for the pages of this version to close. */
function useWaiting(): ServiceWorker | undefined {
  const { place } = useRooms();
  const live = useLiveState();
  const [registration, setRegistration] = useState<ServiceWorkerRegistration>();
  const [waiting, setWaiting] = useState<ServiceWorker>();
  useEffect(() => {
    if ('serviceWorker' in navigator && window.isSecureContext)
      registerWorker(place).then(setRegistration, () => undefined);
  }, [place]);
  const isLive = live.kind === 'live';
  useEffect(() => {
    if (registration === undefined) return undefined;
    const look = () =>
      setWaiting(navigator.serviceWorker.controller === null ? undefined : (registration.waiting ?? undefined));
    const follow = () => registration.installing?.addEventListener('statechange', look);
    look();
    follow();
    registration.addEventListener('updatefound', follow);
    return () => registration.removeEventListener('updatefound', follow);
  }, [registration]);
  useEffect(() => {
    // The relay was away, so it might be another release now.
    if (isLive) registration?.update().catch(() => undefined);
  }, [isLive, registration]);
  return waiting;
}

export function Background() {
  useOutside();
  const waiting = useWaiting();
  const [isQuiet, setQuiet] = useState(() => !isWriting());
  useEffect(() => {
    if (waiting === undefined) return undefined;
    const look = () => setQuiet(!isWriting());
    look();
    // Once shown it stays: elements that come and go while a person types disturb more.
    for (const event of ['focusin', 'focusout', 'input']) document.addEventListener(event, look);
    return () => {
      for (const event of ['focusin', 'focusout', 'input']) document.removeEventListener(event, look);
    };
  }, [waiting]);
  if (waiting === undefined || !isQuiet) return null;
  const reload = () => {
    navigator.serviceWorker.addEventListener('controllerchange', () => window.location.reload(), { once: true });
    waiting.postMessage({ type: 'activate' });
  };
  return (
    <div className="toast app-toast" role="status">
      <span className="grow">{words.here.newVersion}</span>
      <button type="button" className="small" onClick={reload}>
        {words.here.reload}
      </button>
    </div>
  );
}
