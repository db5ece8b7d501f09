import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, newFileId, sendFile } from '@relay/client';
import { acpAgent, createDaemon, exchangeOf, silentLog } from '@relay/daemon';
import { type Database, openDatabase } from '@relay/database';
import type { Item } from '@relay/protocol';
import {
  type Cluster,
  type FaultProxy,
  type Instance,
  dumpRedis,
  registerDevice,
  startCluster,
  startFaultProxy,
} from '@relay/testing';
import { dumpDatabase, found } from '../erasure-scene.ts';
import { loadTimes } from './load.ts';
import { until } from './until.ts';

const MiB = 1024 * 1024;
const size = 25 * MiB;
/** The name of the first file is part of the agent's answer, which the relay keeps. */
const markers = ['copy of plan', 'heron', 'walrus-bytes', 'walrus-type'];
/** Marks every piece at a multiple of three bytes, so that base64 keeps the mark. */
const marked = () => {
  const bytes = randomBytes(size);
  for (let at = 0; at < size; at += 3 * 32 * 1024) bytes.write('walrus-bytes', at);
  return bytes;
};
const encoded = Buffer.from('walrus-bytes').toString('base64');
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
/** Bytes that a process wrote to disks, and its memory. */
const usageOf = ({ child }: Instance) => {
  const proc = (name: string, field: string) =>
    Number(
      new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${child.process.pid}/${name}`, 'utf8'))![1],
    );
  return { written: proc('io', 'write_bytes'), residentMiB: proc('status', 'VmRSS') / 1024 };
};

/** Promise: a file arrives once and whole or fails during kills of instances, and the relay keeps nothing of it (rules, 27). */
describe('a file of 25 MB in each direction during kills of instances', () => {
  const [project, storeDir, agentHome, scratch] = ['project', 'store', 'agent', 'scratch'].map((name) =>
    mkdtempSync(join(tmpdir(), `relay-files-${name}-`)),
  ) as [string, string, string, string];
  const undo: (() => unknown)[] = [];
  /** The newest lines of each instance after each test. */
  let logs = '';
  let cluster: Cluster;
  let database: Database;
  let phone: FaultProxy;
  let deviceId: string;
  /** Starting writes some files of Node itself. */
  const writtenAtStart = new Map<Instance, number>();
  let scratchAtStart: string[] = [];
  /** The session whose agent returned a copy, and the item of the copy. */
  let copy: { sessionId: string; uuid: string; digest: string };

  beforeAll(async () => {
    const env = { ...loadTimes, LOG_LEVEL: 'debug', TMPDIR: scratch, HOME: scratch, RATE_LIMIT_PER_MINUTE: '100000' };
    cluster = await startCluster({ apis: 2, gateways: 2, haproxy: 'plain', env });
    undo.push(() => cluster.stop());
    database = await openDatabase({ url: cluster.databaseUrl });
    undo.push(() => database.close());
    phone = await startFaultProxy({ port: cluster.haproxy!.port });
    undo.push(() => phone.close());
    for (const one of [...cluster.apis, ...cluster.gateways]) writtenAtStart.set(one, usageOf(one).written);
    scratchAtStart = readdirSync(scratch);
    const registration = await registerDevice(cluster);
    const { refreshToken, agentType } = registration;
    ({ deviceId } = registration);
    const rules = { defaultPath: project, allowed: [project] };
    const daemon = createDaemon({
      ...{ server: cluster.haproxy!.url, deviceId, refreshToken, agentType, storeDir, daemonVersion: '1.0.0' },
      agent: acpAgent({
        program: process.execPath,
        args: [fileURLToPath(new URL('../../apps/daemon/scripts/demo-agent.mjs', import.meta.url))],
        ...{ rules, marker: project, env: { DEMO_AGENT_HOME: agentHome } },
        timings: { killAfterMs: 300, leaveMs: 2000 },
      }),
      exchange: exchangeOf({ rules, folder: join(storeDir, 'files'), outside: false, sends: true, log: silentLog }),
      timings: { initialDelayMs: 50, maxDelayMs: 500 },
    });
    undo.push(() => daemon.stop());
    daemon.start();
    await daemon.connected();
  }, 180_000);
  afterAll(async () => {
    for (const one of undo.reverse()) await one();
    for (const folder of [project, storeDir, agentHome, scratch]) rmSync(folder, { recursive: true, force: true });
  }, 60_000);
  afterEach(() => {
    logs += [...cluster.apis, ...cluster.gateways].flatMap((instance) => instance.logged()).join('\n');
  });

  const clientAt = (port: number) =>
    createClient({ baseUrl: `http://127.0.0.1:${port}`, token: cluster.token('alice') });
  const restarted = async (instance: Instance) => {
    await instance.kill();
    await instance.start();
  };
  /** The gateway that has the connection of the device. */
  const owner = async (): Promise<Instance> => {
    let holding: Instance | undefined;
    await until('a gateway has the device', async () => {
      for (const gateway of cluster.gateways)
        if (/^relay_daemon_connections(?:\{.*\})? 1$/m.test(await gateway.metrics())) holding = gateway;
      return holding !== undefined;
    });
    return holding!;
  };

  /** Sends a file over the connection of a phone. Resolves with the bytes that left it, and how long that took. */
  const send = async (bytes: Buffer, name: string, at: (received: number) => void) => {
    const id = newFileId();
    const [began, client] = [performance.now(), clientAt(phone.port)];
    let sent = 0;
    const read = (offset: number, length: number) => {
      sent += length;
      return Promise.resolve(bytes.subarray(offset, offset + length));
    };
    const file = { id, name, size, mime: 'text/walrus-type', read };
    const state = await sendFile(client, deviceId, file, { onProgress: at });
    return { id, state, sent, seconds: Math.round((performance.now() - began) / 1000) };
  };
  const inOrder = (...steps: readonly { from: number; act: () => unknown }[]) => {
    const left = [...steps];
    const done: Promise<unknown>[] = [];
    return {
      at: (received: number) => {
        while (left[0] && received >= left[0].from * size) done.push(Promise.resolve(left.shift()!.act()));
      },
      over: () => Promise.all(done),
    };
  };

  it('43, 5.1: arrives once with an equal hash at 3 Mbit/s, with a break at half and a killed api', async () => {
    const bytes = marked();
    const before = cluster.apis.map((api) => usageOf(api).residentMiB);
    phone.set('pass', { bytesPerSecond: 3_000_000 / 8 });
    const steps = inOrder(
      { from: 0.25, act: () => restarted(cluster.apis[0]!) },
      { from: 0.5, act: () => phone.reset() },
    );
    const { id, state, sent, seconds } = await send(bytes, 'plan.pdf', steps.at);
    phone.set('pass');
    await steps.over();
    const grown = Math.round(usageOf(cluster.apis[1]!).residentMiB - before[1]!);
    process.stdout.write(`25 MB at 3 Mbit/s: ${seconds} s, ${sent - size} bytes twice, an api grew by ${grown} MiB\n`);
    expect(state).toMatchObject({ done: true, sha256: digest(bytes) });
    // The device keeps received pieces: each of the two interruptions repeats one piece at most.
    expect(sent).toBeLessThanOrEqual(size + 2 * MiB);

    const { body: created } = await cluster.call('createSession', {
      body: { deviceId, message: 'files', files: [id] },
    });
    const task = async () => (await cluster.call('readTask', { params: { id: created.taskId } })).body;
    await until('the agent has read it', async () => ['completed', 'failed'].includes((await task()).state));
    const { result, sessionId } = await task();
    expect(result).toBe(`plan.pdf has ${size} bytes.`);
    const arrived = readdirSync(join(project, '.relay/files')).flatMap((short) =>
      readdirSync(join(project, '.relay/files', short)).map((name) => join(project, '.relay/files', short, name)),
    );
    expect(arrived.map((file) => digest(readFileSync(file)))).toEqual([digest(bytes)]);
    const { body: page } = await cluster.call('readMessages', { params: { id: sessionId }, query: { parts: '1' } });
    const { uuid } = (page.messages as unknown as Item[]).find(({ part }) => part.kind === 'file')!;
    copy = { sessionId, uuid, digest: digest(bytes) };
  }, 300_000);

  it('43, 5.1: goes to the machine whole and once during kills of its gateway', async () => {
    const bytes = marked();
    const steps = inOrder(
      { from: 0.3, act: async () => restarted(await owner()) },
      { from: 0.7, act: async () => restarted(await owner()) },
    );
    const { state, sent } = await send(bytes, 'heron.pdf', steps.at);
    await steps.over();
    expect(state).toMatchObject({ done: true, sha256: digest(bytes) });
    expect(sent).toBeLessThan(2 * size);
    expect(readdirSync(join(storeDir, 'incoming')).length).toBeGreaterThan(0);
  }, 180_000);

  /** Reads the copy, and kills the gateway of the device after this many bytes. */
  const download = async (killAfter: number): Promise<'whole' | 'refused'> => {
    const path = `/api/sessions/${encodeURIComponent(copy.sessionId)}/items/${copy.uuid}/content/file?download=1`;
    const gateway = await owner();
    let killed: Promise<void> | undefined;
    try {
      const headers = { Authorization: `Bearer ${cluster.token('alice')}` };
      const response = await fetch(`${cluster.haproxy!.url}${path}`, { headers });
      if (!response.ok) return 'refused';
      const hash = createHash('sha256');
      let received = 0;
      for await (const part of response.body!) {
        hash.update(part);
        received += part.length;
        if (received > killAfter) killed ??= restarted(gateway);
      }
      expect({ received, digest: hash.digest('hex') }).toEqual({ received: size, digest: copy.digest });
      return 'whole';
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return 'refused';
    } finally {
      await killed;
    }
  };

  it('43, 5.1: comes whole from the machine or fails during a kill of its gateway, and never ends half-way', async () => {
    const outcomes: string[] = [];
    for (const part of [0.02, 0.2, 0.4, 0.6]) outcomes.push(await download(part * size));
    process.stdout.write(`25 MB from the machine with a killed gateway: ${outcomes.join(', ')}\n`);
    expect(outcomes).toContain('refused');
    await until('a whole copy', async () => (await download(Infinity)) === 'whole');
  }, 180_000);

  it('43, 5.1: leaves nothing of it in Redis, PostgreSQL, logs or on the disk of an instance', async () => {
    const kept = (await dumpDatabase({ database })) + (await dumpRedis(cluster.redis.url)) + logs;
    // Proves that the search finds something.
    expect(found(kept, [deviceId])).toEqual([deviceId]);
    expect(found(kept, [...markers, encoded])).toEqual([]);
    expect(readdirSync(scratch)).toEqual(scratchAtStart);
    for (const instance of [...cluster.apis, ...cluster.gateways])
      expect(usageOf(instance).written - writtenAtStart.get(instance)!).toBeLessThan(MiB);
  });
});
