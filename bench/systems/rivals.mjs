// The systems that the relay is compared with, in the same topology: instances of a program that checks nothing, and Redis.
import { fileURLToPath } from 'node:url';
import { startRedis } from '@relay/testing/redis';
import { start } from '../process.mjs';

const gc = ['--expose-gc', '--import', new URL('../observer.mjs', import.meta.url).href];

/**
 * `program` is `raw` or `socketio`; `http: 'express'` answers over HTTP by express with a limiter. The first `apis`
 * instances are for apps, the rest for daemons. `needs` names work of rivals/needs.mjs, such as `frames,ping`.
 */
export async function startRival(program, { apis = 1, gateways = 1, people: count, weighed = false, http, needs }) {
  const redis = await startRedis();
  const stops = [() => redis.stop()];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const launch = async () => {
      const child = await start(fileURLToPath(new URL(`../rivals/${program}.mjs`, import.meta.url)), {
        env: {
          PATH: process.env.PATH,
          REDIS_URL: redis.url,
          ...(http === undefined ? {} : { HTTP: http }),
          ...(needs === undefined ? {} : { NEEDS: needs }),
        },
        execArgv: weighed ? gc : [],
        port: (said) => /listening on (\d+)/.exec(said)?.[1],
      });
      stops.push(() => child.stop());
      return child;
    };
    const running = { apis: [], gateways: [] };
    for (let n = 0; n < apis; n += 1) running.apis.push(await launch());
    for (let n = 0; n < gateways; n += 1) running.gateways.push(await launch());
    const redisPid = Number(/process_id:(\d+)/.exec(await redis.command('INFO', 'server'))[1]);
    return {
      name: program,
      dialect: program,
      people: Array.from({ length: count }, (_, i) => ({ user: String(i) })),
      redis,
      appSide: running.apis,
      daemonSide: running.gateways,
      groups: async () => ({
        pods: [...running.apis, ...running.gateways].map(({ pid }) => pid),
        redis: [redisPid],
        database: [],
      }),
      apps: () => running.apis.map(({ ws }) => ws),
      daemons: () => running.gateways.map(({ ws }) => ws),
      http: () => running.apis.map(({ url }) => url),
      more: async (role) => {
        const child = await launch();
        running[`${role}s`].push(child);
        return child;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
