import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { errorCatalogue } from '@relay/protocol';
import { type Cluster, type TestDaemon, UpgradeRefused, connectApp, connectDaemon, startCluster } from '@relay/testing';
import { loadTimes } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

interface Answered {
  status: number;
  code: string;
  retryAfter: number;
}

/**
 * Promise: every request gets a response with a defined code within its deadline, even if a dependency is down (rules,
 * 6.4).
 */
describe('any request', () => {
  let cluster: Cluster;
  let truth: Truth;
  let daemon: TestDaemon;
  let session: string;

  beforeAll(async () => {
    cluster = await startCluster({
      apis: 2,
      gateways: 2,
      haproxy: 'plain',
      env: { ...loadTimes, TEST_DAEMON_REPLY_TIMEOUT_MS: '3000' },
    });
    truth = await openTruth(cluster);
    await arrive();
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });
  beforeEach(async () => {
    for (const { url } of [...cluster.apis, ...cluster.gateways])
      await until(`${url} is ready`, async () => (await verdictOf(url)) === 'ok');
  });

  const verdictOf = async (url: string) => ((await (await fetch(`${url}/ready`)).json()) as { status: string }).status;

  /** Connects a daemon that answers history requests, with a named session. */
  async function arrive() {
    daemon = await connectDaemon(cluster, daemon ? { registration: daemon.registration } : {});
    const { socket } = daemon;
    socket.on('message', (data: Buffer) => {
      const { type, request_id } = JSON.parse(data.toString('utf8')) as { type: string; request_id: string };
      if (type === 'get_messages') daemon.send({ type: 'messages', request_id, messages: [], has_more: false });
    });
    await ask('POST', '/api/sessions', { deviceId: daemon.deviceId, message: 'hello' });
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: 'asked', result: 'done' });
    session = `/api/sessions/${encodeURIComponent(`${daemon.deviceId}:scripted:asked`)}`;
    await until('it answers', async () => (await ask('GET', `${session}/messages`)).status === 200);
  }

  /** Connects a daemon that answers nothing, and waits until this connection owns the device. */
  const connectSilent = async (gateway: number) => {
    const before = (await truth.device(daemon.deviceId))!.fence;
    const silent = await connectDaemon(cluster, { registration: daemon.registration, gateway });
    await until('it is the owner', async () => {
      const { fence } = (await truth.device(daemon.deviceId))!;
      return fence > before && (await truth.fences([daemon.deviceId])).get(daemon.deviceId) === fence;
    });
    return silent;
  };

  async function ask(method: string, path: string, body?: object, api = 0): Promise<Answered> {
    const { status, body: answer, headers } = await cluster.call(method, path, { api, ...(body ? { body } : {}) });
    const { code = '' } = (answer ?? {}) as { code?: string };
    if (status >= 400) expect(errorCatalogue).toHaveProperty(code);
    return { status, code, retryAfter: Number(headers['retry-after'] ?? 0) };
  }
  const upgrade = async (open: () => Promise<{ close(): Promise<void> }>): Promise<Answered> => {
    try {
      await (await open()).close();
      return { status: 101, code: '', retryAfter: 0 };
    } catch (error) {
      if (!(error instanceof UpgradeRefused)) throw error;
      const { code = '' } = error.body as { code?: string };
      return { status: error.status, code, retryAfter: Number(error.headers['retry-after'] ?? 0) };
    }
  };
  /** Sends one request of each kind concurrently. */
  const askAll = async () => {
    const asked = {
      sessions: ask('GET', '/api/sessions?limit=20'),
      devices: ask('GET', '/api/devices'),
      session: ask('GET', session),
      messages: ask('GET', `${session}/messages`),
      create: ask('POST', '/api/sessions', { deviceId: daemon.deviceId, message: 'hello', queueTtlSeconds: 1 }),
      now: ask('POST', '/api/sessions', { deviceId: daemon.deviceId, message: 'hello', queueTtlSeconds: 0 }),
      ticket: ask('POST', '/api/ws-tickets'),
      code: ask('POST', '/api/devices/code', { hostname: 'laptop', agent_type: 'scripted' }),
      me: ask('GET', '/api/me'),
      health: ask('GET', '/health'),
      app: upgrade(() => connectApp(cluster, { since: '' })),
    };
    const names = Object.keys(asked) as (keyof typeof asked)[];
    const answers = await Promise.all(names.map((name) => asked[name]));
    return Object.fromEntries(names.map((name, n) => [name, answers[n]])) as Record<keyof typeof asked, Answered>;
  };
  const unavailable = { status: 503, code: 'SERVICE_UNAVAILABLE', retryAfter: expect.any(Number) };
  const ready = async () => (await fetch(`${cluster.apis[0]!.url}/ready`)).status;

  /** Heals the fault even if an expectation fails. */
  const during = async <T>(hurt: () => unknown, heal: () => unknown, act: () => Promise<T>): Promise<T> => {
    await hurt();
    try {
      return await act();
    } finally {
      await heal();
    }
  };
  const fromTheDatabase = (answers: Awaited<ReturnType<typeof askAll>>) => {
    const { sessions, devices, session, me, health, create, code } = answers;
    const statuses = [sessions, devices, session, me, health, create, code].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 201, 200]);
  };
  const comesBack = async () => {
    await until('it answers again', async () => (await ask('GET', `${session}/messages`)).status === 200);
    await until('tickets are given again', async () => (await ask('POST', '/api/ws-tickets')).status === 201);
    // Open sockets stayed open.
    expect(daemon.socket.readyState).toBe(daemon.socket.OPEN);
  };

  const redisFaults: [string, () => unknown, () => unknown][] = [
    ['is dead', () => cluster.redis.kill(), () => cluster.redis.restart()],
    ['is frozen', () => cluster.redis.pause(), () => cluster.redis.resume()],
    ['cannot be reached', () => cluster.wires.redis.set('refuse'), () => cluster.wires.redis.set('pass')],
  ];
  for (const [what, hurt, heal] of redisFaults) {
    it(`is answered while Redis ${what}: from the database, or with 503, and the edge keeps its apis`, async () => {
      const edge = cluster.haproxy!;
      const answers = await during(hurt, heal, async () => {
        const all = await askAll();
        for (const { port } of cluster.gateways)
          await until('the edge has left the gateway out', async () => !(await edge.sends(port)));
        for (const api of cluster.apis) {
          expect(await verdictOf(api.url)).toBe('degraded');
          expect(await edge.sends(api.port)).toBe(true);
        }
        const headers = { Authorization: `Bearer ${cluster.token('alice')}` };
        const throughTheEdge = await fetch(`${edge.url}/api/sessions?limit=20`, { headers });
        expect(throughTheEdge.status).toBe(200);
        return all;
      });
      fromTheDatabase(answers);
      for (const name of ['messages', 'now', 'ticket', 'app'] as const) {
        expect(answers[name]).toEqual(unavailable);
        expect(answers[name].retryAfter).toBeGreaterThan(0);
      }
      await comesBack();
    }, 120_000);
  }

  it('R9: is answered while Redis is out of memory: most requests succeed, and gateways are not ready', async () => {
    const limit = (size: string) => cluster.redis.command('CONFIG', 'SET', 'maxmemory', size);
    const gatewayReady = async () => {
      const response = await fetch(`${cluster.gateways[1]!.url}/ready`);
      return { status: response.status, body: await response.json() };
    };
    const [answers, notReady] = await during(
      () => limit('100kb'),
      () => limit('0'),
      async () => {
        const all = await askAll();
        // R9: a daemon that loses its connection cannot claim its device again, so the gateway is not ready.
        await until('the gateway is not ready', async () => (await gatewayReady()).status === 503);
        return [all, await gatewayReady()] as const;
      },
    );
    expect(notReady.body).toMatchObject({ checks: { database: 'ok', backplane: 'ok', claims: 'failed' } });
    await until('the gateway is ready again', async () => (await gatewayReady()).status === 200);
    fromTheDatabase(answers);
    // Redis lets a script continue once it has begun to write, so a write can succeed together with others.
    for (const { status, code } of [answers.ticket, answers.messages, answers.now, answers.app])
      if (status >= 400) expect([status, code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    await comesBack();
  }, 120_000);

  it('is answered 503 while PostgreSQL restarts, never with a code that blames the credential', async () => {
    const { registration } = daemon;
    const halt = () => cluster.postgres.halt();
    const [answers, refused] = await during(
      halt,
      () => cluster.postgres.resume(),
      async () => {
        const all = await askAll();
        await until('it says that it is not ready', async () => (await ready()) === 503);
        return [all, await upgrade(() => connectDaemon(cluster, { registration, gateway: 1 }))] as const;
      },
    );
    const { health, me, ticket, app, ...rest } = answers;
    expect([health.status, me.status, ticket.status, app.status]).toEqual([200, 200, 201, 101]);
    for (const answer of Object.values(rest)) {
      expect(answer).toEqual(unavailable);
      expect(answer.retryAfter).toBeGreaterThan(0);
    }
    expect(refused).toEqual(unavailable);
    await until('it is ready again', async () => (await ready()) === 200);
    await arrive();
  }, 120_000);

  it('is answered 503 before the relay detects dead connections to PostgreSQL', async () => {
    const { health, me, ticket, app, ...rest } = await during(
      () => cluster.wires.database.set('swallow'),
      () => cluster.wires.database.set('pass'),
      askAll,
    );
    expect([health.status, me.status, ticket.status, app.status]).toEqual([200, 200, 201, 101]);
    for (const answer of Object.values(rest)) expect(answer).toEqual(unavailable);
    await until('it is ready again', async () => (await ready()) === 200);
    await arrive();
  }, 120_000);

  it('is answered while every connection to PostgreSQL waits for a lock', async () => {
    // More requests than the pool has connections: the excess requests time out without the lock.
    const unlock = await truth.lockTable('devices');
    const ended: string[] = [];
    const asked = Array.from({ length: 40 }, async () => {
      const { status, code } = await ask('GET', '/api/devices');
      ended.push(`${status} ${code}`);
    });
    await until('those without a connection are answered', () => ended.length >= 20);
    const early = [...new Set(ended)];
    await unlock();
    expect(early).toEqual(['503 SERVICE_UNAVAILABLE']);
    await Promise.all(asked);
    expect(ended.slice().sort()[0]).toBe('200 ');
    expect(ended.filter((end) => end !== '200 ' && end !== '503 SERVICE_UNAVAILABLE')).toEqual([]);
    await until('it is ready again', async () => (await ready()) === 200);
    await arrive();
  }, 120_000);

  it('is answered even if the gateway that should reply dies', async () => {
    const silent = await connectSilent(1);
    const asked = [ask('GET', `${session}/messages?limit=1`), ask('GET', `${session}/messages?limit=2`, undefined, 1)];
    await silent.next('get_messages', ({ limit }) => limit === 1);
    await silent.next('get_messages', ({ limit }) => limit === 2);
    await cluster.gateways[1]!.kill();
    for (const { status, code } of await Promise.all(asked))
      expect([`${503} DEVICE_OFFLINE`, `${504} DEVICE_TIMEOUT`]).toContain(`${status} ${code}`);
    await cluster.gateways[1]!.start();
    await arrive();
  }, 120_000);

  it('is answered by the other api after one dies with pending requests', async () => {
    await daemon.close();
    const silent = await connectSilent(0);
    const pending = Array.from({ length: 20 }, (_, n) =>
      ask('GET', `${session}/messages?limit=${n + 1}`, undefined, n % 2).then(
        ({ status, code }) => `${status} ${code}`,
        () => 'broken',
      ),
    );
    for (let n = 0; n < 20; n += 1) await silent.next('get_messages', ({ limit }) => limit === n + 1);
    await cluster.apis[0]!.kill();
    const ends = await Promise.all(pending);
    expect(ends.filter((_, n) => n % 2 === 0)).toEqual(Array<string>(10).fill('broken'));
    expect(ends.filter((_, n) => n % 2 === 1)).toEqual(Array<string>(10).fill('504 DEVICE_TIMEOUT'));
    expect((await ask('GET', '/api/devices', undefined, 1)).status).toBe(200);
    await cluster.apis[0]!.start();
    expect((await ask('GET', '/api/devices')).status).toBe(200);
    await silent.close();
  }, 120_000);
});
