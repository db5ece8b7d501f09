/**
 * Publishes the inboxes that this process changed, and those of a process that stopped before it published them (rules,
 * 14.18).
 */
import { createInboxPublisher } from '@relay/attention';
import type { Backplane } from '@relay/backplane';
import { type Database, inboxNews, markInboxPublished, trimInbox, unpublishedInboxes } from '@relay/database';
import type { Logger, Metrics } from '@relay/telemetry';

interface InboxDeps {
  database: Database;
  backplane: Backplane;
  logger: Logger;
  metrics: Metrics;
  /** Looks after the inboxes of other processes too. */
  repairs: boolean;
}

/**
 * After this time an inbox counts as abandoned by its process: after two looks, within five seconds, it is published.
 */
const repairMs = 2_000;

/** `stop` resolves when nothing is under way. */
export function publishInboxes({ database, backplane, logger, metrics, repairs }: InboxDeps): {
  stop(): Promise<void>;
} {
  const seconds = metrics.histogram('relay_inbox_publish_seconds', 'Time to read and to publish the inbox of a person');
  const publisher = createInboxPublisher({
    channel: backplane,
    readNews: (userId) => inboxNews(database, userId),
    markPublished: (userId, version) => markInboxPublished(database, userId, version),
    trim: (userId) => trimInbox(database, userId),
    onError: (error) => logger.warn({ err: error }, 'an inbox could not be published'),
    onPublished: (took) => seconds.observe({}, took),
  });
  const unwatch = database.watchInboxes((userIds) => publisher.raised(userIds));
  let looking: Promise<void> | undefined;
  const look = () => {
    looking ??= unpublishedInboxes(database, repairMs)
      .then(
        (userIds) => publisher.raised(userIds),
        (error: unknown) => logger.debug({ err: error }, 'inboxes that were not published could not be read'),
      )
      .finally(() => (looking = undefined));
  };
  const timer = repairs ? setInterval(look, repairMs) : undefined;
  timer?.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      unwatch();
      await looking;
      await publisher.stop();
    },
  };
}
