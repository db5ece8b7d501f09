/**
 * Sends what the ledger has due (rules, 14.8). Every instance claims, sends and settles on its own; a claim that its instance does not settle
 * is taken over by another after a minute.
 */
import { randomUUID } from 'node:crypto';
import {
  type ClaimedDelivery,
  type Database,
  type DeliveryOutcome,
  claimDeliveries,
  gatherDigest,
  deliveryLag,
  isUnavailable,
  settleDelivery,
  sweepDeliveries,
} from '@relay/database';
import type { Logger, Metrics } from '@relay/telemetry';
import type { AnswerTokens } from './answer-tokens.ts';
import { type CarrierContext, type Target, addressOf, requestOf } from './carriers.ts';
import type { Guard } from './guard.ts';
import { messageOf } from './message.ts';
import { digestOf } from './digest.ts';
import { handedOn, outcomeOf, outcomeOfError, skippedOf } from './outcome.ts';
import { withAnswers } from './offered.ts';
import { createPoster } from './post.ts';
import type { Seal } from './sealed.ts';
import type { Vapid } from './vapid.ts';

const maxInFlight = 100;
/** How long a stop waits for answers. Another instance takes over the claims that are not settled then. */
const lastAnswersMs = 3000;

export interface DeliveriesDeps {
  database: Database;
  logger: Logger;
  metrics: Metrics;
  seal: Seal;
  guard: Guard;
  vapid(): Promise<Vapid | undefined>;
  answers: AnswerTokens;
  publicUrl: string;
  /** Between two passes when nothing wakes it. */
  pollMs: number;
}

export interface Deliveries {
  /** There may be something to send. */
  wake(): void;
  stop(): Promise<void>;
}

export function startDeliveries(deps: DeliveriesDeps): Deliveries {
  const { database, logger, metrics, seal, guard } = deps;
  const counted = metrics.counter(
    'relay_push_deliveries_total',
    'Deliveries to addresses of people, by kind and outcome',
    ['kind', 'outcome'],
  );
  const duplicates = metrics.counter(
    'relay_push_duplicates_total',
    'Deliveries taken over from an instance that ended',
    [],
  );
  const oldest = metrics.gauge(
    'relay_push_oldest_due_seconds',
    'How long the delivery that is due longest has been due',
  );
  const claimer = randomUUID();
  const poster = createPoster(guard);
  const inFlight = new Set<Promise<void>>();
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let again = false;
  let afterUser = '';

  const send = async (delivery: ClaimedDelivery): Promise<DeliveryOutcome | undefined> => {
    const skipped = skippedOf(delivery, Date.now());
    if (skipped) return skipped;
    const target = seal.open(delivery.sealed) as Target | undefined;
    if (target === undefined) {
      const reason = 'The relay can no longer read this address. Add it again.';
      return { state: 'failed', reason, pause: reason };
    }
    const checked = guard.check(addressOf(target));
    if ('why' in checked) return { state: 'failed', reason: checked.why, pause: checked.why };
    const vapid = target.kind === 'webpush' ? await deps.vapid() : undefined;
    if (target.kind === 'webpush' && vapid === undefined)
      return { state: 'failed', reason: 'This relay lost its key for push services. Subscribe again.' };
    const context: CarrierContext = { publicUrl: deps.publicUrl, vapid, now: Date.now };
    const others = delivery.isDigest ? await gatherDigest(database, delivery) : [];
    let request;
    try {
      const alone = messageOf(delivery, deps.publicUrl);
      // A message about many answers none of them.
      const message =
        others.length > 0
          ? digestOf(alone, others, delivery, deps.publicUrl)
          : await withAnswers(alone, delivery, deps.answers);
      request = requestOf(target, message, delivery, context);
    } catch (error) {
      if (isUnavailable(error)) return outcomeOfError(error, delivery.attempts);
      const reason = 'The keys of this browser are not valid. Subscribe again.';
      return { state: 'failed', reason, pause: reason };
    }
    try {
      return outcomeOf(await poster.post(request), delivery);
    } catch (error) {
      // It may have arrived: another instance finds the claim and marks it.
      return stopping.signal.aborted ? undefined : outcomeOfError(error, delivery.attempts);
    }
  };

  const deliver = async (delivery: ClaimedDelivery) => {
    const answer = await send(delivery);
    if (answer === undefined) return;
    const outcome = handedOn(answer, delivery);
    const settled = await settleDelivery(database, delivery, claimer, outcome);
    if (delivery.hasNext) look();
    const { id, kind, cause } = delivery;
    counted.inc({ kind, outcome: settled ? outcome.state : 'unknown' });
    logger.debug({ deliveryId: id, kind, cause, ...outcome, settled }, 'delivery');
  };

  const pass = async () => {
    do {
      again = false;
      const room = maxInFlight - inFlight.size;
      if (room <= 0) return;
      const claimed = await claimDeliveries(database, { limit: room, claimer, afterUser });
      if (afterUser !== '' && claimed.length < room) again = true;
      afterUser = claimed.length < room ? '' : claimed.at(-1)!.userId;
      for (const delivery of claimed) {
        const work = deliver(delivery)
          .catch((error: unknown) =>
            logger.warn({ err: error, deliveryId: delivery.id }, 'a delivery could not be settled'),
          )
          .finally(() => {
            inFlight.delete(work);
            // The next one to the same address waits for this one.
            wake();
          });
        inFlight.add(work);
      }
    } while (again && !stopping.signal.aborted);
  };
  const wake = () => {
    if (stopping.signal.aborted) return;
    again = true;
    running ??= pass()
      .catch((error: unknown) => {
        again = false;
        logger.warn({ err: error }, 'the ledger of deliveries could not be read');
      })
      .finally(() => {
        running = undefined;
        if (again && inFlight.size < maxInFlight) wake();
      });
  };
  let sweeping: Promise<void> | undefined;
  const sweep = async () => {
    const takenOver = await sweepDeliveries(database);
    if (takenOver > 0) duplicates.inc({}, takenOver);
    oldest.set(await deliveryLag(database));
    wake();
  };
  const look = () => {
    sweeping ??= sweep()
      .catch((error: unknown) => logger.debug({ err: error }, 'the ledger of deliveries could not be swept'))
      .finally(() => (sweeping = undefined));
  };
  const timer = setInterval(look, deps.pollMs);
  timer.unref();
  look();

  return {
    wake,
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await sweeping;
      await running;
      const clock = setTimeout(() => poster.close(), lastAnswersMs);
      await Promise.all(inFlight);
      clearTimeout(clock);
      poster.close();
    },
  };
}
