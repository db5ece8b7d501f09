import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Ear, createEar } from './contract/harness.ts';
import { type MemoryBus, type Backplane, type UserFrame, follow, createMemoryBus } from '../src/index.ts';

describe('following a user', () => {
  let bus: MemoryBus;
  let backplane: Backplane;

  beforeEach(() => {
    bus = createMemoryBus();
    backplane = bus.connect('api');
  });
  afterEach(() => bus.close());

  const reader = (ear: Ear<string>) => ({
    onFrame: ({ body }: { body: string }) => ear.add(body),
    onGap: () => ear.add('GAP'),
  });

  const append = async (...bodies: string[]) => {
    let offset = '';
    for (const body of bodies) offset = (await backplane.append('user', body)).offset;
    return offset;
  };

  /** Waits until an earlier subscriber has received everything appended so far. */
  const settle = async () => {
    const heard = createEar<string>();
    const leave = await backplane.subscribe('settle', ({ body }) => heard.add(body));
    await backplane.publish('settle', 'settled');
    await heard.next();
    await leave();
  };

  it('delivers missed frames, then live frames', async () => {
    const since = await append('known');
    await append('missed', 'missed too');
    const ear = createEar<string>();
    const following = await follow(backplane, 'user', reader(ear));
    await append('while connecting');
    await following.resume(since);
    await append('live');
    for (const body of ['missed', 'missed too', 'while connecting', 'live']) expect(await ear.next()).toBe(body);
  });

  it('starts with the first frame after the subscription', async () => {
    await append('before');
    const ear = createEar<string>();
    const following = await follow(backplane, 'user', reader(ear));
    await append('while connecting');
    await backplane.publish('user', 'hot');
    await settle();
    expect(ear.heard).toEqual([]);
    await following.resume();
    await append('live');
    for (const body of ['while connecting', 'hot', 'live']) expect(await ear.next()).toBe(body);
  });

  it('reports the gap, and continues live', async () => {
    const ear = createEar<string>();
    const following = await follow(backplane, 'user', reader(ear));
    await append('lost');
    await following.resume('an offset of long ago');
    await append('live');
    expect(await ear.next()).toBe('GAP');
    expect(await ear.next()).toBe('live');
  });

  it('reads the history instead of holding more than a few hundred frames', async () => {
    const since = await append('known');
    const ear = createEar<string>();
    const following = await follow(backplane, 'user', reader(ear));
    const bodies = Array.from({ length: 400 }, (_, n) => `${n}`);
    await append(...bodies);
    await settle();
    await following.resume(since);
    expect(ear.heard).toEqual(bodies);
  });

  it('reports a gap when a reader without an offset waits too long', async () => {
    const ear = createEar<string>();
    const following = await follow(backplane, 'user', reader(ear));
    await append(...Array.from({ length: 300 }, (_, n) => `${n}`));
    await settle();
    await following.resume();
    expect(ear.heard[0]).toBe('GAP');
    await append('live');
    await settle();
    expect(ear.heard.at(-1)).toBe('live');
  });

  it('K6: delivers received frames once, after a gap, although the store lost everything', async () => {
    const ear = createEar<string>();
    const following = await follow(backplane, 'user', reader(ear));
    await following.resume();
    await append('first');
    await settle();
    bus.flush();
    await append('heard');
    await append('heard too');
    await backplane.publish('user', 'hot');
    await settle();
    await append('live');
    for (const body of ['first', 'GAP', 'heard', 'heard too', 'hot', 'live']) expect(await ear.next()).toBe(body);
    await settle();
    expect(ear.heard).toHaveLength(6);
  });

  it('K6: delivers received frames although the history is unreadable', async () => {
    const ear = createEar<string>();
    let deaf = false;
    const line = {
      read: () => Promise.reject(new Error('unreachable')),
      subscribe: (user: string, listener: (frame: UserFrame) => void, onInterrupted?: () => void) =>
        backplane.subscribe(user, (frame) => !deaf && listener(frame), onInterrupted),
    };
    const following = await follow(line, 'user', reader(ear));
    await following.resume();
    await append('first');
    await settle();
    deaf = true;
    await append('lost');
    await settle();
    deaf = false;
    await append('heard', 'heard too');
    for (const body of ['first', 'GAP', 'heard', 'heard too']) expect(await ear.next()).toBe(body);
  });

  it('takes a history that cannot be read for a gap', async () => {
    const ear = createEar<string>();
    const broken = {
      subscribe: backplane.subscribe.bind(backplane),
      read: () => Promise.reject(new Error('unreachable')),
    };
    const following = await follow(broken, 'user', reader(ear));
    await following.resume(await append('known'));
    await append('live');
    expect(await ear.next()).toBe('GAP');
    await settle();
    expect(ear.heard.at(-1)).toBe('live');
  });

  it('reports a gap again with the first frame after an unreadable history', async () => {
    const since = await append('known');
    const ear = createEar<string>();
    let isAway = true;
    const line = {
      subscribe: backplane.subscribe.bind(backplane),
      read: (user: string, offset?: string) =>
        isAway ? Promise.reject(new Error('unreachable')) : backplane.read(user, offset),
    };
    const following = await follow(line, 'user', reader(ear));
    await following.resume(since);
    expect(await ear.next()).toBe('GAP');
    isAway = false;
    // Frames of that time were lost, and the state that a reader loaded at the first notice is older.
    await append('live', 'and so on');
    for (const body of ['GAP', 'live', 'and so on']) expect(await ear.next()).toBe(body);
  });

  it('reads frames missed during a cut, without a gap', async () => {
    const since = await append('known');
    const ear = createEar<string>();
    let deaf = false;
    const line = {
      read: backplane.read.bind(backplane),
      subscribe: (user: string, listener: (frame: UserFrame) => void, onInterrupted?: () => void) =>
        backplane.subscribe(user, (frame) => !deaf && listener(frame), onInterrupted),
    };
    const following = await follow(line, 'user', reader(ear));
    await following.resume(since);
    deaf = true;
    await append('missed', 'missed too');
    await settle();
    deaf = false;
    bus.interrupt(backplane.instance);
    await append('live');
    for (const body of ['missed', 'missed too', 'live']) expect(await ear.next()).toBe(body);
    await settle();
    expect(ear.heard).toHaveLength(3);
  });

  it('reports a gap when the connection was cut before the reader had an offset', async () => {
    const ear = createEar<string>();
    const following = await follow(backplane, 'user', reader(ear));
    await following.resume();
    bus.interrupt(backplane.instance);
    expect(await ear.next()).toBe('GAP');
  });

  it('delivers nothing more once it was stopped', async () => {
    const [stopped, other] = [createEar<string>(), createEar<string>()];
    const following = await follow(backplane, 'user', reader(stopped));
    await following.resume();
    await (await follow(backplane, 'user', reader(other))).resume();
    const stopping = following.stop();
    await append('live');
    await stopping;
    await other.next();
    expect(stopped.heard).toEqual([]);
  });
});
