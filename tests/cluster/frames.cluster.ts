import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Cluster,
  type Frame,
  type TestApp,
  type TestDaemon,
  connectApp,
  connectDaemon,
  startCluster,
} from '@relay/testing';
import { loadTimes, startLoad } from './load.ts';
import { type Truth, openTruth } from './truth.ts';
import { until } from './until.ts';

/** Promise: an app receives every frame after its predecessor, or a resync in between (rules, 11.7). */
describe('an app', () => {
  let cluster: Cluster;
  let truth: Truth;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, env: { ...loadTimes, TEST_SLOW_READER_STALL_MS: '3000' } });
    truth = await openTruth(cluster);
  }, 180_000);
  afterAll(async () => {
    await truth.close();
    await cluster.stop();
  });

  const textOf = (frame: Frame) => (frame.message as { content: string }).content;
  const say = (daemon: TestDaemon, content: string) =>
    daemon.event('', 'AGENT_RESPONSE', { session_id: 'desk', uuid: content, content });
  const hears = (app: TestApp, content: string) =>
    app.next('new_message', (frame) => textOf(frame) === content, 60_000);
  const heard = (app: TestApp) => app.inbox.all.filter(({ type }) => type === 'new_message').map(textOf);
  const offsetOf = (app: TestApp) => app.inbox.all.findLast(({ offset }) => offset)!.offset as string;
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => `line ${from + n}`);

  /** A user whose app on the first api has received `line 1` from their daemon. */
  const begin = async (user: string) => {
    const daemon = await connectDaemon(cluster, { user });
    const app = await connectApp(cluster, { user, since: '', api: 0 });
    say(daemon, 'line 1');
    await hears(app, 'line 1');
    return { daemon, app };
  };

  it('receives everything if its api is killed', async () => {
    const { daemon, app } = await begin('killed');
    for (const line of numbers(2, 20)) say(daemon, line);
    await hears(app, 'line 5');
    await cluster.apis[0]!.kill();
    await app.closed;
    for (const line of numbers(21, 40)) say(daemon, line);
    const again = await connectApp(cluster, { user: 'killed', since: offsetOf(app), api: 1 });
    await hears(again, 'line 40');
    expect([...heard(app), ...heard(again)]).toEqual(numbers(1, 40));
    expect(again.inbox.count('resync')).toBe(0);
    await cluster.apis[0]!.start();
    await Promise.all([daemon.close(), again.close()]);
  }, 120_000);

  it('receives everything while subscriptions are cut repeatedly', async () => {
    const { daemon, app } = await begin('cut');
    for (let round = 0; round < 6; round += 1) {
      const lines = numbers(2 + round * 20, 21 + round * 20);
      for (const line of lines.slice(0, 10)) say(daemon, line);
      await cluster.redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
      for (const line of lines.slice(10)) say(daemon, line);
      await hears(app, lines.at(-1)!);
    }
    expect(heard(app)).toEqual(numbers(1, 121));
    expect(app.inbox.count('resync')).toBe(0);
    await Promise.all([daemon.close(), app.close()]);
  }, 120_000);

  it('receives everything, or a resync, after every connection to Redis is reset', async () => {
    const { daemon, app } = await begin('reset');
    cluster.wires.redis.reset();
    // Frames that are published during an outage of Redis can be lost: the app then gets a resync.
    for (const line of numbers(2, 10)) say(daemon, line);
    await until('something is heard again', () => {
      say(daemon, `again ${performance.now()}`);
      return heard(app).some((text) => text.startsWith('again'));
    });
    const lines = heard(app).filter((text) => text.startsWith('line'));
    if (app.inbox.count('resync') === 0) expect(lines).toEqual(numbers(1, 10));
    await Promise.all([daemon.close(), app.close()]);
  }, 120_000);

  const gaps: [string, (app: TestApp) => string, (daemon: TestDaemon) => unknown][] = [
    ['its offset is unknown', () => 'garbage', () => undefined],
    [
      'more was said than the history keeps',
      offsetOf,
      async (daemon) => {
        for (const line of numbers(2, 8)) say(daemon, line.padEnd(200_000, '.'));
        const witness = await connectApp(cluster, { user: daemon.registration.user, since: '', api: 1 });
        say(daemon, 'witnessed');
        await hears(witness, 'witnessed');
        await witness.close();
      },
    ],
    ['Redis lost everything', offsetOf, () => cluster.redis.flush()],
    [
      'Redis died and came back empty',
      offsetOf,
      async () => {
        await cluster.redis.kill();
        await cluster.redis.restart();
      },
    ],
  ];
  for (const [n, [why, since, hurt]] of gaps.entries()) {
    it(`gets a resync when it reconnects and ${why}`, async () => {
      const { daemon, app } = await begin(`gap-${n}`);
      await app.close();
      await hurt(daemon);
      let again: TestApp | undefined;
      await until('it is let in', async () => {
        again = await connectApp(cluster, { user: `gap-${n}`, since: since(app), api: 1 });
        return true;
      });
      // The resync is its first frame, before any frame that follows the gap.
      await again!.next('resync');
      await until('it hears what is said now', () => {
        say(daemon, `now ${performance.now()}`);
        return heard(again!).some((text) => text.startsWith('now'));
      });
      expect(again!.inbox.all[0]).toEqual({ type: 'resync' });
      await Promise.all([daemon.close(), again!.close()]);
    }, 120_000);
  }

  it('gets a resync on an open socket if Redis died, before any frame that follows', async () => {
    const { daemon, app } = await begin('listening');
    await cluster.redis.kill();
    say(daemon, 'lost');
    await cluster.redis.restart();
    await until('it hears what is said now', () => {
      say(daemon, `now ${performance.now()}`);
      return heard(app).some((text) => text.startsWith('now'));
    });
    const types = app.inbox.all.filter(({ type }) => type === 'resync' || type === 'new_message');
    if (!heard(app).includes('lost')) expect(types[1]).toEqual({ type: 'resync' });
    await Promise.all([daemon.close(), app.close()]);
  }, 120_000);

  it('receives everything even if another app of the user reads nothing', async () => {
    const { daemon, app } = await begin('crowd');
    const readers = [app, await connectApp(cluster, { user: 'crowd', since: '', api: 1 })];
    const slow = await connectApp(cluster, { user: 'crowd', since: '', api: 0 });
    // The slow app resumes from here: later frames can be lost with its connection.
    say(daemon, 'line 2');
    await hears(slow, 'line 2');
    slow.socket.pause();
    // More than the buffers of both systems hold, for longer than the relay tolerates a slow reader.
    const big = 'x'.repeat(200_000);
    const slowUntil = performance.now() + 12_000;
    let last = 2;
    while (last < 60 || performance.now() < slowUntil) {
      const lines = numbers(last + 1, last + 10);
      for (const line of lines) say(daemon, `${line} ${big}`);
      last += 10;
      for (const reader of readers)
        await reader.next('new_message', (frame) => textOf(frame).startsWith(`${lines.at(-1)!} `), 60_000);
    }
    for (const reader of readers) expect(reader.inbox.count('resync')).toBe(0);
    expect(heard(app).map((text) => text.split(' x')[0])).toEqual(numbers(1, last));
    slow.socket.resume();
    expect([1006, 1013]).toContain((await slow.closed).code);
    // It resumes from its offset, or gets a resync.
    const again = await connectApp(cluster, { user: 'crowd', since: offsetOf(slow) });
    say(daemon, 'after the end');
    await hears(again, 'after the end');
    expect(again.inbox.count('resync')).toBe(1);
    await Promise.all([daemon, again, ...readers].map((peer) => peer.close()));
  }, 120_000);

  it('keeps these promises under load, during any fault of Redis', async () => {
    const load = await startLoad({ cluster, truth, seed: 2, people: 4, appsEach: 2 });
    await load.flows();
    for (let round = 0; round < 3; round += 1) {
      await load.fault('kill subscriptions', () => cluster.redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub'));
      await load.flows();
      await load.fault('kill connections', () => cluster.redis.command('CLIENT', 'KILL', 'TYPE', 'normal'));
      await load.flows();
      for (const { apps } of load.people) apps[0]!.drop();
    }
    await load.fault('flush', () => cluster.redis.flush());
    await load.flows();
    await load.fault('kill Redis', () => cluster.redis.kill());
    await cluster.redis.restart();
    await load.flows();
    expect(await load.settle({ mayCut: false })).toEqual([]);
  }, 240_000);
});
