import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, connectApp, connectDaemon, registerDevice, startCluster } from '@relay/testing';
import { loadTimes, startLoad } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

/** Promise: no data crosses users, and a revoked client stays out, even if a control message was lost. */
describe('people and devices of different owners', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    // Only the built-in sign-in records revocations.
    const signIn = { AUTH_BUILTIN: 'on', AUTH_SECRET: randomBytes(32).toString('base64url') };
    cluster = await startCluster({ apis: 2, gateways: 2, env: { ...loadTimes, ...signIn } });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  it('receive nothing of each other while all connections between instances are cut', async () => {
    const load = await startLoad({ cluster, truth, seed: 40, people: 8, everyMs: 100 });
    await load.flows();
    for (const gateway of cluster.gateways) {
      await load.fault('cut all of Redis', () => cluster.wires.redis.reset());
      await load.fault('cut all of PostgreSQL', () => cluster.wires.database.reset());
      await load.fault(`kill ${gateway.name}`, () => gateway.kill());
      await gateway.start();
      await load.flows();
    }
    const { journal } = load;
    expect(await load.settle({ mayCut: false })).toEqual([]);
    // They did ask for data of other users, and found none.
    const owned = new Map(journal.of('connected').map(({ device, user }) => [device, user]));
    const foreign = journal.of('asked').filter(({ call, user }) => {
      const device = /sessions\/([^%]+)%3A/.exec(call)?.[1];
      return device !== undefined && owned.get(device) !== user;
    });
    const statuses = new Map(journal.of('answered').map(({ request, status }) => [request, status]));
    expect(foreign.length).toBeGreaterThan(0);
    for (const { request } of foreign) expect([404, 503, undefined]).toContain(statuses.get(request));
  }, 240_000);

  it('a device that is removed while Redis is down is disconnected once it is up', async () => {
    const registration = await registerDevice(cluster, { user: 'remover' });
    const daemon = await connectDaemon(cluster, { registration, gateway: 1 });
    await until('it is online', async () => (await truth.device(daemon.deviceId))?.status === 'online');
    await cluster.redis.kill();
    const removed = await cluster.call('DELETE', `/api/devices/${daemon.deviceId}`, { user: 'remover' });
    expect(removed.status).toBe(204);
    await cluster.redis.restart();
    expect((await daemon.closed).code).toBe(4404);
    for (const gateway of [0, 1])
      await expect(connectDaemon(cluster, { registration, gateway })).rejects.toMatchObject({ status: 401 });
  }, 120_000);

  it('a device is disconnected by the next sweep if the control message of its removal was lost', async () => {
    const registration = await registerDevice(cluster, { user: 'loser' });
    const daemon = await connectDaemon(cluster, { registration, gateway: 0 });
    await until('it is online', async () => (await truth.device(daemon.deviceId))?.status === 'online');
    // Removed without any control message.
    await truth.run(`UPDATE devices SET removed_at = now(), revoked_at = now() WHERE id = '${daemon.deviceId}'`);
    expect((await daemon.closed).code).toBe(4404);
  }, 120_000);

  it('a person who signed out while Redis was unreachable is signed out everywhere once it is reachable', async () => {
    const token = cluster.token('thrown-out');
    const apps = await Promise.all([0, 1].map((api) => connectApp(cluster, { user: 'thrown-out', api, token })));
    cluster.wires.redis.set('refuse');
    // The first write of signing out everywhere; its control message reaches no instance.
    const subject = cluster.issuer.userId('thrown-out');
    await truth.run(`INSERT INTO revocations (id, subject) VALUES ('lost-word', '${subject}')`);
    cluster.wires.redis.set('pass');
    for (const app of apps) expect((await app.closed).code).toBe(4401);
    for (const api of [0, 1]) {
      const headers = { Authorization: `Bearer ${token}` };
      const { status, body } = await cluster.call('GET', '/api/me', { user: null, api, headers });
      expect([status, body.code]).toEqual([401, 'TOKEN_REVOKED']);
    }
  }, 120_000);

  it('a used ticket is not accepted again after Redis loses all data', async () => {
    let ticket = '';
    // Redis was unreachable a moment ago, and an instance issues no ticket before it reconnects.
    await until('there is a ticket', async () => {
      const { status, body } = await cluster.call('POST', '/api/ws-tickets');
      ticket = String(body.ticket);
      return status === 201;
    });
    const app = await connectApp(cluster, { credential: 'ticket', token: ticket });
    await cluster.redis.flush();
    await expect(connectApp(cluster, { api: 1, credential: 'ticket', token: ticket })).rejects.toMatchObject({
      status: 401,
    });
    await app.close();
  }, 120_000);
});
