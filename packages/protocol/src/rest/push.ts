/** Addresses at which a person is notified, and the deliveries to them (rules, 14.7 to 14.10). camelCase, times in UTC. */
import { type Static, Type, count, flag, id, limits, line, list, maybe, oneOf, record, text, time } from '../schema.ts';
import { notificationCauses } from './causes.ts';
import { CauseLevels } from './notification-settings.ts';

const subscriptionKinds = ['ntfy', 'webhook', 'webpush', 'unifiedpush', 'fcm', 'apns'] as const;
export type SubscriptionKind = (typeof subscriptionKinds)[number];

const subscriptionStates = ['unverified', 'active', 'paused'] as const;
export type SubscriptionState = (typeof subscriptionStates)[number];

/** The part of a session that a notification shows. */
export const subscriptionDetails = ['none', 'title', 'text'] as const;
export type SubscriptionDetail = (typeof subscriptionDetails)[number];

/** The answers that a notification offers. */
const subscriptionActions = ['none', 'reject', 'all'] as const;
export type SubscriptionActions = (typeof subscriptionActions)[number];

/** Languages of notification texts. */
const notificationLanguages = ['en', 'de'] as const;
export type NotificationLanguage = (typeof notificationLanguages)[number];

/** The notification of a test has a cause of its own. */
const deliveryCauses = [...notificationCauses, 'test'] as const;
export type DeliveryCause = (typeof deliveryCauses)[number];

const deliveryStates = [
  'pending',
  'sending',
  'accepted',
  'failed',
  'gone',
  'unknown',
  'expired',
  'superseded',
  'suppressed',
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** Why a delivery waits longer than for its turn. */
export const holds = ['reading', 'quiet_hours', 'storm', 'delay', 'group'] as const;
export type Hold = (typeof holds)[number];

export const maxSubscriptions = 20;
const maxDelaySeconds = 86_400;
export const maxAddressCharacters = 1000;
const maxTokenCharacters = 1000;

const label = text('Name for people', { minLength: 1, maxLength: limits.nameCharacters });
const causes = Type.Unsafe<CauseLevels>({
  ...CauseLevels,
  description: 'Levels of this address alone; a cause that is left out has the level of the person',
});
const installation = text('Names an installation of an app: it has one address of each kind', {
  minLength: 1,
  maxLength: 64,
});
const group = text('Addresses of a group are tried one after the other, the oldest first. Empty: none', {
  maxLength: 64,
});
const delaySeconds = Type.Integer({
  description: 'It is notified only of what is still open after this time',
  minimum: 0,
  maximum: maxDelaySeconds,
});
const detail = oneOf(
  subscriptionDetails,
  'How much of a session is sent: nothing, its title, or also its last message. `text` only with `keys`, which seal it end to end',
);
const actions = oneOf(
  subscriptionActions,
  'Answers that a notification of a question offers, only with `webpush` and `unifiedpush`: none; to reject; or also to allow once and to reply, where the whole question is in it. Anyone who holds the phone can give them, where its lock screen shows them. `reject` by default',
);

const language = oneOf(notificationLanguages, 'Language of the words of its notifications; `en` by default');

export const AddSubscription = record('AddSubscription', 'An address at which to notify the person.', {
  kind: oneOf(subscriptionKinds, 'How it is reached'),
  label: maybe(label),
  causes: maybe(causes),
  detail: maybe(detail),
  installation: maybe(installation),
  group: maybe(group),
  delaySeconds: maybe(delaySeconds),
  actions: maybe(actions),
  language: maybe(language),
  url: maybe(
    text('`webhook`: the address to post to. `ntfy`: the server, by default https://ntfy.sh', {
      maxLength: maxAddressCharacters,
    }),
  ),
  topic: maybe(text('`ntfy`: the topic', { pattern: '^[-_A-Za-z0-9]{1,64}$', maxLength: 64 })),
  token: maybe(
    text('`ntfy`: an access token of the server. `fcm`, `apns`: the token of the app on its device', {
      minLength: 1,
      maxLength: maxTokenCharacters,
      pattern: '^[!-~]+$',
    }),
  ),
  endpoint: maybe(
    text('`webpush`, `unifiedpush`: the endpoint of the browser or app', { maxLength: maxAddressCharacters }),
  ),
  applicationServerKey: maybe(
    text(
      '`webpush`, `unifiedpush`: the key of this relay with which the browser or app subscribed. Without it, or with one that is not known, the current one',
      { pattern: '^[A-Za-z0-9_-]{87}=?$', maxLength: 88 },
    ),
  ),
  keys: maybe(
    Type.Object(
      {
        p256dh: text('Public key, base64url', { pattern: '^[A-Za-z0-9_-]{87}=?$', maxLength: 88 }),
        auth: text('Authentication secret, base64url', { pattern: '^[A-Za-z0-9_-]{22}={0,2}$', maxLength: 24 }),
      },
      { description: '`webpush`, `unifiedpush`; `fcm`, `apns` if the app opens sealed messages: its keys (RFC 8291)' },
    ),
  ),
});

export const ChangeSubscription = record('ChangeSubscription', 'Rename, choose causes, pause or go on.', {
  label: maybe(label),
  causes: maybe(causes),
  detail: maybe(detail),
  group: maybe(group),
  delaySeconds: maybe(delaySeconds),
  actions: maybe(actions),
  language: maybe(language),
  state: maybe(
    oneOf(['active', 'paused'], '`active` ends a pause; an address that never took a test stays `unverified`'),
  ),
});

export const Delivery = record('Delivery', 'One notification to one address.', {
  id: id('Delivery id'),
  subscriptionId: id('The address'),
  cause: oneOf(deliveryCauses, 'Why'),
  state: oneOf(
    deliveryStates,
    '`accepted`: the service took it. `unknown`: an instance ended while it was sent, twice. `suppressed`: not wanted, or read meanwhile',
  ),
  reason: maybe(line('Why it was not accepted, waits, or is tried again')),
  heldFor: maybe(oneOf(holds, 'While `pending`: why it waits')),
  sentWith: maybe(id('The delivery in whose message it was sent')),
  attempts: count('How often it was sent'),
  httpStatus: maybe(count('Status of the last answer')),
  maybeDuplicate: flag('It may have arrived twice: an instance ended while it was sent'),
  createdAt: time('When it became due'),
  nextAt: maybe(time('While `pending`: when it is sent next')),
  acceptedAt: maybe(time('When the service took it')),
});

export const Subscription = record(
  'Subscription',
  'An address at which the person is notified. Its secrets are never shown.',
  {
    id: id('Subscription id'),
    kind: oneOf(subscriptionKinds, 'How it is reached'),
    label,
    address: text('The host, for `ntfy` with the topic; for `fcm` and `apns` the service', {
      maxLength: maxAddressCharacters,
    }),
    causes,
    detail,
    installation: maybe(installation),
    group: maybe(group),
    delaySeconds: maybe(delaySeconds),
    actions,
    state: oneOf(
      subscriptionStates,
      '`unverified`: a webhook that took no test yet; it is not notified. `paused`: by its person, or after refusals',
    ),
    reason: maybe(line('Why it is paused')),
    createdAt: time('When it was added'),
    lastDelivery: maybe(Delivery),
  },
);

export const AddedSubscription = record('AddedSubscription', 'The address, and what is shown once.', {
  subscription: Subscription,
  secret: maybe(line('`webhook`: the secret that signs requests (Standard Webhooks, `whsec_…`). Shown once')),
});

export const SubscriptionList = record('SubscriptionList', 'The addresses of the person, oldest first.', {
  subscriptions: list(Subscription, 'Addresses', { maxItems: maxSubscriptions }),
});

export const TestStarted = record('TestStarted', 'A test is on its way.', {
  deliveryId: id('To be read until it ended'),
});

export const RotatedSecret = record(
  'RotatedSecret',
  'The new secret of a webhook. The one before signs too for 24 hours.',
  {
    secret: line('`whsec_…`, shown once'),
  },
);

export const PushConfig = record('PushConfig', 'The ways in which this relay can notify people.', {
  kinds: list(
    oneOf(subscriptionKinds, 'A kind'),
    'Kinds of addresses; empty where the relay has no secret to seal them',
    {
      maxItems: subscriptionKinds.length,
    },
  ),
  vapid: maybe(
    Type.Object(
      { publicKey: line('`applicationServerKey` of a browser, base64url') },
      { description: 'For `webpush` (RFC 8292)' },
    ),
  ),
  limits: Type.Object(
    {
      subscriptions: count('Addresses of one person'),
      addressCharacters: count('Characters of an address'),
    },
    { description: 'Bounds' },
  ),
});

export type AddSubscription = Static<typeof AddSubscription>;
export type ChangeSubscription = Static<typeof ChangeSubscription>;
export type Subscription = Static<typeof Subscription>;
export type Delivery = Static<typeof Delivery>;
export type PushConfig = Static<typeof PushConfig>;
