/** Operations on the addresses of a person (rules, 14.7). Errors in the order of the checks. */
import { randomBytes } from 'node:crypto';
import { AuthError, type UserPrincipal } from '@relay/auth';
import {
  type SealedSubscription,
  addTestDelivery,
  changeSubscription,
  findSubscription,
  isSignInOver,
  removeSubscription,
  saveSubscription,
  subscriptionWith,
  subscriptionsOfOthers,
} from '@relay/database';
import {
  type AddSubscription,
  type ChangeSubscription,
  RelayError,
  type Subscription,
  type SubscriptionActions,
} from '@relay/protocol';
import { requireRecentSignIn } from '../account/recent-sign-in.ts';
import type { Operations } from '../deps.ts';
import { requireShowable, requireText } from '../devices/names.ts';
import { type Target, type WebhookTarget, addressOf, identityOf, isOfProgram, isSealed } from './targets.ts';
import { type Push, type PushRoom, ttlMs } from './push.ts';

const ntfyServer = 'https://ntfy.sh';
const previousSecretMs = 24 * 3600_000;
const secretBytes = 32;

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`;
const missing = () => new RelayError('SUBSCRIPTION_NOT_FOUND');

function requireRoom(push: Push): PushRoom {
  if (push.room) return push.room;
  throw new RelayError('KIND_NOT_CONFIGURED');
}

const needed = <T>(value: T | undefined, field: string, kind: string): T => {
  if (value !== undefined) return value;
  throw new RelayError('INVALID_REQUEST', `In the body, "${field}" is required for an address of kind ${kind}.`);
};

function targetOf(body: AddSubscription, vapidKey: string | undefined, now: number): Target {
  const { kind, keys } = body;
  switch (kind) {
    case 'ntfy':
      return { kind, url: body.url ?? ntfyServer, topic: needed(body.topic, 'topic', kind), token: body.token };
    case 'webhook':
      return { kind, url: needed(body.url, 'url', kind), secret: newSecret() };
    case 'webpush':
    case 'unifiedpush': {
      const { p256dh, auth } = needed(keys, 'keys', kind);
      return { kind, endpoint: needed(body.endpoint, 'endpoint', kind), p256dh, auth, vapidKey };
    }
    case 'fcm':
    case 'apns':
      return { kind, token: needed(body.token, 'token', kind), registeredAt: now, ...(keys ? { keys } : {}) };
  }
}

/** Our service worker, or an app, gets the whole message sealed. */
const takesAnswers = (kind: Target['kind']) => kind === 'webpush' || kind === 'unifiedpush';

/** Tokens go only where no service can read them. @throws RelayError INVALID_REQUEST */
function requireActions(kind: Target['kind'], actions: SubscriptionActions | undefined): void {
  if (actions !== undefined && actions !== 'none' && !takesAnswers(kind))
    throw new RelayError(
      'INVALID_REQUEST',
      'In the body, "actions" may be other than "none" only for webpush and unifiedpush.',
    );
}

/** The text of a session goes only where it is sealed until it arrives. */
function requireSealed(detail: string | undefined, target: Target | undefined): void {
  if (detail !== 'text' || (target !== undefined && isSealed(target))) return;
  throw new RelayError(
    'INVALID_REQUEST',
    'In the body, "detail" may be "text" only for an address with keys that seal it.',
  );
}

type Rights = Pick<Subscription, 'detail' | 'actions'>;

/**
 * Texts of sessions, and answers that allow, take a recent sign-in, unless the address has them. Returns the notice of a change that gives them.
 * @throws RelayError SIGN_IN_NOT_RECENT
 */
async function requireRights(
  deps: Operations,
  principal: UserPrincipal,
  wanted: Partial<Rights>,
  before: Rights | undefined,
  what: 'added' | 'changed',
): Promise<string | undefined> {
  const given = [
    ...(wanted.detail === 'text' && before?.detail !== 'text' ? ['the texts of your sessions'] : []),
    ...(wanted.actions === 'all' && before?.actions !== 'all' ? ['buttons that allow'] : []),
  ];
  if (given.length === 0) return undefined;
  await requireRecentSignIn(deps, principal);
  return `An address to notify was ${what}. It gets ${given.join(' and ')}.`;
}

/** The secrets that seal the messages for an address: with other ones, another program reads them. */
function keysOf(target: Target | undefined): string {
  const keys = target && ('p256dh' in target ? target : 'keys' in target ? target.keys : undefined);
  return JSON.stringify([keys?.p256dh, keys?.auth]);
}

/** The detail of an address that does not request any: texts after a recent sign-in, else titles. */
async function defaultDetail(deps: Operations, principal: UserPrincipal, target: Target): Promise<Rights['detail']> {
  if (!isSealed(target)) return 'none';
  try {
    await requireRecentSignIn(deps, principal);
    return 'text';
  } catch (error) {
    if (error instanceof RelayError && error.code === 'SIGN_IN_NOT_RECENT') return 'title';
    throw error;
  }
}

/**
 * Adds an address, or changes the same one. A webhook must accept a test first; if its secret is new, the answer contains it. An
 * address of a browser or an app is removed with the sign-in that added it.
 * @throws RelayError KIND_NOT_CONFIGURED, INVALID_REQUEST, ADDRESS_NOT_ALLOWED, SUBSCRIPTION_TAKEN, TOO_MANY_SUBSCRIPTIONS,
 *   SIGN_IN_NOT_RECENT; AuthError TOKEN_REVOKED if the sign-in was revoked first
 */
export async function addAddress(
  deps: Operations,
  push: Push,
  principal: UserPrincipal,
  body: AddSubscription,
): Promise<{ subscription: Subscription; secret?: string; added: boolean }> {
  const { database } = deps;
  const { userId, sessionId: login, chainId: chain, clientId: client } = principal;
  const room = requireRoom(push);
  if (!(await push.kinds()).includes(body.kind)) throw new RelayError('KIND_NOT_CONFIGURED');
  const { language, applicationServerKey: given } = body;
  const vapid = await room.vapid(given);
  // A page that was open while the key was rotated subscribed with the one before.
  const { publicKey } = (given === undefined ? undefined : vapid?.find(given)) ?? vapid?.current ?? {};
  const target: Target = { ...targetOf(body, publicKey, Date.now()), language };
  const address = addressOf(target);
  const checked: { url?: URL } | { why: string } = address === undefined ? {} : room.guard.check(address);
  if ('why' in checked) throw new RelayError('ADDRESS_NOT_ALLOWED', `This address cannot be notified. ${checked.why}`);
  const { shown, unique } = identityOf(target, checked.url);
  const hashes = room.seal.hashes(unique);
  const same = await subscriptionWith(database, userId, hashes);
  const before =
    same && keysOf(room.seal.open(same.sealed) as Target | undefined) === keysOf(target) ? same : undefined;
  const detail = body.detail ?? (await defaultDetail(deps, principal, target));
  requireSealed(detail, target);
  const actions = body.actions ?? (takesAnswers(target.kind) ? 'reject' : 'none');
  requireActions(target.kind, actions);
  const notice = await requireRights(deps, principal, { detail, actions }, before, same ? 'changed' : 'added');
  const label = body.label?.trim() ?? '';
  requireShowable(label);
  if ('endpoint' in target) await takeFromOthers(database, room, userId, target.auth, hashes);
  const saved = await saveSubscription(database, userId, {
    kind: target.kind,
    addressHashes: hashes,
    sealed: room.seal.seal(target),
    label: label === '' ? shown.split('/')[0]! : label,
    address: shown,
    levels: body.causes ?? {},
    installation: body.installation,
    group: body.group?.trim() ?? '',
    delaySeconds: body.delaySeconds ?? 0,
    detail,
    actions,
    ...(isOfProgram(target.kind) ? { login, chain, client } : { typedIn: client }),
    verified: target.kind !== 'webhook',
    notice,
  });
  if (saved === undefined) throw new RelayError('TOO_MANY_SUBSCRIPTIONS');
  if (await isSignInOver(database, principal)) {
    if (saved.added || isOfProgram(target.kind)) await removeSubscription(database, userId, saved.id);
    throw new AuthError('TOKEN_REVOKED');
  }
  if (saved.noticed) await wakeOutbox(deps);
  const { subscription } = await readAddress(database, userId, saved.id);
  return { subscription, added: saved.added, ...(target.kind === 'webhook' ? { secret: target.secret } : {}) };
}

const wakeOutbox = ({ backplane }: Operations) => backplane.publishControl(JSON.stringify({ v: 1, kind: 'outbox' }));

/** An endpoint is of one browser: a person who also knows its secret has this browser now. */
async function takeFromOthers(
  database: Operations['database'],
  room: PushRoom,
  userId: string,
  auth: string,
  hashes: readonly string[],
): Promise<void> {
  for (const other of await subscriptionsOfOthers(database, userId, hashes)) {
    const target = room.seal.open(other.sealed) as Target | undefined;
    if (target !== undefined && 'auth' in target && target.auth !== auth) throw new RelayError('SUBSCRIPTION_TAKEN');
    await removeSubscription(database, other.userId, other.id);
  }
}

/** @throws RelayError SUBSCRIPTION_NOT_FOUND */
export async function readAddress(
  database: Operations['database'],
  userId: string,
  id: string,
): Promise<SealedSubscription> {
  const found = await findSubscription(database, userId, id);
  if (!found) throw missing();
  return found;
}

/** @throws RelayError INVALID_REQUEST, SUBSCRIPTION_NOT_FOUND, SIGN_IN_NOT_RECENT */
export async function changeAddress(
  deps: Operations,
  push: Push,
  principal: UserPrincipal,
  id: string,
  change: ChangeSubscription,
): Promise<Subscription> {
  const { database } = deps;
  const { userId } = principal;
  const label = change.label?.trim();
  requireText(label, 'label');
  requireShowable(label);
  const { sealed, subscription } = await readAddress(database, userId, id);
  const target = push.room?.seal.open(sealed) as Target | undefined;
  requireSealed(change.detail, target);
  requireActions(subscription.kind, change.actions);
  const notice = await requireRights(deps, principal, change, subscription, 'changed');
  const { language, ...columns } = change;
  const resealed =
    language === undefined || target === undefined
      ? {}
      : { sealed: requireRoom(push).seal.seal({ ...target, language }) };
  if (!(await changeSubscription(database, userId, id, { ...columns, ...resealed, label, notice }))) throw missing();
  if (notice !== undefined) await wakeOutbox(deps);
  return (await readAddress(database, userId, id)).subscription;
}

/** @throws RelayError SUBSCRIPTION_NOT_FOUND */
export async function removeAddress(
  deps: Operations,
  { userId, sessionId: login, clientId: client }: UserPrincipal,
  id: string,
): Promise<void> {
  const removed = await removeSubscription(deps.database, userId, id, { login, client });
  if (!removed) throw missing();
  if (removed.noticed) await wakeOutbox(deps);
}

/** Sends a test, also to an address that is paused. @throws RelayError KIND_NOT_CONFIGURED, SUBSCRIPTION_NOT_FOUND */
export async function testAddress({ database }: Operations, push: Push, userId: string, id: string): Promise<string> {
  const room = requireRoom(push);
  await readAddress(database, userId, id);
  const deliveryId = await addTestDelivery(database, userId, id, ttlMs.test);
  room.wake();
  return deliveryId;
}

/** @throws RelayError KIND_NOT_CONFIGURED if it is not a webhook, SUBSCRIPTION_NOT_FOUND, SIGN_IN_NOT_RECENT */
export async function rotateSecret(
  deps: Operations,
  push: Push,
  principal: UserPrincipal,
  id: string,
): Promise<string> {
  const { database } = deps;
  const { userId } = principal;
  const room = requireRoom(push);
  const { sealed } = await readAddress(database, userId, id);
  const target = room.seal.open(sealed) as Target | undefined;
  if (target?.kind !== 'webhook')
    throw new RelayError('KIND_NOT_CONFIGURED', 'Only webhooks have a secret, and this address is not one.');
  await requireRecentSignIn(deps, principal);
  const secret = newSecret();
  const before = { secret: target.secret, until: Date.now() + previousSecretMs };
  const next: WebhookTarget = { ...target, secret, before };
  if (!(await changeSubscription(database, userId, id, { sealed: room.seal.seal(next) }))) throw missing();
  return secret;
}
