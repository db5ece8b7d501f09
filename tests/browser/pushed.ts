/**
 * Web Push without a push service, because Chromium reaches none in a test: a subscription with our own keys replaces
 * the browser's. The test opens the sealed message with them and passes it to the service worker, as the browser would
 * do.
 */
import { type PushReceiver, openPushKeys } from '@relay/testing';
import type { Person } from './browser.ts';

export interface Pushed {
  notification: {
    title: string;
    body: string;
    navigate: string;
    data: { promptId?: string; tokens?: Record<string, string> };
    actions?: { action: string; title: string }[];
  };
}
export interface Shown {
  title: string;
  body: string;
  actions: string[];
  data: object;
}

export interface PushedBrowser {
  /** All messages to this subscription, decrypted. */
  messages(): Pushed[];
  /** Passes one to the worker, which also runs without an open page. */
  deliver(message: object): Promise<void>;
  /** The notifications on the screen. */
  shown(): Promise<Shown[]>;
  /** Dispatches a tap on the newest notification, or on one of its buttons, in the worker. */
  tap(action?: string, reply?: string): Promise<void>;
}

/** Call this before the first page of the person. */
export async function pushedBrowser(person: Person, receiver: PushReceiver, path: string): Promise<PushedBrowser> {
  const keys = openPushKeys();
  const { context, page, url } = person;
  await context.grantPermissions(['notifications'], { origin: url });
  await context.addInitScript(`
    const bytes = (text) =>
      Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0)).buffer;
    const kept = 'test.subscription';
    const made = (key) => ({
      endpoint: '${receiver.url}${path}',
      options: { applicationServerKey: bytes(key) },
      getKey: (name) => bytes(name === 'auth' ? '${keys.keys.auth}' : '${keys.keys.p256dh}'),
      unsubscribe: async () => localStorage.removeItem(kept) ?? true,
    });
    PushManager.prototype.getSubscription = async () => {
      const key = localStorage.getItem(kept);
      return key === null ? null : made(key);
    };
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
      localStorage.setItem(kept, btoa(String.fromCharCode(...applicationServerKey)));
      return made(localStorage.getItem(kept));
    };
  `);
  let registrationId = '';
  const session = await context.newCDPSession(page);
  session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    for (const one of registrations) if (!one.isDeleted) registrationId = one.registrationId;
  });
  await session.send('ServiceWorker.enable');
  const inWorker = async <T>(script: string): Promise<T> => {
    // The browser starts the worker for a push, and reports it a moment later.
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    return worker.evaluate<T>(script);
  };
  return {
    messages: () => receiver.at(path).map(({ body }) => keys.read(body) as Pushed),
    deliver: async (message) => {
      if (registrationId === '') throw new Error('no worker is registered');
      await session.send('ServiceWorker.deliverPushMessage', {
        ...{ origin: url, registrationId, data: JSON.stringify(message) },
      });
    },
    shown: () =>
      inWorker(`registration.getNotifications().then((all) =>
        all.map(({ title, body, data, actions }) => ({ title, body, data, actions: actions.map(({ action }) => action) })))`),
    tap: async (action = '', reply) => {
      const more = reply === undefined ? '' : `, reply: ${JSON.stringify(reply)}`;
      await inWorker(`(async () => {
        const notification = (await registration.getNotifications()).at(-1);
        dispatchEvent(new NotificationEvent('notificationclick', { notification, action: '${action}'${more} }));
      })()`);
    },
  };
}
