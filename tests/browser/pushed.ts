/**
 * Web Push without a push service, which Chromium reaches none of in a test: a subscription made of our own keys takes the place of the browser's.
 * The sealed message is opened with them and handed to the worker of the page, as the browser would do.
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
  /** The messages that were sent to it, opened. */
  messages(): Pushed[];
  /** Hands one to the worker, which runs also while no page is open. */
  deliver(message: object): Promise<void>;
  /** The notifications on the screen. */
  shown(): Promise<Shown[]>;
  /** A tap on the newest notification, or on one of its buttons, as the worker hears it. */
  tap(action?: string, reply?: string): Promise<void>;
}

/** Call before the first page of the person. */
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
    const [worker] = context.serviceWorkers();
    if (!worker) throw new Error('no worker runs');
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
