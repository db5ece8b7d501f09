/** Promises about subscribers: each receives its frames in order, and learns of interruptions. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Backplane } from '../../src/backplane.ts';
import type { UserFrame } from '../../src/user-frames.ts';
import { type ContractBus, type MakeBus, bodies, createEar, createStage, until } from './harness.ts';

type Open = () => Promise<{ bus: ContractBus; gateway: Backplane; api: Backplane }>;

export function describeSubscribers(makeBus: MakeBus): void {
  describe('a subscriber', () => {
    const stage = createStage(makeBus);
    afterEach(stage.clear);

    const open = async () => {
      const bus = await stage.open();
      return { bus, gateway: await bus.connect('gateway'), api: await bus.connect('api') };
    };

    testOrder(open);
    testAudience(open);
    testInterruptions(open);
  });
}

/** All frames of one user, each once, in the order of the chain. */
function testOrder(open: Open): void {
  it('receives each appended frame with text, offset and predecessor', async () => {
    const { gateway, api } = await open();
    const frames = createEar<UserFrame>();
    await api.subscribe('user', frames.add);
    const beforeMs = Date.now();
    const first = await gateway.append('user', 'one "1"\n');
    const second = await gateway.append('user', 'two 🐢');
    expect(await frames.next()).toEqual({
      ...{ body: 'one "1"\n', offset: first.offset, previous: '', hot: false },
      appendedAtMs: expect.any(Number),
    });
    const expected = { body: 'two 🐢', offset: second.offset, previous: first.offset, hot: false };
    const { appendedAtMs = 0, ...frame } = await frames.next();
    expect(frame).toEqual(expected);
    expect(appendedAtMs).toBeGreaterThanOrEqual(beforeMs);
    expect(appendedAtMs).toBeLessThanOrEqual(Date.now());
    expect([first.receivers, second.receivers]).toEqual([1, 1]);
  });

  it('receives hot frames, which carry the offset of the newest entry before them', async () => {
    const { gateway, api } = await open();
    const frames = createEar<UserFrame>();
    await api.subscribe('user', frames.add);
    expect(await gateway.publish('user', 'hot')).toBe(1);
    const { offset } = await gateway.append('user', 'entry');
    await gateway.publish('user', 'hotter');
    expect(await frames.next()).toEqual({ body: 'hot', offset: '', hot: true });
    expect((await frames.next()).hot).toBe(false);
    expect(await frames.next()).toEqual({ body: 'hotter', offset, hot: true });
  });

  it('receives an `appendOnce` frame once, in chain order, from any instance', async () => {
    const { gateway, api } = await open();
    const frames = createEar<UserFrame>();
    await api.subscribe('user', frames.add);
    const { offset } = await gateway.append('user', 'before');
    expect(await gateway.appendOnce('user', 'said ł', ['text', 'uuid'], 60_000)).toBe(true);
    expect(await api.appendOnce('user', 'said again', ['other', 'uuid'], 60_000)).toBe(false);
    expect(await gateway.once('user', ['other'], 60_000)).toBe(false);
    expect(await gateway.appendOnce('user', 'x'.repeat(3_000), ['long'], 60_000)).toBe(true);
    expect(await gateway.appendOnce('another', 'of another user', ['text'], 60_000)).toBe(true);
    await gateway.append('user', 'after');
    expect((await frames.next()).body).toBe('before');
    expect(await frames.next()).toMatchObject({ body: 'said ł', previous: offset, hot: false });
    expect((await frames.next()).body).toBe('x'.repeat(3_000));
    expect((await frames.next()).body).toBe('after');
    const { items } = await api.read('user', offset);
    expect(bodies(items)).toEqual(['said ł', 'x'.repeat(3_000), 'after']);
  });

  it('has one of many who append the same at once', async () => {
    const { gateway, api } = await open();
    const tries = Array.from({ length: 50 }, (_, n) =>
      (n % 2 ? gateway : api).appendOnce('user', `${n}`, ['shared', `own ${n}`], 60_000),
    );
    expect((await Promise.all(tries)).filter((first) => first)).toHaveLength(1);
  });

  it('receives all frames of its user in chain order, from any instance', async () => {
    const { bus, gateway, api } = await open();
    const other = await bus.connect('gateway');
    const frames = createEar<UserFrame>();
    await api.subscribe('user', frames.add);
    await Promise.all(Array.from({ length: 100 }, (_, n) => (n % 2 ? gateway : other).append('user', `${n % 2} ${n}`)));
    await until('all are heard', () => frames.heard.length === 100);
    const offsets = frames.heard.map(({ offset }) => offset);
    expect(frames.heard.map(({ previous }) => previous)).toEqual(['', ...offsets.slice(0, -1)]);
    const fromOne = bodies(frames.heard).filter((body) => body.startsWith('1'));
    expect(fromOne).toEqual(Array.from({ length: 50 }, (_, n) => `1 ${2 * n + 1}`));
  });

  it('receives long and short texts in the order of sending, and finds them so in the history', async () => {
    const { gateway, api } = await open();
    const frames = createEar<UserFrame>();
    await api.subscribe('user', frames.add);
    const { offset: begin } = await gateway.append('user', 'begin');
    const texts = Array.from({ length: 40 }, (_, n) => `${n} ${'żółw 🐢 "\n\0'.repeat(n % 3 ? n * 50 : 0)}`);
    await Promise.all(
      texts.map((text, n) => (n % 4 === 3 ? gateway.publish('user', text) : gateway.append('user', text))),
    );
    await until('all are heard', () => frames.heard.length === texts.length + 1);
    expect(bodies(frames.heard).slice(1)).toEqual(texts);
    const kept = texts.filter((_, n) => n % 4 !== 3);
    expect(bodies((await api.read('user', begin)).items)).toEqual(kept);
    const last = frames.heard.findLast(({ hot }) => !hot)!;
    expect((await api.read('user')).top).toBe(last.offset);
  });
}

/** A frame reaches every subscriber of its user, and no one else. */
function testAudience(open: Open): void {
  it('receives nothing of another user', async () => {
    const { gateway, api } = await open();
    const frames = createEar<UserFrame>();
    await api.subscribe('user', frames.add);
    expect((await gateway.append('other', 'not yours')).receivers).toBe(0);
    expect(await gateway.publish('other', 'not yours')).toBe(0);
    await gateway.append('user', 'yours');
    expect((await frames.next()).body).toBe('yours');
  });

  it('receives its own frames', async () => {
    const { api } = await open();
    const frames = createEar<UserFrame>();
    await api.subscribe('user', frames.add);
    await api.append('user', 'mine');
    expect((await frames.next()).body).toBe('mine');
  });

  it('is one of several, on one instance and on many, and leaving affects no other', async () => {
    const { bus, gateway, api } = await open();
    const second = await bus.connect('api');
    const [left, stayed, elsewhere] = [createEar<UserFrame>(), createEar<UserFrame>(), createEar<UserFrame>()];
    const leave = await api.subscribe('user', left.add);
    await api.subscribe('user', stayed.add);
    await second.subscribe('user', elsewhere.add);
    expect((await gateway.append('user', 'all')).receivers).toBe(2);
    await Promise.all([left.next(), stayed.next(), elsewhere.next()]);
    await leave();
    await leave();
    await gateway.append('user', 'who stayed');
    await Promise.all([stayed.next(), elsewhere.next()]);
    expect(bodies(left.heard)).toEqual(['all']);
  });

  it('receives everything twice after subscribing one function twice, until it unsubscribes once', async () => {
    const { gateway, api } = await open();
    const frames = createEar<UserFrame>();
    const leave = await api.subscribe('user', frames.add);
    await api.subscribe('user', frames.add);
    await gateway.append('user', 'one');
    await until('it is heard twice', () => frames.heard.length === 2);
    await leave();
    await gateway.append('user', 'two');
    await gateway.append('user', 'three');
    await until('the last one is heard', () => bodies(frames.heard).includes('three'));
    expect(bodies(frames.heard)).toEqual(['one', 'one', 'two', 'three']);
  });

  it('that throws disturbs no other', async () => {
    const { gateway, api } = await open();
    const frames = createEar<UserFrame>();
    await api.subscribe('user', () => {
      throw new Error('broken');
    });
    await api.subscribe('user', frames.add);
    await gateway.append('user', 'one');
    await gateway.append('user', 'two');
    await frames.next();
    expect((await frames.next()).body).toBe('two');
  });

  it('is counted by instance until it leaves, or its instance does', async () => {
    const { bus, gateway, api } = await open();
    expect(await gateway.audience('user')).toBe(0);
    const leave = await api.subscribe('user', () => undefined);
    const leaveToo = await api.subscribe('user', () => undefined);
    expect(await gateway.audience('user')).toBe(1);
    const [closing, dying] = [await bus.connect('api'), await bus.connect('api')];
    await closing.subscribe('user', () => undefined);
    await dying.subscribe('user', () => undefined);
    expect(await gateway.audience('user')).toBe(3);
    await closing.close();
    await bus.kill(dying.instance);
    await until('those who are gone are not counted', async () => (await gateway.audience('user')) === 1);
    await leave();
    expect(await gateway.audience('user')).toBe(1);
    await leaveToo();
    expect(await gateway.audience('user')).toBe(0);
  });
}

function testInterruptions(open: Open): void {
  it('learns of possibly lost frames before it receives later ones', async () => {
    const { bus, gateway, api } = await open();
    const said = createEar<string>();
    await api.subscribe(
      'user',
      ({ body }) => said.add(body),
      () => said.add('INTERRUPTED'),
    );
    await gateway.append('user', 'before');
    await until('the frame is heard', () => said.heard.length > 0);
    await bus.interrupt(api.instance);
    await until('it is told', () => said.heard.includes('INTERRUPTED'));
    await gateway.append('user', 'after');
    await until('it hears again', () => said.heard.includes('after'));
    expect(said.heard).toEqual(['before', 'INTERRUPTED', 'after']);
  });

  it('goes on hearing after everything stored was lost', async () => {
    const { bus, gateway, api } = await open();
    const frames = createEar<UserFrame>();
    await api.subscribe('user', frames.add);
    const before = await gateway.append('user', 'before');
    await bus.flush();
    const after = await gateway.append('user', 'after');
    await frames.next();
    expect(await frames.next()).toMatchObject({ body: 'after', previous: '' });
    expect(after.offset).not.toBe(before.offset);
  });
}
