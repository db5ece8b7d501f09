// Plain answers: the same body from `node:http`, from express, and from express with a limiter, without a relay.
import { fileURLToPath } from 'node:url';
import { startRedis } from '@relay/testing/redis';
import { start } from '../process.mjs';

export async function startPlain(body) {
  const file = fileURLToPath(new URL('../rivals/plain.mjs', import.meta.url));
  const all = [];
  for (const [name, how, isLimited] of [
    ['node:http', 'http'],
    ['express', 'express'],
    ['express, limiter', 'express', true],
  ]) {
    const redis = isLimited ? await startRedis() : undefined;
    const child = await start(file, {
      env: {
        PATH: process.env.PATH,
        HOW: how,
        BODY: JSON.stringify(body),
        ...(redis ? { REDIS_URL: redis.url } : {}),
      },
      port: (said) => /listening on (\d+)/.exec(said)?.[1],
    });
    const redisPid = Number(/process_id:(\d+)/.exec((await redis?.command('INFO', 'server')) ?? '')?.[1]);
    const system = {
      name,
      dialect: 'relay',
      people: [{ token: 'none' }],
      groups: async () => ({ pods: [child.pid], redis: redis ? [redisPid] : [], database: [] }),
      apps: () => [child.ws],
      daemons: () => [child.ws],
      http: () => [child.url],
      stop: async () => {
        await child.stop();
        await redis?.stop();
      },
    };
    all.push({ name, system });
  }
  return all;
}
