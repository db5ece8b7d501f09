import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestRelay, connectApp, startRelay } from '@relay/testing';
import fc from 'fast-check';
import { type Scene, begin, openScene } from '../scene.ts';
import { sayer } from './app-door.ts';

const numbers = (app: TestApp) => app.inbox.all.filter(({ type }) => type === 'numbered').map(({ n }) => n as number);
const upTo = (app: TestApp, last: number) => app.next('numbered', ({ n }) => n === last);

/** Rules, 11.7: first everything that was missed, then live frames, without a gap or a duplicate. */
describe('a client that understands offsets', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ apis: 2 });
  });
  afterAll(() => relay.stop());

  it('gets one on every frame, and clients that do not ask get none', async () => {
    const say = sayer(relay, 'alice');
    const [modern, plain] = [
      await connectApp(relay, { since: '', output: true }),
      await connectApp(relay, { output: true }),
    ];
    const first = await say.append(1);
    await say.append(2, 'x');
    await say.hot(3, 'p');
    await say.hot(4, 'o');
    const last = await say.append(5);
    await Promise.all([upTo(modern, 5), upTo(plain, 5)]);
    expect(modern.inbox.all.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5]);
    expect(modern.inbox.all[0]!.offset).toBe(first);
    expect(modern.inbox.all[4]!.offset).toBe(last);
    // A frame outside the history carries the offset of the newest entry before it.
    expect(modern.inbox.all[2]!.offset).toBe(modern.inbox.all[1]!.offset);
    expect(plain.inbox.all).toEqual([1, 3, 4, 5].map((n) => ({ type: 'numbered', n })));
    await Promise.all([modern.close(), plain.close()]);
  });

  it('gets missed frames in order, then live frames, on any instance', async () => {
    const say = sayer(relay, 'bob');
    const since = await say.append(0);
    for (let n = 1; n <= 5; n += 1) await say.append(n);
    for (const api of [0, 1]) {
      const app = await connectApp(relay, { user: 'bob', since, api });
      await say.append(6 + api);
      await upTo(app, 6 + api);
      expect(numbers(app)).toEqual(api === 0 ? [1, 2, 3, 4, 5, 6] : [1, 2, 3, 4, 5, 6, 7]);
      await app.close();
    }
  });

  it('can resume from any offset, also from the offset of a frame outside the history', async () => {
    const say = sayer(relay, 'carol');
    const app = await connectApp(relay, { user: 'carol', since: '' });
    for (let n = 1; n <= 4; n += 1) await say.append(n);
    await say.hot(5);
    await upTo(app, 5);
    const offsets = app.inbox.all.map(({ offset }) => offset as string);
    await app.close();
    await say.append(6);
    for (const [index, since] of offsets.entries()) {
      const back = await connectApp(relay, { user: 'carol', since });
      await upTo(back, 6);
      expect(numbers(back)).toEqual(index === 4 ? [6] : [2, 3, 4, 6].slice(index));
      await back.close();
    }
  });

  it('starts with the next frame if since is empty', async () => {
    const say = sayer(relay, 'dave');
    await say.append(1);
    const app = await connectApp(relay, { user: 'dave', since: '' });
    await say.append(2);
    await upTo(app, 2);
    expect(numbers(app)).toEqual([2]);
    await app.close();
  });

  it('misses nothing and gets nothing twice, wherever it disconnects and however many frames arrive', async () => {
    let runs = 0;
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('say' as const), count: fc.integer({ min: 1, max: 8 }) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('hot' as const), count: fc.integer({ min: 1, max: 3 }) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('cut' as const), count: fc.integer({ min: 0, max: 8 }) }) },
      // Returns while as many frames are being published.
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('back' as const), count: fc.integer({ min: 0, max: 8 }) }),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        const user = `run ${(runs += 1)}`;
        const say = sayer(relay, user);
        const heard: number[] = [];
        const saying: Promise<unknown>[] = [];
        let n = 0;
        let since = await say.append((n += 1));
        let app: TestApp | undefined;
        const sayMany = (count: number) => {
          for (let said = 0; said < count; said += 1) saying.push(say.append((n += 1)));
        };
        const leave = async () => {
          if (!app) return;
          app.socket.terminate();
          await app.closed;
          heard.push(...numbers(app).filter((number) => number > 0));
          since = (app.inbox.all.at(-1)?.offset as string | undefined) ?? since;
          app = undefined;
        };
        const come = async (meanwhile: number) => {
          if (app) return;
          const coming = connectApp(relay, { user, since, api: n % 2 });
          sayMany(meanwhile);
          app = await coming;
        };
        // The frames missed must fit into the history; resync covers the other case.
        let missed = 0;
        for (const { kind, count } of steps) {
          if (kind === 'hot') for (let said = 0; said < count; said += 1) saying.push(say.hot(-1));
          else if (kind === 'cut') await leave();
          else if (kind === 'back') await come(count).then(() => (missed = 0));
          if (kind !== 'say') continue;
          if (!app && (missed += count) > 30) await come(0).then(() => (missed = 0));
          sayMany(count);
        }
        await come(0);
        await Promise.all(saying);
        await say.append((n += 1));
        await upTo(app!, n);
        await leave();
        expect(heard).toEqual(Array.from({ length: n - 1 }, (_, index) => index + 2));
      }),
      { numRuns: 40 },
    );
  });
});

describe('a resumed conversation', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  it('is complete for a client that was away when it completed', async () => {
    const away = await connectApp(scene.relay, { since: '' });
    const begun = await begin(scene, 'resumed');
    const { offset } = await away.next('session_update', ({ previousId }) => previousId === begun.placeholder);
    away.socket.terminate();
    scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'while you were away' });
    await scene.app.next(
      'new_message',
      (frame) => (frame.message as { content: string }).content === 'while you were away',
    );
    const back = await connectApp(scene.relay, { since: offset as string });
    await back.next('session_update', (frame) => (frame.session as { status: string }).status === 'idle');
    expect(back.inbox.all.map(({ type }) => type)).toEqual(['new_message', 'session_update']);
  });
});
