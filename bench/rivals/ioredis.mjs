// The Redis client, in the version that the relay itself uses.
import { createRequire } from 'node:module';

const { Redis } = createRequire(new URL('../../packages/backplane/package.json', import.meta.url))('ioredis');

export const connectRedis = (url) => new Redis(url, { enableOfflineQueue: true });
