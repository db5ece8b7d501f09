/** Keeps the number on the app icon and the notifications of this browser up to date. */
import { useEffect } from 'react';
import { badgeDatabase, answerOf, clearBadge, openDatabase } from '../forget.ts';
import { useInbox } from '../inbox/use-inbox.ts';
import { useRooms } from '../rooms.ts';
import type { InboxView } from '../inbox/store.ts';
import type { Place } from '../place.ts';

/** The worker then shows no older number. This one is the relay's own, also after a database was set back. */
async function badge(count: number, version: number): Promise<void> {
  await (navigator as { setAppBadge?: (count: number) => Promise<void> }).setAppBadge?.(count);
  const db = await openDatabase(badgeDatabase, ['kept']);
  try {
    await answerOf(db.transaction('kept', 'readwrite').objectStore('kept').put(version, 'version'));
  } finally {
    db.close();
  }
}

const waits: readonly unknown[] = ['needs_you', 'failed', 'unknown'];

/** Closes notifications of sessions that no longer wait for the person. */
async function closeOld({ publicUrl }: Place, { items, snoozed, version }: InboxView): Promise<void> {
  const waiting = new Set([...items, ...snoozed].map(({ sessionId }) => sessionId));
  const registration = await navigator.serviceWorker.getRegistration(`${publicUrl}/`);
  for (const shown of (await registration?.getNotifications()) ?? []) {
    const about = (shown.data ?? {}) as { cause?: unknown; sessionId?: string; version?: number; navigate?: string };
    // A notification for many names the first of them, and its link opens no single session.
    const isOfOne = waits.includes(about.cause) && about.navigate?.startsWith(`${publicUrl}/sessions/`);
    if (isOfOne && (about.version ?? Infinity) <= version && !waiting.has(about.sessionId)) shown.close();
  }
}

export function useOutside(): void {
  const { place } = useRooms();
  const inbox = useInbox();
  const { version, counts, items } = inbox;
  useEffect(() => {
    if (version > 0) badge(counts.badge, version).catch(() => undefined);
  }, [version, counts.badge]);
  useEffect(() => {
    if (version === 0 || items.length < counts.total || !('serviceWorker' in navigator)) return;
    closeOld(place, inbox).catch(() => undefined);
  }, [place, inbox, version, items, counts]);
  // Cleared with the sign-in.
  useEffect(() => clearBadge, []);
}
