/**
 * Drill: the operator rotates every secret of `relay-secrets` under load (docs/operations.md, "Secrets and rotation"). It prints its
 * time and the loss.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser, type Cluster, type HaProxy, type Instance, refresh, signedInCli, startCluster } from '@relay/testing';
import { throughHaproxy } from './doors.ts';
import { harmOf, unharmed } from './harm.ts';
import { loadTimes, startLoad } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';
import { type Database, openDatabase } from '@relay/database';

const publicUrl = 'https://relay.test';
/** The serial number of the certificate that a new connection gets. */
async function presented({ port, certificate }: HaProxy): Promise<string> {
  const socket = connect({ port, host: 'localhost', servername: 'localhost', ca: readFileSync(certificate) });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

const secret = (letter: string) => letter.repeat(40);
const [old, next] = [secret('o'), secret('n')];

describe('two apis and two gateways behind HAProxy, whose secrets change under load', () => {
  let cluster: Cluster;
  let truth: Truth;
  let database: Database;

  beforeAll(async () => {
    const env = { AUTH_BUILTIN: 'on', AUTH_SECRET: old, PUSH_SECRET: old, DRAIN_SECONDS: '5' };
    cluster = await startCluster({ apis: 2, gateways: 2, haproxy: true, env: { ...loadTimes, ...env } });
    truth = await openTruth(cluster);
    database = await openDatabase({ url: cluster.databaseUrl, poolSize: 1 });
  }, 180_000);
  afterAll(async () => {
    await database?.close();
    await truth?.close();
    await cluster?.stop();
  });

  it('answer every request, keep every sign-in, and then use only the new secrets', async () => {
    const browser = new Browser({ ...cluster, config: { publicUrl }, database });
    await browser.signUp('ada@example.com');
    let { refresh_token: token = '' } = await signedInCli(browser);
    /** At each api: the browser is signed in, and its program renews its token. */
    const staysSignedIn = async () => {
      for (const api of [0, 1]) {
        browser.api = api;
        expect((await browser.send('GET', '/auth/relay/me')).status).toBe(200);
        const renewed = await refresh(browser.relay, token, api);
        expect(renewed.status).toBe(200);
        token = renewed.body.refresh_token as string;
      }
    };
    const load = await startLoad({ cluster, truth, seed: 45, people: 4, doors: throughHaproxy });
    await load.flows();
    const replace = async (instances: readonly Instance[], changes: Record<string, string>) => {
      for (const instance of instances) {
        await load.fault(`leave ${instance.name}`, async () => expect(await instance.leave()).toBe(0));
        await instance.start(undefined, changes);
        await until(`${instance.name} gets requests`, () => cluster.haproxy!.sends(instance.port));
      }
      await load.flows();
      await staysSignedIn();
    };

    const began = Date.now();
    await truth.run('CREATE ROLE relay2 LOGIN');
    await truth.run('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO relay2');
    await truth.run('GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO relay2');
    await cluster.redis.command('ACL', 'SETUSER', 'relay', 'on', '>first', '>second', '~*', '&*', '+@all');
    const databaseUrl = new URL(cluster.databaseUrl);
    databaseUrl.username = 'relay2';
    databaseUrl.port = String(cluster.wires.database.port);
    await replace([...cluster.gateways, ...cluster.apis], {
      ...{ AUTH_SECRET: `${old},${next}`, PUSH_SECRET: `${next},${old}`, DATABASE_URL: databaseUrl.href },
      REDIS_URL: `redis://relay:second@127.0.0.1:${cluster.wires.redis.port}`,
    });
    await replace(cluster.apis, { AUTH_SECRET: `${next},${old}` });
    // The pages call the relay at least every 31 days, which signs their cookies again.
    await replace(cluster.apis, { AUTH_SECRET: next, PUSH_SECRET: next });
    await cluster.redis.command('ACL', 'SETUSER', 'relay', '<first');
    const certificate = await presented(cluster.haproxy!);
    await load.fault('renew the certificate', () => cluster.haproxy!.renewCertificate());
    await load.flows();
    await staysSignedIn();
    expect(await presented(cluster.haproxy!)).not.toBe(certificate);
    const seconds = ((Date.now() - began) / 1000).toFixed(1);

    const clients = (await cluster.redis.command('CLIENT', 'LIST')).match(/ user=relay /g) ?? [];
    expect(clients.length).toBeGreaterThanOrEqual(4);
    const [pools] = await database.sql.query<{ n: number }>`
      SELECT count(*)::int AS n FROM pg_stat_activity WHERE usename = 'relay2' AND application_name = 'relay'`;
    expect(pools!.n).toBeGreaterThanOrEqual(4);
    const harm = await harmOf(load, cluster);
    process.stdout.write(
      `secrets rotated in ${seconds} s under ${load.journal.count('answered')} requests; ` +
        `lost: ${harm.failed.length} requests, ${harm.cut.length} broken connections, 0 sign-ins\n`,
    );
    expect(harm).toEqual(unharmed);
    await expect(cluster.redis.command('AUTH', 'relay', 'first')).resolves.toMatch(/WRONGPASS/);
  }, 900_000);
});
