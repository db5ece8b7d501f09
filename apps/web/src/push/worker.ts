/** The worker of notifications, as every page knows it: its taps, and the end of its subscription with the sign-in. */
import type { Place } from '../place.ts';

/** The subscription of this browser, null without one. */
export async function pushSubscription(place: Place): Promise<PushSubscription | null> {
  const known = await navigator.serviceWorker.getRegistration(`${place.publicUrl}/`);
  return known ? known.pushManager.getSubscription() : null;
}

/** Without the relay, when a person leaves this browser: nothing of theirs is shown here any longer. */
export async function leaveBrowserPush(place: Place): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  await (await pushSubscription(place))?.unsubscribe();
  const known = await navigator.serviceWorker.getRegistration(`${place.publicUrl}/`);
  for (const shown of (await known?.getNotifications()) ?? []) shown.close();
}

/** A tap on a notification while a page is open: the page goes there. Returns the end of listening. */
export function onTap(place: Place, go: (path: string) => void): () => void {
  if (!('serviceWorker' in navigator)) return () => undefined;
  const listener = ({ data }: MessageEvent) => {
    const { type, address } = (data ?? {}) as { type?: unknown; address?: unknown };
    if (type !== 'navigate' || typeof address !== 'string' || !address.startsWith(`${place.publicUrl}/`)) return;
    go(address.slice(place.publicUrl.length));
  };
  navigator.serviceWorker.addEventListener('message', listener);
  return () => navigator.serviceWorker.removeEventListener('message', listener);
}
