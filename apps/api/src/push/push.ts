/** Opens everything for delivering to addresses, once per instance. The room is undefined without a secret to seal with. */
import { isContact } from '@relay/config';
import { type ClaimedDelivery, createLane, gatherDigest, inboxCounts, splitNotification } from '@relay/database';
import type { DeliveryCause, SubscriptionKind } from '@relay/protocol';
import type { ApiDeps } from '../deps.ts';
import type { Transport } from '../notify/outbox.ts';
import { isShown } from '../attention/focus.ts';
import { type AnswerTokens, createAnswerTokens } from './answer-tokens.ts';
import { startDeliveries } from './deliveries.ts';
import { type Guard, createGuard } from './guard.ts';
import { startReseal } from './reseal.ts';
import { type Seal, createSeal } from './sealed.ts';
import { createPoster } from './post.ts';
import { createScreens } from './screens.ts';
import { createSender } from './sender.ts';
import { openServices } from './services.ts';
import { type VapidKeys, openVapidKeys } from './vapid.ts';
import { mayWaitForReading, verdictOf } from './verdict.ts';

export interface PushRoom {
  seal: Seal;
  guard: Guard;
  /** The keys for push services of browsers; undefined when they cannot be opened. `wanted`: a public half that should be among them. */
  vapid(wanted?: string): Promise<VapidKeys | undefined>;
  answers: AnswerTokens;
  /** Call it when a delivery might be due. */
  wake(): void;
}

export interface Push {
  /** Undefined if this relay lacks a secret. */
  room: PushRoom | undefined;
  /** Split notifications into deliveries. */
  transports: readonly Transport[];
  kinds(): Promise<SubscriptionKind[]>;
  stop(): Promise<void>;
}

const hourMs = 3600_000;
/** Older deliveries are out of date. */
export const ttlMs: Record<DeliveryCause, number> = {
  needs_you: 24 * hourMs,
  failed: 12 * hourMs,
  unknown: 12 * hourMs,
  done: 4 * hourMs,
  device_conflict: 12 * hourMs,
  device_allowed: 12 * hourMs,
  program_allowed: 12 * hourMs,
  account_changed: 12 * hourMs,
  test: 60_000,
};

/**
 * Longer than a rollout takes: an instance that knows only the older secret would pause an address that it cannot open, and until it leaves
 * it seals with that secret.
 */
const rolledOutMs = hourMs;

export function openPush(
  deps: Pick<ApiDeps, 'backplane' | 'config' | 'database' | 'logger' | 'metrics'>,
  resealAfterMs = rolledOutMs,
): Push {
  const { config, database, logger } = deps;
  if (config.pushSecret.length === 0)
    return { room: undefined, transports: [], kinds: () => Promise.resolve([]), stop: () => Promise.resolve() };
  const seal = createSeal(config.pushSecret);
  const guard = createGuard(config.pushAllowedHosts);
  const contact = config.pushContact ?? (isContact(config.publicUrl) ? config.publicUrl : undefined);
  const open = createPoster(undefined);
  const poster = createPoster(guard);
  const services = openServices(config, open, contact);
  const vapid = services.vapid
    ? () => Promise.resolve(services.vapid)
    : lazyVapid(() => openVapidKeys(database, seal, contact), logger);
  const { publicUrl, outboxPollMs: pollMs } = config;
  const answers = createAnswerTokens({ database, seal, publicUrl });
  const { fcm, apns } = services;
  const gather = (delivery: ClaimedDelivery) => gatherDigest(database, delivery);
  const counting = createLane();
  const waiting = async (userId: string) => {
    const { version, counts } = await counting(() => inboxCounts(database, userId));
    return { count: counts.badge, version };
  };
  const sender = createSender({ seal, guard, poster, vapid, fcm, apns, answers, gather, waiting, publicUrl });
  const cut = () => {
    for (const one of [open, poster, apns]) one?.close();
  };
  const screens = createScreens({ database, seal, guard, poster });
  const deliveries = startDeliveries({ ...deps, sender, screens, cut, pollMs });
  const resealing = config.pushSecret.length > 1 ? startReseal({ database, logger, seal }, resealAfterMs) : undefined;
  const room: PushRoom = { seal, guard, vapid, answers, wake: () => deliveries.wake() };
  const withoutBrowsers: readonly SubscriptionKind[] = [
    'ntfy',
    'webhook',
    ...(fcm ? ['fcm' as const] : []),
    ...(apns ? ['apns' as const] : []),
  ];
  return {
    room,
    transports: [splitTransport(deps, room)],
    kinds: async () => [
      ...withoutBrowsers,
      ...((await vapid()) === undefined ? [] : (['webpush', 'unifiedpush'] as const)),
    ],
    stop: async () => {
      await Promise.all([resealing?.stop(), deliveries.stop()]);
    },
  };
}

/** Writes a delivery with its verdict for each address. The ledger has them then, so the notification counts as sent. */
const splitTransport = (
  { database, backplane, logger }: Pick<ApiDeps, 'backplane' | 'database' | 'logger'>,
  room: PushRoom,
): Transport => ({
  name: 'addresses',
  send: async (notification) => {
    const { userId, sessionId, cause } = notification;
    const shown =
      mayWaitForReading(cause) &&
      (await isShown(backplane, userId, sessionId).catch((error: unknown) => {
        logger.debug({ err: error }, 'the backplane did not return the sessions that apps show');
        return false;
      }));
    const judge = verdictOf(cause, { shown, now: Date.now() });
    const split = await splitNotification(database, notification, ttlMs[cause], judge);
    if (split === undefined) return 'unaddressed';
    // A delivery that waits for seconds is not left to the next pass.
    for (const waitMs of new Set(split.waitsMs.filter((ms) => ms < soonMs)))
      setTimeout(() => room.wake(), waitMs).unref();
  },
});
const soonMs = 10_000;

/** Another instance might have rotated them. */
const vapidCacheMs = 60_000;

/** Read at the first need, so that an api starts without its database, and again after a minute; a failed read is repeated at the next need. */
function lazyVapid(open: () => Promise<VapidKeys | undefined>, logger: ApiDeps['logger']) {
  let opened: { keys: Promise<VapidKeys | undefined>; at: number } | undefined;
  const read = () => {
    if (opened !== undefined && Date.now() - opened.at < vapidCacheMs) return opened.keys;
    const keys = open().then(
      (found) => {
        if (found === undefined)
          logger.error('PUSH_SECRET does not open the key for push services: browsers are not notified. Restore it');
        return found;
      },
      (error: unknown) => {
        opened = undefined;
        throw error;
      },
    );
    opened = { keys, at: Date.now() };
    return keys;
  };
  return async (wanted?: string) => {
    const keys = await read();
    if (wanted === undefined || keys === undefined || keys.find(wanted) !== undefined) return keys;
    // Another instance might have rotated them within the minute.
    opened = undefined;
    return read();
  };
}
