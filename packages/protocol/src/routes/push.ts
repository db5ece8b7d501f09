/** Routes of addresses at which a person is notified (rules, 14.7 to 14.10). */
import * as story from '../examples/story.ts';
import { type Static, Type, count, id, limits, line, list, maybe, oneOf, record, text, time } from '../schema.ts';
import { body, exampleOf } from './body.ts';
import { Delivery } from './deliveries.ts';
import { CauseLevels } from './notification-settings.ts';
import type { Rows } from './route.ts';

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

export const maxSubscriptions = 20;
const maxDelaySeconds = 86_400;
export const maxAddressCharacters = 1000;
const maxTokenCharacters = 1000;

const label = text('Display name', { minLength: 1, maxLength: limits.nameCharacters });
const causes = Type.Unsafe<CauseLevels>({
  ...CauseLevels,
  description: 'Levels of this address; an omitted cause has the level of the person',
});
const installation = text('Id of an installation of an app, which has one address of each kind', {
  minLength: 1,
  maxLength: 64,
});
const group = text('The relay tries the addresses of a group one after the other, oldest first. Empty: no group', {
  maxLength: 64,
});
const delaySeconds = Type.Integer({
  description: 'It gets only notifications that are still open after this time',
  minimum: 0,
  maximum: maxDelaySeconds,
});
const detail = oneOf(
  subscriptionDetails,
  'Content of a session in notifications: nothing, the title, or the title and the last message. `text` requires `keys`, which encrypt it end to end',
);
const actions = oneOf(
  subscriptionActions,
  'Answers that a notification of a question offers, only with `webpush` and `unifiedpush`: none; reject only; or also allow once and reply, if the notification contains the whole question. If the lock screen shows notifications, anyone who holds the phone can answer. Default: `reject`',
);

const language = oneOf(notificationLanguages, 'Language of its notifications; default: `en`');

export const AddSubscription = body(
  record('AddSubscription', 'A notification address of the person.', {
    kind: oneOf(subscriptionKinds, 'Kind of the address'),
    label: maybe(label),
    causes: maybe(causes),
    detail: maybe(detail),
    installation: maybe(installation),
    group: maybe(group),
    delaySeconds: maybe(delaySeconds),
    actions: maybe(actions),
    language: maybe(language),
    url: maybe(
      text('`webhook`: the URL for the POST requests. `ntfy`: the server; default: https://ntfy.sh', {
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
        '`webpush`, `unifiedpush`: the key of this relay with which the browser or app subscribed. If absent or unknown, the current key',
        { pattern: '^[A-Za-z0-9_-]{87}=?$', maxLength: 88 },
      ),
    ),
    keys: maybe(
      Type.Object(
        {
          p256dh: text('Public key, base64url', { pattern: '^[A-Za-z0-9_-]{87}=?$', maxLength: 88 }),
          auth: text('Authentication secret, base64url', { pattern: '^[A-Za-z0-9_-]{22}={0,2}$', maxLength: 24 }),
        },
        {
          description:
            'Keys (RFC 8291), for `webpush` and `unifiedpush`, and for `fcm` and `apns` if the app decrypts messages',
        },
      ),
    ),
  }),
  { kind: 'ntfy', label: 'My phone', url: 'https://ntfy.sh', topic: 'garden-x7k2p9', language: 'de' },
);

export const ChangeSubscription = body(
  record('ChangeSubscription', 'Rename the address, choose causes, pause or resume.', {
    label: maybe(label),
    causes: maybe(causes),
    detail: maybe(detail),
    group: maybe(group),
    delaySeconds: maybe(delaySeconds),
    actions: maybe(actions),
    language: maybe(language),
    state: maybe(
      oneOf(
        ['active', 'paused'],
        '`active` resumes a paused address; an address that never accepted a test stays `unverified`',
      ),
    ),
  }),
  { causes: { done: 'off' } },
);

export const Subscription = body(
  record('Subscription', 'A notification address of the person. The relay never returns its secrets.', {
    id: id('Subscription id'),
    kind: oneOf(subscriptionKinds, 'Kind of the address'),
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
      '`unverified`: a webhook that accepted no test yet and gets no notifications. `paused`: by its person, or after refusals',
    ),
    reason: maybe(line('Why it is paused')),
    createdAt: time('When it was added'),
    lastDelivery: maybe(Delivery),
  }),
  {
    id: exampleOf(Delivery).subscriptionId,
    kind: 'ntfy',
    label: 'My phone',
    address: 'ntfy.sh/garden-x7k2p9',
    causes: { done: 'off' },
    detail: 'none',
    actions: 'none',
    state: 'active',
    createdAt: story.times.registered,
    lastDelivery: exampleOf(Delivery),
  },
);

const AddedSubscription = body(
  record('AddedSubscription', 'The address, with the secret that is shown only once.', {
    subscription: Subscription,
    secret: maybe(line('`webhook`: the secret that signs requests (Standard Webhooks, `whsec_…`). Shown only once')),
  }),
  { subscription: exampleOf(Subscription) },
);

const SubscriptionList = body(
  record('SubscriptionList', 'The addresses of the person, oldest first.', {
    subscriptions: list(Subscription, 'Addresses', { maxItems: maxSubscriptions }),
  }),
  { subscriptions: [exampleOf(Subscription)] },
);

const TestStarted = body(
  record('TestStarted', 'The relay sent a test.', {
    deliveryId: id('Its delivery id: poll this delivery for the result'),
  }),
  { deliveryId: exampleOf(Delivery).id },
);

const RotatedSecret = body(
  record('RotatedSecret', 'The new secret of a webhook. The relay signs with the previous secret too for 24 hours.', {
    secret: line('`whsec_…`, shown only once'),
  }),
  { secret: story.webhookSecret },
);

export const PushConfig = body(
  record('PushConfig', 'The notification channels of this relay.', {
    kinds: list(
      oneOf(subscriptionKinds, 'A kind'),
      'Kinds of addresses; empty if the relay has no secret to encrypt them',
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
        subscriptions: count('Maximum number of addresses of one person'),
        addressCharacters: count('Maximum length of an address in characters'),
      },
      { description: 'Bounds' },
    ),
  }),
  {
    kinds: ['ntfy', 'webhook', 'webpush'],
    vapid: { publicKey: story.vapidKey },
    limits: { subscriptions: 20, addressCharacters: 1000 },
  },
);

export type AddSubscription = Static<typeof AddSubscription>;
export type ChangeSubscription = Static<typeof ChangeSubscription>;
export type Subscription = Static<typeof Subscription>;
export type PushConfig = Static<typeof PushConfig>;

export const pushRoutes = {
  readPushConfig: {
    method: 'GET',
    path: '/api/push/config',
    credential: 'user',
    summary: 'The notification channels of this relay',
    success: { 200: PushConfig },
    errors: [],
  },
  listSubscriptions: {
    method: 'GET',
    path: '/api/push/subscriptions',
    credential: 'user',
    summary: 'The notification addresses of the user',
    scope: 'sessions:read',
    success: { 200: SubscriptionList },
    errors: [],
  },
  addSubscription: {
    method: 'POST',
    path: '/api/push/subscriptions',
    credential: 'user',
    summary: 'Add an address; if the user already has it, the relay updates it and answers 200',
    scope: 'sessions:write',
    body: AddSubscription,
    success: { 200: AddedSubscription, 201: AddedSubscription },
    errors: [
      'ADDRESS_NOT_ALLOWED',
      'KIND_NOT_CONFIGURED',
      'SUBSCRIPTION_TAKEN',
      'TOO_MANY_SUBSCRIPTIONS',
      'SIGN_IN_NOT_RECENT',
    ],
  },
  readSubscription: {
    method: 'GET',
    path: '/api/push/subscriptions/:id',
    credential: 'user',
    summary: 'One address with its last delivery',
    scope: 'sessions:read',
    success: { 200: Subscription },
    errors: ['SUBSCRIPTION_NOT_FOUND'],
  },
  changeSubscription: {
    method: 'PATCH',
    path: '/api/push/subscriptions/:id',
    credential: 'user',
    summary: 'Rename an address, choose its causes, pause or resume it',
    scope: 'sessions:write',
    body: ChangeSubscription,
    success: { 200: Subscription },
    errors: ['SUBSCRIPTION_NOT_FOUND', 'SIGN_IN_NOT_RECENT'],
  },
  removeSubscription: {
    method: 'DELETE',
    path: '/api/push/subscriptions/:id',
    credential: 'user',
    summary: 'Remove an address; the relay sends nothing more to it',
    scope: 'sessions:write',
    success: { 204: undefined },
    errors: ['SUBSCRIPTION_NOT_FOUND'],
  },
  testSubscription: {
    method: 'POST',
    path: '/api/push/subscriptions/:id/test',
    credential: 'user',
    summary: 'Send a test to an address; at most ten in ten minutes',
    scope: 'sessions:write',
    success: { 202: TestStarted },
    errors: ['SUBSCRIPTION_NOT_FOUND'],
    limit: 'pushTest',
  },
  rotateSecret: {
    method: 'POST',
    path: '/api/push/subscriptions/:id/rotate-secret',
    credential: 'user',
    summary: 'Create a new secret for a webhook; the relay signs with the previous secret too for 24 hours',
    scope: 'sessions:write',
    success: { 200: RotatedSecret },
    errors: ['SUBSCRIPTION_NOT_FOUND', 'KIND_NOT_CONFIGURED', 'SIGN_IN_NOT_RECENT'],
  },
} as const satisfies Rows;
