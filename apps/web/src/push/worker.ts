/** The worker, as every page knows it: its registration, its taps, and removing its subscription with the sign-in. */
import type { Place } from '../place.ts';

/** Trusted Types lets this one script be a worker, and nothing else. */
function workerAddress(address: string): string {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined) return address;
  const policy = trustedTypes.createPolicy('relay-worker', { createScriptURL: () => address });
  return policy.createScriptURL(address) as string;
}
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(from: string): unknown };
}

let registering: Promise<ServiceWorkerRegistration> | undefined;
/** Once for a page. */
export const registerWorker = (place: Place): Promise<ServiceWorkerRegistration> =>
  (registering ??= navigator.serviceWorker.register(workerAddress(`${place.publicUrl}/sw.js`), {
    scope: `${place.publicUrl}/`,
    updateViaCache: 'none',
  }));

/** The subscription of this browser, null without one. */
export async function pushSubscription(place: Place): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration(`${place.publicUrl}/`);
  return registration ? registration.pushManager.getSubscription() : null;
}

/** Works without the relay, when a person leaves this browser: their notifications stop here. */
export async function leaveBrowserPush(place: Place): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  await (await pushSubscription(place))?.unsubscribe();
  const registration = await navigator.serviceWorker.getRegistration(`${place.publicUrl}/`);
  for (const shown of (await registration?.getNotifications()) ?? []) shown.close();
}

/** A tap on a notification while a page is open: the page goes there. Returns a function that stops listening. */
export function onTap(place: Place, go: (path: string) => void): () => void {
  if (!('serviceWorker' in navigator)) return () => undefined;
  const listener = ({ data, ports }: MessageEvent) => {
    const { type, address } = (data ?? {}) as { type?: unknown; address?: unknown };
    if (type !== 'navigate' || typeof address !== 'string' || !address.startsWith(`${place.publicUrl}/`)) return;
    ports[0]?.postMessage('taken');
    go(address.slice(place.publicUrl.length));
  };
  navigator.serviceWorker.addEventListener('message', listener);
  return () => navigator.serviceWorker.removeEventListener('message', listener);
}
