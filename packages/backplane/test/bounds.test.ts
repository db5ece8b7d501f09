import { describe, expect, it } from '@jest/globals';
import { CommandExchange } from '../src/command-exchange.ts';
import { createMemoryBus } from '../src/index.ts';
import type { CommandAnswer } from '../src/instance-message.ts';
import { Expiring } from '../src/memory/expiring.ts';
import { Histories } from '../src/memory/histories.ts';
import { LeaseTable } from '../src/memory/lease-table.ts';

const hourMs = 60 * 60_000;

function createClock() {
  let atMs = 1_000_000;
  return { now: () => atMs, advance: (ms: number) => void (atMs += ms) };
}

describe('the memory of a bus', () => {
  it('loses the oldest value when it is full', () => {
    const values = new Expiring<string>(Date.now, 2);
    values.set('a', '1', 60_000);
    values.set('b', '2', 60_000);
    values.set('a', '3', 60_000);
    values.set('c', '4', 60_000);
    expect([values.get('a'), values.get('b'), values.get('c')]).toEqual(['3', undefined, '4']);
    expect(values.size).toBe(2);
  });

  it('sweeps values whose time is over when others come', () => {
    const clock = createClock();
    const values = new Expiring<string>(clock.now, 100);
    values.set('short', '1', 10);
    values.set('long', '2', hourMs);
    clock.advance(60_000);
    expect(values.get('short')).toBeUndefined();
    values.set('new', '3', 10);
    expect(values.size).toBe(2);
  });

  it('forgets a device a day after its lease expires, and its fence not before', () => {
    const clock = createClock();
    const leases = new LeaseTable(clock.now, 60_000);
    const { fence } = leases.claim('old', 'c1', 'gateway');
    leases.release('old', fence);
    clock.advance(-hourMs);
    expect(leases.claim('old', 'c2', 'gateway').fence).toBe(fence + 1);
    clock.advance(23 * hourMs);
    leases.claim('other', 'c3', 'gateway');
    expect(leases.size).toBe(2);
    clock.advance(2 * hourMs);
    leases.claim('another', 'c4', 'gateway');
    expect(leases.size).toBe(2);
  });

  it('forgets a user when the top is forgotten', () => {
    const clock = createClock();
    const histories = new Histories(clock.now, { historyBytes: 2 ** 20, historyTtlMs: 60_000, topTtlMs: hourMs });
    histories.append('old', 'entry');
    clock.advance(hourMs);
    histories.append('new', 'entry');
    expect(histories.size).toBe(1);
  });

  it('forgets the oldest question that its owner never answers', async () => {
    const told: string[] = [];
    const post = {
      toOwner: () => Promise.resolve('offline' as const),
      toInstance: (_: string, answer: CommandAnswer) => {
        if (answer.kind === 'abandoned') told.push(answer.correlation);
        return Promise.resolve();
      },
    };
    const commands = new CommandExchange('gateway', post, { maxPending: 2, ownerGoneRetryMs: 1 }, () => undefined);
    commands.onCommand(() => true);
    for (const correlation of ['first', 'second', 'third']) {
      const command = { device: 'device', fence: 1, body: 'question', correlation, replyTo: 'api' };
      commands.receive({ kind: 'command', id: correlation, from: 'api', command, deadline: Infinity });
    }
    await commands.close();
    expect(told).toEqual(['second', 'third']);
  });

  it('limits pending requests to ten thousand by default', async () => {
    const bus = createMemoryBus();
    const [api, gateway] = [bus.connect('api'), bus.connect('gateway')];
    await gateway.claim('device', 'c1');
    gateway.onCommand(() => true);
    const waiting = Array.from({ length: 10_000 }, () => api.request('device', 'question', 60_000));
    await expect(api.request('device', 'one too many', 60_000)).rejects.toMatchObject({ code: 'OVERLOADED' });
    const ended = Promise.allSettled(waiting);
    await bus.close();
    const codes = (await ended).map((end) => end.status === 'rejected' && (end.reason as { code?: string }).code);
    expect(new Set(codes)).toEqual(new Set(['CLOSED']));
  });
});

describe('a memory bus', () => {
  it('reports errors of listeners to its creator', async () => {
    const errors: unknown[] = [];
    const bus = createMemoryBus({ onError: (error) => errors.push(error) });
    const backplane = bus.connect('api');
    const broken = new Error('broken');
    backplane.onControl(() => {
      throw broken;
    });
    const heard = new Promise<void>((resolve) => backplane.onControl(() => resolve()));
    await backplane.publishControl('control');
    await heard;
    expect(errors).toEqual([broken]);
    await bus.close();
  });

  it('delivers in a later turn, never inside the call', async () => {
    const bus = createMemoryBus();
    const backplane = bus.connect('api');
    const order: string[] = [];
    const heard = new Promise<void>((resolve) => {
      backplane.onControl(() => {
        order.push('heard');
        resolve();
      });
    });
    await backplane.publishControl('control');
    order.push('published');
    await heard;
    expect(order).toEqual(['published', 'heard']);
    await bus.close();
  });

  it('delivers no command after its deadline, however long the process was stuck', async () => {
    const bus = createMemoryBus();
    const [api, gateway] = [bus.connect('api'), bus.connect('gateway')];
    await gateway.claim('device', 'c1');
    const heard: string[] = [];
    gateway.onCommand(({ body }) => heard.push(body) > 0);
    const late = api.route('device', 'late', 20);
    const until = performance.now() + 40;
    while (performance.now() < until);
    expect(await late).toBe('unknown');
    expect(await api.route('device', 'in time')).toBe('sent');
    expect(heard).toEqual(['in time']);
    await bus.close();
  });

  it('freezes the frame that all listeners share', async () => {
    const bus = createMemoryBus();
    const backplane = bus.connect('api');
    const frozen = new Promise<boolean>((resolve) => {
      void backplane.subscribe('user', (frame) => resolve(Object.isFrozen(frame)));
    });
    await backplane.append('user', 'entry');
    expect(await frozen).toBe(true);
    await bus.close();
  });
});
