/**
 * Outbox → transports (contract §8). A notification is taken by one instance, sent, and marked. What an instance took and did
 * not finish is taken again after a minute: better twice than never, and only after a crash.
 */
import { type DueNotification, type Database, claimNotifications, finishNotification } from '@relay/database';
import { decodeControl } from '@relay/protocol';
import type { Backplane } from '@relay/backplane';
import type { Logger } from '@relay/telemetry';

/** Carries notifications to people. Resolves when it is delivered; a rejection is tried again. */
export interface Transport {
  readonly name: string;
  send(notification: DueNotification): Promise<void>;
}

/** Writes them into the log, without the text of any message. */
export const logTransport = (logger: Logger): Transport => ({
  name: 'log',
  send: ({ id, userId, sessionId, cause }) => {
    logger.info({ notificationId: id, userId, sessionId, cause }, 'notification');
    return Promise.resolve();
  },
});

const batch = 50;
const retryMs = 60_000;
const maxAttempts = 5;

export function startOutbox(deps: {
  database: Database;
  backplane: Backplane;
  logger: Logger;
  pollMs: number;
  transports: readonly Transport[];
}): { stop(): Promise<void> } {
  const { database, backplane, logger, transports } = deps;
  let stopped = false;
  let running: Promise<void> | undefined;
  let again = false;

  const deliver = async (notification: DueNotification) => {
    const results = await Promise.allSettled(transports.map((transport) => transport.send(notification)));
    for (const result of results) {
      if (result.status === 'rejected')
        logger.warn(
          { err: result.reason as unknown, notificationId: notification.id },
          'a notification was not delivered',
        );
    }
    await finishNotification(
      database.prisma,
      notification.id,
      results.every((result) => result.status === 'fulfilled'),
      maxAttempts,
    );
  };

  const run = async () => {
    do {
      again = false;
      for (const notification of await claimNotifications(database.prisma, batch, retryMs)) {
        await deliver(notification);
        again = true;
      }
    } while (again && !stopped);
  };

  const wake = () => {
    if (stopped) return;
    again = true;
    running ??= run()
      .catch((error: unknown) => logger.warn({ err: error }, 'the outbox could not be read'))
      .finally(() => (running = undefined));
  };

  backplane.onControl((body) => {
    if (decodeControl(body)?.kind === 'outbox') wake();
  });
  const timer = setInterval(wake, deps.pollMs);
  timer.unref();

  return {
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
