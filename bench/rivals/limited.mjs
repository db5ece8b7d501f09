// Bare express as the relay uses it, with the usual limit of a public service before its routes: per client, counted in
// Redis.
import { createRequire } from 'node:module';
import { connectRedis } from './ioredis.mjs';

const require = createRequire(new URL('../../apps/api/package.json', import.meta.url));
const express = require('express');
const { RateLimiterRedis } = require('rate-limiter-flexible');

/** An express without routes; with `redisUrl`, requests are counted there, against a limit that no suite reaches. */
export function bareExpress(redisUrl) {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  if (redisUrl === undefined) return app;
  const storeClient = connectRedis(redisUrl);
  const limiter = new RateLimiterRedis({ storeClient, points: 1_000_000, duration: 60 });
  app.use((request, response, next) => {
    limiter.consume(request.ip).then(
      () => next(),
      () => response.status(429).end(),
    );
  });
  return app;
}
