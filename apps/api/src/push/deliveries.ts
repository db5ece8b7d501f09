/**
 * Sends due deliveries of the ledger (rules, 14.8). Every instance claims, sends and settles on its own; another instance takes
 * over an unsettled claim after a minute, for a question after ten seconds.
 */
import { randomUUID } from 'node:crypto';
import {
  type ClaimedDelivery,
  type Database,
  claimDeliveries,
  createLane,
  deliveryLag,
  renewClaims,
  settleDelivery,
  sweepDeliveries,
} from '@relay/database';
import type { Logger, Metrics } from '@relay/telemetry';
import { createPace } from '../notify/pace.ts';
import { handedOn } from './outcome.ts';
import { pushMetrics } from './metrics.ts';
import type { Screens } from './screens.ts';
import type { Sender } from './sender.ts';

const maxInFlight = 100;
const maxPerHost = 20;
/** A host with this many deliveries in progress waits, so that a claim does not select single rows. */
const fullAt = 16;
/** A claim lasts a minute, and two requests of 15 s each can follow. A question has 10 s, renewed during its attempt. */
const sendWithinMs = 25_000;
const questionWithinMs = 5000;
const renewMs = 3000;
/** How long a stop waits for answers. Another instance takes over the claims that are not settled then. */
const lastAnswersMs = 3000;

interface DeliveriesDeps {
  database: Database;
  logger: Logger;
  metrics: Metrics;
  sender: Sender;
  screens: Screens;
  /** Closes every connection, and with it the attempts in progress. */
  cut: () => void;
  /** Between two passes when nothing wakes it. */
  pollMs: number;
}

interface Deliveries {
  /** Call it when a delivery might be due. */
  wake(): void;
  stop(): Promise<void>;
}

export function startDeliveries(deps: DeliveriesDeps): Deliveries {
  const { database, logger, metrics, sender, screens, cut } = deps;
  const counters = pushMetrics(metrics, database, logger);
  const claimer = randomUUID();
  // Services answer many at a time.
  const settling = createLane();
  const pace = createPace();
  const inFlight = new Set<Promise<void>>();
  const perHost = new Map<string, number>();
  /** Ids of the questions whose attempts are under way. */
  const questions = new Set<string>();
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let again = false;
  let afterUser = '';
  /** The same place in the search for people of other hosts while one is full, and whether that search has reached the last person since the last sweep. */
  let afterOther = '';
  let othersSearched = false;
  let isCut = false;

  const deliver = async (delivery: ClaimedDelivery, claimedAt: number) => {
    // This process was stopped: another instance might have taken over the claim before the answer arrives.
    const withinMs = delivery.cause === 'needs_you' ? questionWithinMs : sendWithinMs;
    if (performance.now() - claimedAt > withinMs) return;
    if (delivery.cause === 'needs_you') questions.add(delivery.id);
    const outcome = handedOn(await sender.send(delivery).finally(() => questions.delete(delivery.id)), delivery);
    // If our own stop cut it, it might have arrived: another instance finds the claim and marks it.
    if (isCut && outcome.state === 'pending') return;
    const settled = await settling(() => pace.spend(() => settleDelivery(database, delivery, claimer, outcome)));
    if (delivery.hasNext) look();
    if (settled && outcome.state === 'accepted') screens.shown(delivery);
    const { id, kind, cause } = delivery;
    counters.settled(delivery, outcome, settled);
    logger.debug({ deliveryId: id, kind, cause, ...outcome, settled }, 'delivery');
  };

  /** Hosts whose deliveries in progress could exceed the limit with another claim. */
  const fullHosts = () => [...perHost].filter(([, count]) => count >= fullAt).map(([host]) => host);
  /** The number that surely fits: all of them could go to the busiest of the hosts with room. */
  const roomNow = () => {
    const busiest = Math.max(0, ...[...perHost.values()].filter((count) => count < fullAt));
    return Math.min(maxInFlight - inFlight.size, maxPerHost - busiest);
  };
  const begin = (delivery: ClaimedDelivery, claimedAt: number) => {
    const { host } = delivery;
    perHost.set(host, (perHost.get(host) ?? 0) + 1);
    const work = deliver(delivery, claimedAt)
      .catch((error: unknown) =>
        logger.warn({ err: error, deliveryId: delivery.id }, 'a delivery could not be settled'),
      )
      .finally(() => {
        inFlight.delete(work);
        const left = perHost.get(host)! - 1;
        if (left === 0) perHost.delete(host);
        else perHost.set(host, left);
        // The next one to the same address or host waits for this one.
        wake();
      });
    inFlight.add(work);
  };

  /**
   * Continues after the last person of the previous pass, then once round all people; or until nothing more fits. While a host is
   * full, its people keep their place: people of other hosts are searched separately, a part of them at a time, and once between
   * two sweeps.
   */
  const pass = async () => {
    let rounds = afterUser === '' ? 1 : 2;
    again = false;
    while (!stopping.signal.aborted) {
      const limit = roomNow();
      const full = fullHosts();
      if (limit <= 0 || (full.length > 0 && othersSearched)) return;
      const claimedAt = performance.now();
      const from = full.length > 0 ? afterOther : afterUser;
      const { claimed, next } = await pace.spend(() =>
        claimDeliveries(database, { limit, claimer, afterUser: from, withoutHosts: full }),
      );
      for (const delivery of claimed) begin(delivery, claimedAt);
      if (full.length > 0) {
        afterOther = next;
        othersSearched = next === '';
        again ||= !othersSearched;
        return;
      }
      afterUser = next;
      if (next === '' && (rounds -= 1) === 0) return;
    }
  };
  const wake = () => {
    if (stopping.signal.aborted) return;
    again = true;
    running ??= pass()
      .catch((error: unknown) => {
        again = false;
        logger.warn({ err: error }, 'the ledger of deliveries could not be read');
      })
      .then(() => pace.rest(stopping.signal))
      .finally(() => {
        running = undefined;
        if (again && roomNow() > 0) wake();
      });
  };
  let sweeping: Promise<void> | undefined;
  const sweep = async () => {
    const takenOver = await sweepDeliveries(database);
    counters.swept(takenOver, await deliveryLag(database));
    othersSearched = false;
    wake();
    screens.clear().catch((error: unknown) => logger.debug({ err: error }, 'nothing was cleared from screens'));
  };
  const look = () => {
    sweeping ??= sweep()
      .catch((error: unknown) => logger.debug({ err: error }, 'the ledger of deliveries could not be swept'))
      .finally(() => (sweeping = undefined));
  };
  const renew = () => {
    if (questions.size === 0) return;
    renewClaims(database, claimer, [...questions]).catch((error: unknown) =>
      logger.warn({ err: error }, 'claims of questions could not be renewed'),
    );
  };
  const timers = [setInterval(look, deps.pollMs), setInterval(renew, renewMs)];
  for (const timer of timers) timer.unref();
  look();

  return {
    wake,
    stop: async () => {
      clearInterval(timers[0]);
      stopping.abort();
      await sweeping;
      await running;
      const clock = setTimeout(() => {
        isCut = true;
        cut();
      }, lastAnswersMs);
      await Promise.all(inFlight);
      clearInterval(timers[1]);
      clearTimeout(clock);
      cut();
    },
  };
}
