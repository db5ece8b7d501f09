/** Web Push in this browser (rules, 14.7): whether it can, whether it is on, and turning it on and off. */
import { type Client, RelayError } from '@relay/client';
import type { AddSubscription } from '@relay/protocol';
import { Refusal } from '../api/refusal.ts';
import type { words } from '../catalogue.ts';
import type { Place } from '../place.ts';
import { language } from '../languages/language.ts';
import { browserName } from '../ui/browser-name.ts';
import { pushSubscription, registerWorker } from './worker.ts';

/** The id of the subscription of this browser; wiped with the person. */
const storedId = 'relay.push';
/** The relay's language for this browser's notifications, and the endpoint that the relay has. */
const storedLanguage = 'relay.push.language';
const storedEndpoint = 'relay.push.endpoint';

type WhyNot = keyof typeof words.notifications.impossible;

type BrowserPush =
  /** The relay, the browser or its address cannot. */
  | { kind: 'impossible'; why: WhyNot }
  /** The person refused in the browser, which asks only once. */
  | { kind: 'denied' }
  | { kind: 'off' }
  | { kind: 'on'; id: string };

const isApple = () => /iPhone|iPad/.test(navigator.userAgent) && !matchMedia('(display-mode: standalone)').matches;

function impossible(): WhyNot | undefined {
  if (!window.isSecureContext) return 'insecure';
  if ('serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window) return undefined;
  return isApple() ? 'apple' : 'browser';
}

const base64url = (bytes: ArrayBuffer | null) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const bytesOf = (text: string) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));

/** `ids`: the subscriptions that the relay has of this person; `publicKey`: its key of today. */
export async function readBrowserPush(
  place: Place,
  ids: readonly string[],
  publicKey: string | undefined,
): Promise<BrowserPush> {
  const why = publicKey === undefined ? 'relay' : impossible();
  if (why !== undefined) return { kind: 'impossible', why };
  if (Notification.permission === 'denied') return { kind: 'denied' };
  const found = await pushSubscription(place);
  const id = localStorage.getItem(storedId);
  const isOfToday = found !== null && base64url(found.options.applicationServerKey) === publicKey;
  return isOfToday && id !== null && ids.includes(id) ? { kind: 'on', id } : { kind: 'off' };
}

type AddressChoices = Pick<AddSubscription, 'label' | 'causes' | 'detail' | 'actions' | 'group' | 'delaySeconds'>;

/** The choices of the person for this browser; undefined where the relay does not notify it. */
async function choicesHere(client: Client): Promise<AddressChoices | undefined> {
  const id = localStorage.getItem(storedId);
  if (id === null) return undefined;
  const { subscriptions } = await client.call('listSubscriptions');
  const own = subscriptions.find((one) => one.id === id && one.state === 'active');
  if (!own) return undefined;
  const { label, causes, detail, actions, group, delaySeconds } = own;
  const others = { ...(group === undefined ? {} : { group }), ...(delaySeconds === undefined ? {} : { delaySeconds }) };
  return { label, causes, detail, actions, ...others };
}

/** Asks the person through the browser's own dialog; must be called in a click. Resolves to false if they refuse. */
export async function turnOn(
  client: Client,
  place: Place,
  publicKey: string,
  choices: AddressChoices = {},
): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false;
  await registerWorker(place);
  const { pushManager } = await navigator.serviceWorker.ready;
  const before = await pushManager.getSubscription();
  const isOfToday = before !== null && base64url(before.options.applicationServerKey) === publicKey;
  if (!isOfToday) await before?.unsubscribe();
  const made = isOfToday
    ? before
    : await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(publicKey) }).catch(() => {
        throw new Refusal('PUSH_OUT_OF_REACH', '');
      });
  const keys = { p256dh: base64url(made.getKey('p256dh')), auth: base64url(made.getKey('auth')) };
  const body = {
    kind: 'webpush',
    label: browserName(navigator.userAgent),
    endpoint: made.endpoint,
    applicationServerKey: publicKey,
    keys,
    language,
    ...choices,
  } as const;
  const { subscription: added } = await client.call('addSubscription', { body });
  localStorage.setItem(storedId, added.id);
  localStorage.setItem(storedLanguage, language);
  localStorage.setItem(storedEndpoint, made.endpoint);
  return true;
}

/**
 * Runs work that replaces this sign-in. The relay forgets the address of this browser with the old sign-in; this adds it again.
 */
export async function keepingPush(client: Client, place: Place, work: () => Promise<unknown>): Promise<void> {
  const choices = await choicesHere(client).catch(() => undefined);
  await work();
  if (choices === undefined || impossible() !== undefined || Notification.permission !== 'granted') return;
  try {
    const { vapid } = await client.call('readPushConfig');
    if (vapid !== undefined) await turnOn(client, place, vapid.publicKey, choices);
  } catch {
    // The work is done; the page of notifications shows that they are off here.
  }
}

/** Safari subscribes in a click alone: there the page offers to turn notifications on again. */
const needsClick = () => browserName(navigator.userAgent).startsWith('Safari');
let renewing: Promise<void> | undefined;

/**
 * Updates the relay after it changed its key, the push service the endpoint, or the person the language, without asking the
 * person. Once for each load of the page.
 */
export function renewBrowserPush(client: Client, place: Place): Promise<void> {
  return (renewing ??= renew(client, place));
}

async function renew(client: Client, place: Place): Promise<void> {
  const id = localStorage.getItem(storedId);
  if (id === null || impossible() !== undefined || Notification.permission !== 'granted') return;
  if (localStorage.getItem(storedLanguage) !== language) {
    await client.call('changeSubscription', { params: { id }, body: { language } });
    localStorage.setItem(storedLanguage, language);
  }
  if (needsClick()) return;
  const { vapid } = await client.call('readPushConfig');
  const found = await pushSubscription(place);
  const isOfToday = found !== null && base64url(found.options.applicationServerKey) === vapid?.publicKey;
  const isCurrent = isOfToday && found.endpoint === (localStorage.getItem(storedEndpoint) ?? found.endpoint);
  if (vapid === undefined || isCurrent) return;
  const choices = await choicesHere(client);
  if (choices === undefined) return;
  // Another endpoint is another address: without a recent sign-in it gets neither texts nor buttons that allow.
  await turnOn(client, place, vapid.publicKey, choices).catch((error: unknown) => {
    if (!(error instanceof RelayError) || error.code !== 'SIGN_IN_NOT_RECENT') throw error;
    const { actions } = choices;
    return turnOn(client, place, vapid.publicKey, {
      ...choices,
      detail: 'title',
      actions: actions === 'all' ? 'reject' : actions,
    });
  });
  // It has an address of its own; the one before leads nowhere.
  await client.call('removeSubscription', { params: { id } });
}

/** The push service then answers the relay that it is gone, if the relay missed it. */
export async function turnOff(client: Client, place: Place, id: string): Promise<void> {
  await client.call('removeSubscription', { params: { id } });
  localStorage.removeItem(storedId);
  await (await pushSubscription(place))?.unsubscribe();
}
