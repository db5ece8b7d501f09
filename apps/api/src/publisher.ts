/** How this process publishes frames to the apps of people. */
import { type Publisher, createPublisher } from '@relay/attention';
import { readSessions } from '@relay/database';
import type { IdentityDeps } from './identity/deps.ts';

export const publisherOf = ({ backplane, config, database, logger }: IdentityDeps): Publisher =>
  createPublisher({
    channel: backplane,
    windowMs: config.dedupeWindowMs,
    readSessions: (keys) => readSessions(database, keys),
    onError: (error) => logger.warn({ err: error }, 'a frame for apps could not be published'),
  });
