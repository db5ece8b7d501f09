// Plain answers: the same body from `node:http`, from express, and from express with a limiter, without a relay; and the
// floor, which looks the token up and reads the body from the relay's database.
import { fileURLToPath } from 'node:url';
import { startRedis } from '@relay/testing/redis';
import { start } from '../process.mjs';

/** The floor reads the database of `relay`. */
export async function startPlain(body, relay) {
  const file = fileURLToPath(new URL('../rivals/plain.mjs', import.meta.url));
  const all = [];
  const [{ owner }] = await relay.database.sql.query`SELECT owner_id AS owner FROM sessions LIMIT 1`;
  const backends = async () =>
    (await relay.database.sql.query`SELECT pid FROM pg_stat_activity WHERE application_name = 'floor'`).map(
      ({ pid }) => pid,
    );
  for (const [name, how, isLimited, reads = {}] of [
    ['node:http', 'http'],
    ['express', 'express'],
    ['express, limiter', 'express', true],
    ['floor', 'express', true, { DATABASE_URL: relay.databaseUrl, OWNER: owner }],
  ]) {
    const redis = isLimited ? await startRedis() : undefined;
    const child = await start(file, {
      env: {
        PATH: process.env.PATH,
        HOW: how,
        BODY: JSON.stringify(body),
        ...(redis ? { REDIS_URL: redis.url } : {}),
        ...reads,
      },
      port: (said) => /listening on (\d+)/.exec(said)?.[1],
    });
    const redisPid = Number(/process_id:(\d+)/.exec((await redis?.command('INFO', 'server')) ?? '')?.[1]);
    const system = {
      name,
      dialect: 'relay',
      people: [{ token: 'none' }],
      groups: async () => ({
        pods: [child.pid],
        redis: redis ? [redisPid] : [],
        database: reads.OWNER === undefined ? [] : await backends(),
      }),
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
