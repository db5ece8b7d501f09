import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, connectApp, connectDaemon, registerDevice, startCluster } from '@relay/testing';
import { loadTimes, startLoad } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

/** Promise: nothing crosses users, and who was sent away stays away, also when the word of it was lost. */
describe('people and devices that are nothing to each other', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    // The built-in sign-in is what records revocations.
    const signIn = { AUTH_BUILTIN: 'on', AUTH_SECRET: randomBytes(32).toString('base64url') };
    cluster = await startCluster({ apis: 2, gateways: 2, env: { ...loadTimes, ...signIn } });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  it('never hear of each other while everything between them is cut', async () => {
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
    // They did ask for what belongs to others, and none of them found it.
    const owned = new Map(journal.of('connected').map(({ device, user }) => [device, user]));
    const foreign = journal.of('asked').filter(({ call, user }) => {
      const device = /sessions\/([^%]+)%3A/.exec(call)?.[1];
      return device !== undefined && owned.get(device) !== user;
    });
    const statuses = new Map(journal.of('answered').map(({ request, status }) => [request, status]));
    expect(foreign.length).toBeGreaterThan(0);
    for (const { request } of foreign) expect([404, 503, undefined]).toContain(statuses.get(request));
  }, 240_000);

  it('a device that is removed while Redis is down is sent away when it is back', async () => {
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

  it('a device whose removal was lost with its subscription is sent away by the next look', async () => {
    const registration = await registerDevice(cluster, { user: 'loser' });
    const daemon = await connectDaemon(cluster, { registration, gateway: 0 });
    await until('it is online', async () => (await truth.device(daemon.deviceId))?.status === 'online');
    // Removed without a word to anybody.
    await truth.run(`UPDATE devices SET removed_at = now(), revoked_at = now() WHERE id = '${daemon.deviceId}'`);
    expect((await daemon.closed).code).toBe(4404);
  }, 120_000);

  it('a person who was signed out while Redis could not be reached is out everywhere when it can', async () => {
    const token = cluster.token('thrown-out');
    const apps = await Promise.all([0, 1].map((api) => connectApp(cluster, { user: 'thrown-out', api, token })));
    cluster.wires.redis.set('refuse');
    // The first write of signing out everywhere; the control message after it reaches no instance.
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

  it('a ticket that was used before Redis lost everything is not accepted again', async () => {
    let ticket = '';
    // Redis was out of reach a moment ago, and an instance that has not found it again gives no ticket.
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
