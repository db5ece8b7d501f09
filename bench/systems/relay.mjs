// The relay as it is deployed: api and gateway processes of the built programs on Redis and PostgreSQL, and the single process.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '@relay/database';
import { startIssuer, startPostgres } from '@relay/testing';
import { startRedis } from '@relay/testing/redis';
import { start } from '../process.mjs';
import { registerPeople } from './people.mjs';

const here = fileURLToPath(new URL('../..', import.meta.url));
const main = (role, build = here) => join(build, 'apps', role, 'dist/main.js');
const asker = fileURLToPath(new URL('../rivals/asker.mjs', import.meta.url));
const gc = ['--expose-gc', '--import', new URL('../observer.mjs', import.meta.url).href];
/** `weighed`: reports its memory on request; `profile`: writes a processor profile into this folder on exit. */
const argumentsOf = ({ weighed, profile }) => [
  ...(weighed ? gc : []),
  ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
];
const publicUrl = 'https://relay.test';
const listening = (said) => /listening on [^\s]*:(\d+)\)/.exec(said)?.[1];

/** Limits that most suites would run into. */
const raisedLimits = {
  RATE_LIMIT_PER_MINUTE: '1000000',
  SOCKETS_PER_USER: '100000',
  DEVICES_PER_USER: '1000',
  SESSION_CREATE_PER_MINUTE: '1000000',
  FRAMES_PER_SECOND: '1000000',
  FRAME_BURST: '1000000',
};

/**
 * Everything as shipped except the limits, unless `shippedLimits`. A daemon receives its version, so that it knows that
 * it was accepted.
 */
const environment = (issuer, shippedLimits) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  HOST: '127.0.0.1',
  PORT: '0',
  METRICS_PORT: '0',
  PUBLIC_URL: publicUrl,
  AUTH_BUILTIN: 'off',
  AUTH_ISSUERS: JSON.stringify([issuer.config]),
  DAEMON_VERSIONS: JSON.stringify({ bench: { latest: '1.0.0' } }),
  DRAIN_SECONDS: '0',
  LOG_LEVEL: 'warn',
  ...(shippedLimits ? {} : raisedLimits),
});

/**
 * Starts `apis` and `gateways` processes with `people` registered users. `more(role)` starts another process, `ask()`
 * an instance that only sends requests. `env`: further variables of the instances. `build`: the folder of another built
 * revision. `stop` stops everything.
 */
export async function startInstances({
  apis = 1,
  gateways = 1,
  people: count,
  moreOfFirst,
  shippedLimits = false,
  weighed = false,
  profile,
  env: given = {},
  build,
}) {
  const stops = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    stops.push(
      () => postgres.stop(),
      () => redis.stop(),
    );
    const issuer = await startIssuer(`${publicUrl}/api`);
    stops.push(() => issuer.close());
    const url = await postgres.createDatabase();
    const where = { url, ...(build === undefined ? {} : { migrationsDir: join(build, 'prisma/migrations') }) };
    const people = await registerPeople(where, issuer, count, moreOfFirst);
    const env = { ...environment(issuer, shippedLimits), DATABASE_URL: url, REDIS_URL: redis.url, ...given };
    const launch = async (role, metricsPort = 0, port = 0) => {
      const child = await start(main(role, build), {
        env: { ...env, INSTANCE_NAME: role, METRICS_PORT: String(metricsPort), PORT: String(port) },
        execArgv: argumentsOf({ weighed, profile }),
        port: listening,
      });
      stops.push(() => child.stop());
      return child;
    };
    const running = { apis: [], gateways: [] };
    for (let n = 0; n < apis; n += 1) running.apis.push(await launch('api'));
    for (let n = 0; n < gateways; n += 1) running.gateways.push(await launch('gateway'));
    const database = await openDatabase(where);
    stops.push(() => database.close());
    return {
      name: 'relay',
      dialect: 'relay',
      people,
      redis,
      database,
      databaseUrl: url,
      appSide: running.apis,
      daemonSide: running.gateways,
      /** Processes by kind. Connections to PostgreSQL are processes too. */
      groups: async () => ({
        pods: [...running.apis, ...running.gateways].map(({ pid }) => pid),
        redis: [Number(/process_id:(\d+)/.exec(await redis.command('INFO', 'server'))[1])],
        database: (await database.sql.query`SELECT pid FROM pg_stat_activity`).map(({ pid }) => pid),
      }),
      apps: () => running.apis.map(({ ws }) => ws),
      daemons: () => running.gateways.map(({ ws }) => ws),
      http: () => running.apis.map(({ url }) => url),
      launch,
      more: async (role) => {
        const child = await launch(role);
        running[`${role}s`].push(child);
        return child;
      },
      startAsker: async () => {
        const child = await start(asker, {
          env: { PATH: process.env.PATH, REDIS_URL: redis.url },
          execArgv: argumentsOf({ profile }),
          port: (said) => /listening on (\d+)/.exec(said)?.[1],
        });
        stops.push(() => child.stop());
        return child;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** One process with the embedded database in `dataDir`. */
export async function startSingle({
  people: count,
  moreOfFirst,
  dataDir,
  shippedLimits = false,
  weighed = false,
  profile,
}) {
  const issuer = await startIssuer(`${publicUrl}/api`);
  try {
    const people = await registerPeople({ dataDir }, issuer, count, moreOfFirst);
    const child = await start(main('standalone'), {
      env: { ...environment(issuer, shippedLimits), DATA_DIR: dataDir },
      execArgv: argumentsOf({ weighed, profile }),
      port: listening,
    });
    return {
      name: 'single',
      dialect: 'relay',
      people,
      appSide: [child],
      daemonSide: [child],
      groups: async () => ({ pods: [child.pid], redis: [], database: [] }),
      apps: () => [child.ws],
      daemons: () => [child.ws],
      http: () => [child.url],
      stop: async () => {
        await child.stop();
        await issuer.close();
      },
    };
  } catch (error) {
    await issuer.close();
    throw error;
  }
}
