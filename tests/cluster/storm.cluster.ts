import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deriveDeviceToken, hashDeviceToken } from '@relay/auth';
import { type Cluster, type Registration, connectApp, connectDaemon, startCluster } from '@relay/testing';
import { createChance } from './chance.ts';
import { type DaemonLife, startDaemonLife } from './daemon-life.ts';
import { throughHaproxy } from './doors.ts';
import { Journal } from './journal.ts';
import { loadTimes } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

/** 5000 need a limit of about 20,000 open files, and a few minutes. */
const daemons = Number(process.env.STORM_SOCKETS ?? '400');
/** This many connect concurrently for the first time; after a fault, all daemons of a gateway reconnect at once. */
const wave = 200;

/** Promise: neither a crowd nor one noisy daemon affects the others. */
describe('a crowd of daemons behind HAProxy', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    const env = { ...loadTimes, PING_INTERVAL_MS: '10000', TEST_SILENCE_TIMEOUT_MS: '40000', DRAIN_SECONDS: '3' };
    const leases = { TEST_LEASE_TTL_MS: '20000', TEST_LEASE_REFRESH_MS: '5000' };
    cluster = await startCluster({ apis: 1, gateways: 3, haproxy: true, env: { ...env, ...leases } });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  /** Inserts devices into the database like a registration. */
  const registered = async (count: number): Promise<Registration[]> => {
    const owner = cluster.issuer.userId('user-1').replaceAll("'", "''");
    const registrations = Array.from({ length: count }, (_, n) => ({
      deviceId: `storm${String(n).padStart(6, '0')}`,
      refreshToken: deriveDeviceToken(createHash('sha256').update(`storm ${n}`).digest('base64url'), 'salt'),
      agentType: 'scripted',
      user: 'user-1',
    }));
    for (let from = 0; from < count; from += 500) {
      const rows = registrations
        .slice(from, from + 500)
        .map(
          ({ deviceId, refreshToken }) =>
            `('${deviceId}', '${owner}', '${deviceId}', 'laptop', 'scripted', '${hashDeviceToken(refreshToken)}')`,
        );
      await truth.run(
        `INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash) VALUES ${rows.join(', ')}`,
      );
    }
    return registrations;
  };

  it(`reconnects after ${daemons} lose their gateway at once, and again after another drains`, async () => {
    const journal = new Journal();
    const chance = createChance(1);
    const doors = throughHaproxy(cluster);
    const registrations = await registered(daemons);
    const ids = registrations.map(({ deviceId }) => deviceId);
    const lives: DaemonLife[] = [];
    const come = (registration: Registration) =>
      startDaemonLife({
        ...{ registration, doors, journal, chance },
        ...{ lineEveryMs: 3_600_000, taskMs: 100, silenceMs: 60_000 },
        // Daemons reconnect at once at first, then more slowly. They share two processors with the TLS of HAProxy.
        pauseMs: [200, 200 + daemons * 4],
      });
    /** Whether all daemons are connected, according to their sockets, the leases and the database. */
    const everybodyIsThere = async () => {
      if (!lives.every(({ connection }) => connection !== undefined)) return false;
      const fences = await truth.fences(ids);
      const devices = (await truth.devices()).filter(({ id }) => id.startsWith('storm'));
      return devices.every(
        ({ id, status, open, fence }) => status === 'online' && open === 1 && fences.get(id) === fence,
      );
    };
    try {
      for (let from = 0; from < daemons; from += wave) {
        lives.push(...registrations.slice(from, from + wave).map(come));
        await until('a wave is there', () => lives.every(({ connection }) => connection !== undefined), 60_000);
      }
      await until('everybody is there', everybodyIsThere, 200_000);
      await cluster.gateways[0]!.kill();
      // HAProxy passes the close on after a moment.
      await until('some are away', () => !lives.every(({ connection }) => connection !== undefined));
      await until('everybody is there without the one that died', everybodyIsThere, 200_000);
      await cluster.gateways[0]!.start();
      const { child } = cluster.gateways[1]!;
      const code = await cluster.gateways[1]!.leave();
      expect(code === 0 ? '' : child.output().slice(-2000)).toBe('');
      await until('everybody is there without the one that left', everybodyIsThere, 200_000);
      await cluster.gateways[1]!.start();
      // The relay refused no credential, and no connection replaced another.
      const refusals = new Set(journal.of('refused').map(({ status }) => status));
      expect([...refusals].filter((status) => ![502, 503, 504].includes(status))).toEqual([]);
      expect(journal.count('disconnected', ({ code }) => code === 4409)).toBe(0);
    } finally {
      await Promise.all(lives.map((life) => life.stop()));
    }
  }, 900_000);

  it('loses the daemon that floods, and no other waits for it', async () => {
    const loud = await connectDaemon(cluster, { user: 'loud', gateway: 2 });
    const quiet = await connectDaemon(cluster, { user: 'quiet', gateway: 2 });
    const app = await connectApp(cluster, { user: 'quiet', since: '' });
    const say = (content: string) => quiet.event('', 'AGENT_RESPONSE', { session_id: 'desk', uuid: content, content });
    let heard = 0;
    for (let n = 0; n < 5000 && loud.socket.readyState === loud.socket.OPEN; n += 1) {
      loud.event('', 'OUTPUT', { session_id: 'desk', output: 'noise' });
      if (n % 500 > 0) continue;
      say(`line ${(heard += 1)}`);
      await app.next('new_message', (frame) => (frame.message as { content: string }).content === `line ${heard}`);
    }
    expect((await loud.closed).code).toBe(4429);
    say('after all');
    await app.next('new_message', (frame) => (frame.message as { content: string }).content === 'after all');
    expect(quiet.socket.readyState).toBe(quiet.socket.OPEN);
    expect(app.inbox.count('resync')).toBe(0);
    await Promise.all([quiet.close(), app.close()]);
  }, 120_000);
});
