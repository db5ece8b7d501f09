/**
 * Outbox → transports (rules, 14.5). A notification is taken by one instance, sent, and marked. A notification that
 * its instance did not finish is taken again after a minute, a question after ten seconds: better twice than never, and only after a crash.
 */
import { type DueNotification, type Database, claimNotifications, finishNotification } from '@relay/database';
import { decodeControl } from '@relay/protocol';
import type { Shared } from '@relay/backplane';
import type { Logger } from '@relay/telemetry';
import { type Pace, createPace } from './pace.ts';

/**
 * Carries notifications to people. Resolves when delivered, or if the person has no address; a rejection or a time-out is tried
 * again.
 */
export interface Transport {
  readonly name: string;
  send(notification: DueNotification): Promise<void | 'unaddressed'>;
}

/** Writes them into the log, without the text of any message. */
export const logTransport = (logger: Logger): Transport => ({
  name: 'log',
  send: ({ id, userId, sessionId, deviceId, cause }) => {
    logger.info({ notificationId: id, userId, sessionId, deviceId, cause }, 'notification');
    return Promise.resolve();
  },
});

/** The number of notifications in delivery at a time: a flood of them leaves most connections to the database to requests. */
const maxInFlight = 4;
/** At this few left, one statement claims the next ones. */
const refillAt = maxInFlight / 2;
/** Another instance claims a question after 10 s, and anything else after 60 s (rules, 14.5). */
const questionTimeoutMs = 8000;
const maxAttempts = 5;

interface OutboxDeps {
  database: Database;
  backplane: Pick<Shared, 'onControl'>;
  logger: Logger;
  /** The interval between two passes when nothing wakes it, and the pause before a failed one is tried again. */
  pollMs: number;
  /** The time limit of a transport. Default 15 s. */
  sendTimeoutMs?: number;
  /** The share of the time that deliveries take. Default: a ninth (pace.ts). */
  pace?: Pace;
  transports: readonly Transport[];
}

interface Outbox {
  /** Looks for notifications at once. Returns false if too many are in delivery to take more. */
  wake(): boolean;
  /** Resolves when nothing is under way; deliveries that a transport has not finished are left to other instances. */
  stop(): Promise<void>;
}

export function startOutbox(deps: OutboxDeps): Outbox {
  const { database, backplane, logger, transports, sendTimeoutMs = 15_000 } = deps;
  const pace = deps.pace ?? createPace({ parallel: maxInFlight });
  const inFlight = new Set<Promise<void>>();
  const stopping = new AbortController();
  let running = false;
  let pass = Promise.resolve();
  let again = false;
  /** After the last claim, more might be due. */
  let more = false;
  /** The last person of the last claim. */
  let afterUser = '';

  const send = async (transport: Transport, notification: DueNotification) => {
    let giveUp: () => void = () => undefined;
    const withinMs = notification.cause === 'needs_you' ? Math.min(questionTimeoutMs, sendTimeoutMs) : sendTimeoutMs;
    const tooLate = new Promise<never>((_, reject) => {
      giveUp = () => reject(new Error(`${transport.name} was not done with it in ${withinMs} ms`));
    });
    const timer = setTimeout(giveUp, withinMs);
    stopping.signal.addEventListener('abort', giveUp);
    try {
      return await Promise.race([transport.send(notification), tooLate]);
    } finally {
      clearTimeout(timer);
      stopping.signal.removeEventListener('abort', giveUp);
    }
  };

  const deliver = async (notification: DueNotification) => {
    const results = await Promise.allSettled(transports.map((transport) => send(transport, notification)));
    const sent = results.every((result) => result.status === 'fulfilled');
    if (!sent && stopping.signal.aborted) return;
    for (const result of results) {
      if (result.status === 'rejected')
        logger.warn(
          { err: result.reason as unknown, notificationId: notification.id },
          'a notification was not delivered',
        );
    }
    const addressed = results.every((result) => result.status === 'rejected' || result.value !== 'unaddressed');
    const outcome = !sent ? 'failed' : addressed ? 'sent' : 'unaddressed';
    await finishNotification(database, notification.id, outcome, maxAttempts).catch((error: unknown) =>
      logger.warn({ err: error, notificationId: notification.id }, 'what became of a notification was not noted'),
    );
  };

  const claimAll = async () => {
    let goesRound: boolean;
    do {
      again = false;
      const room = maxInFlight - inFlight.size;
      if (room <= 0) return;
      const from = afterUser;
      const claim = { limit: room, afterUser, pauseMs: deps.pollMs };
      const { due, next, more: isMore } = await pace.spend(() => claimNotifications(database, claim));
      [afterUser, more] = [next, isMore];
      goesRound = next === '' && from !== '';
      for (const notification of due) {
        const delivery = pace
          .spend(() => deliver(notification))
          .finally(() => {
            inFlight.delete(delivery);
            if (more && inFlight.size <= refillAt) wake();
          });
        inFlight.add(delivery);
      }
      await pace.rest(stopping.signal);
    } while ((again || goesRound) && !stopping.signal.aborted);
  };

  const run = async () => {
    running = true;
    try {
      await claimAll();
    } catch (error) {
      logger.warn({ err: error }, 'the outbox could not be read');
    }
    running = false;
  };

  const wake = () => {
    if (stopping.signal.aborted) return;
    again = true;
    if (!running) pass = run();
  };

  backplane.onControl((body) => {
    if (decodeControl(body)?.kind === 'outbox') wake();
  });
  const timer = setInterval(wake, deps.pollMs);
  timer.unref();

  return {
    wake: () => {
      if (stopping.signal.aborted || inFlight.size >= maxInFlight) return false;
      wake();
      return true;
    },
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await pass;
      await Promise.all(inFlight);
    },
  };
}
