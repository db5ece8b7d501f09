import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openStore } from '@relay/daemon-kit';
import { type Item, formatSessionId } from '@relay/protocol';
import {
  type Child,
  type Cluster,
  type Registration,
  registerDevice,
  startCluster,
  startProgram,
} from '@relay/testing';
import { createChance } from './chance.ts';
import { loadTimes } from './load.ts';
import { type TranscriptReader, startTranscriptReader } from './transcript-reader.ts';
import { lasting, until } from './until.ts';

const program = fileURLToPath(new URL('talking-daemon.mjs', import.meta.url));
const faults = Number(process.env.FAULTS ?? 24);
const conversations = 3;
const readers = 3;
const seed = Number(process.env.SEED ?? 20261123);

interface Session {
  id: string;
  status: string;
  queue?: object;
}

/** The first items that differ, shortened. */
function differing(came: readonly Item[], expected: readonly Item[]): string[] {
  const texts = Array.from({ length: Math.max(came.length, expected.length) }, (_, n) =>
    [came[n], expected[n]].map((item) => JSON.stringify(item) ?? 'none'),
  );
  if (texts.length > 0 && came.at(-1)?.uuid !== expected.at(-1)?.uuid)
    return [`ends with ${texts.at(-1)!.join(', expected ').slice(0, 1000)}`];
  return texts
    .filter(([one, other]) => one !== other)
    .slice(0, 2)
    .map((pair) => pair.map((text) => text.slice(-400)).join('\n  expected '));
}

/**
 * Promise: after any fault, each app's copy of a transcript equals the list of its daemon, and each page is a part of
 * it (ADR 35).
 */
describe('transcripts, while frames are lost and daemon, gateways, apis and Redis are killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-transcripts-'));
  const chance = createChance(seed);
  let cluster: Cluster;
  let registration: Registration;
  let daemon: Child;
  let apps: TranscriptReader[] = [];
  let isOver = false;

  const run = async () => {
    const { deviceId, refreshToken, agentType } = registration;
    const options = { server: cluster.haproxy!.url, deviceId, refreshToken, agentType, storeDir: folder };
    const timings = { initialDelayMs: 50, maxDelayMs: 500 };
    daemon = startProgram(process.execPath, [program], {
      env: { PATH: process.env.PATH ?? '', DAEMON: JSON.stringify({ ...options, timings }) },
    });
    await daemon.wrote(/connected/);
  };

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, haproxy: 'plain', env: loadTimes });
    registration = await registerDevice(cluster);
    apps = Array.from({ length: readers }, () => startTranscriptReader(cluster, chance));
    await run();
  }, 180_000);
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await daemon.end('SIGKILL');
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const sessionsOf = async (): Promise<Session[]> => {
    const { body } = await cluster.call('GET', '/api/sessions', { api: chance.below(2) });
    return (body as { sessions: Session[] }).sessions;
  };
  const named = (sessions: readonly Session[]) => sessions.filter(({ id }) => !id.includes('PENDING-'));
  const say = (id: string, content: string) =>
    cluster.call('sendMessage', { api: chance.below(2), params: { id }, body: { content } });

  /** Keeps every session busy, and sometimes cancels a running turn. */
  const talk = async () => {
    while (!isOver) {
      await lasting(chance.between(50, 300));
      // A killed api does not answer, or refuses the connection.
      await (async () => {
        for (const { id, status } of named(await sessionsOf())) {
          if (status !== 'active') await say(id, `Go on, ${chance.below(1000)}.`);
          else if (chance.below(40) === 0) await cluster.call('cancelSession', { params: { id } });
        }
      })().catch(() => undefined);
    }
  };

  const killed = async (which: 'apis' | 'gateways') => {
    const instance = chance.pick(cluster[which]);
    await instance.kill();
    await lasting(chance.below(500));
    await instance.start();
  };
  const harms: Readonly<Record<string, () => Promise<unknown> | void>> = {
    'the daemon is killed': async () => {
      await daemon.end('SIGKILL');
      await run();
    },
    'a gateway is killed': () => killed('gateways'),
    'an api is killed': () => killed('apis'),
    'an app is cut off': () => chance.pick(apps).cut(),
    'Redis is killed': async () => {
      await cluster.redis.kill();
      await lasting(chance.below(500));
      await cluster.redis.restart();
    },
    'the connections to Redis are cut': () => cluster.wires.redis.reset(),
  };
  const kinds = Object.keys(harms);

  const pageOf = async (id: string, query: { limit: number; before?: string; after?: string }) => {
    const { status, body } = await cluster.call('readMessages', {
      api: chance.below(2),
      params: { id },
      query: { ...query, parts: '1' },
    });
    expect(status).toBe(200);
    return body as unknown as { messages: Item[]; hasMore: boolean };
  };

  it('every copy equals the list of the daemon, and every page is a part of it', async () => {
    for (let n = 0; n < conversations; n += 1) {
      const body = { deviceId: registration.deviceId, message: `Begin, ${n}.` };
      expect((await cluster.call('createSession', { body })).status).toBe(201);
    }
    await until('all sessions have names', async () => named(await sessionsOf()).length === conversations);
    const talking = talk();
    const done: string[] = [];
    // Each kind at least once.
    for (let n = 0; n < faults; n += 1) {
      const what = kinds[n < kinds.length ? n : chance.below(kinds.length)]!;
      done.push(what);
      await harms[what]!();
      await lasting(chance.between(200, 1500));
    }
    isOver = true;
    await talking;
    for (const app of apps) app.behave();
    const sessions = named(await sessionsOf());
    const rest = async () =>
      (await sessionsOf()).every(({ status, queue }) => !queue && !['active', 'pending'].includes(status));
    for (const { id } of sessions) await cluster.call('cancelSession', { params: { id }, body: { which: 'all' } });
    await until('every turn has ended', rest);
    // The next turn of each session leads every app to the parts that it missed.
    for (const { id } of sessions) expect((await say(id, 'The last one.')).status).toBe(202);
    await until('every last turn has ended', rest);
    await daemon.end('SIGTERM');
    const store = openStore(join(folder, 'sessions'));
    const lists = new Map(
      store.sessions().map(({ sessionId }) => {
        const id = formatSessionId({ ...registration, nativeId: sessionId });
        return [id, store.everything(sessionId)!] as const;
      }),
    );
    expect([...lists.keys()].sort()).toEqual(sessions.map(({ id }) => id).sort());
    await run();
    // The daemon's socket is open before its gateway has marked it online.
    await until('the daemon can be asked', async () => {
      const { status } = await cluster.call('readMessages', { params: { id: sessions[0]!.id } });
      return status === 200;
    });
    for (const [id, list] of lists) {
      const { messages: newest } = await pageOf(id, { limit: 50 });
      expect(differing(newest, list.slice(-50))).toEqual([]);
      for (const app of apps) {
        const copy = app.copies.get(id)!;
        await until(
          'the copy of the app is whole',
          () => !copy.isBehind && copy.items.at(-1)?.uuid === list.at(-1)!.uuid,
        );
        expect(differing(copy.items, list.slice(-copy.items.length))).toEqual([]);
      }
      for (let n = 0; n < 10; n += 1) {
        const [limit, at] = [chance.between(1, 60), chance.below(list.length)];
        const cursor = list[at]!.uuid;
        const before = await pageOf(id, { limit, before: cursor });
        expect(differing(before.messages, list.slice(Math.max(0, at - limit), at))).toEqual([]);
        expect(before.hasMore).toBe(at > limit);
        const after = await pageOf(id, { limit, after: cursor });
        expect(differing(after.messages, list.slice(at + 1).slice(-limit))).toEqual([]);
      }
    }
    const total = [...lists.values()].reduce((sum, list) => sum + list.length, 0);
    const counted = apps.map(({ counts }) => JSON.stringify(counts)).join(', ');
    process.stdout.write(
      `${total} items, ${done.length} faults (${[...new Set(done)].join(', ')}); apps ${counted}; seed ${seed}\n`,
    );
  }, 900_000);
});
