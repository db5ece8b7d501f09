/** Promises about an instance: its health, its own bus, its texts, its close. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Backplane } from '../../src/backplane.ts';
import { type MakeBus, codeOf, createEar, createStage, until } from './harness.ts';

export function describeInstances(makeBus: MakeBus): void {
  describe('an instance', () => {
    const { openTwo, clear } = createStage(makeBus);
    afterEach(clear);

    it('notices that it was cut off, and recovers', async () => {
      const { bus, one, two } = await openTwo();
      const [here, there] = [createEar<string>(), createEar<string>()];
      one.onRestored(() => here.add('restored'));
      one.onControl(here.add);
      two.onControl(there.add);
      await bus.interrupt(one.instance);
      expect(await here.next()).toBe('restored');
      // The other instance might have been cut off too.
      await until('both are healthy', async () => (await one.health()).ok && (await two.health()).ok);
      await one.publishControl('control');
      await there.next();
      await until('it hears again', () => here.heard.includes('control'));
    });

    it('is healthy while it receives its own messages', async () => {
      const { one } = await openTwo();
      const { ok, probeMs } = await one.health();
      expect(ok).toBe(true);
      expect(Number.isFinite(probeMs)).toBe(true);
      await one.close();
      expect((await one.health()).ok).toBe(false);
    });

    it('has its own bus and receives nothing from another', async () => {
      const [here, there] = [await openTwo(), await openTwo()];
      await here.one.claim('device', 'c1');
      await here.one.append('user', 'entry');
      await here.one.put('ticket', 'value', 60_000);
      expect((await there.one.owners(['device'])).size).toBe(0);
      expect((await there.one.read('user')).top).toBe('');
      expect(await there.one.take('ticket')).toBeUndefined();
    });

    const calls: [string, (backplane: Backplane, body: string) => Promise<unknown>][] = [
      ['route', (backplane, body) => backplane.route('device', body)],
      ['request', (backplane, body) => backplane.request('device', body, 1_000)],
      ['reply', (backplane, body) => backplane.reply('somebody', 'correlation', body)],
      ['append', (backplane, body) => backplane.append('user', body)],
      ['publish', (backplane, body) => backplane.publish('user', body)],
      ['put', (backplane, body) => backplane.put('ticket', body, 1_000)],
      ['extend', (backplane, body) => backplane.extend('ticket', body, 1_000)],
      ['publishControl', (backplane, body) => backplane.publishControl(body)],
    ];

    it('carries text and nothing else, in every call', async () => {
      const { one } = await openTwo();
      const isTypeError = (work: Promise<unknown>) =>
        work.then(
          () => false,
          (error: unknown) => error instanceof TypeError,
        );
      const results = [];
      for (const [name, call] of calls)
        for (const body of [{ an: 'object' }, Buffer.from('bytes')])
          if (!(await isTypeError(call(one, body as unknown as string)))) results.push(`${name}: ${typeof body}`);
      expect(results).toEqual([]);
    });

    const others: [string, (backplane: Backplane) => Promise<unknown>][] = [
      ['claim', (backplane) => backplane.claim('device', 'c1')],
      ['refresh', (backplane) => backplane.refresh([{ device: 'device', connection: 'c1', fence: 1 }])],
      ['release', (backplane) => backplane.release('device', 1)],
      ['owners', (backplane) => backplane.owners(['device'])],
      ['read', (backplane) => backplane.read('user')],
      ['subscribe', (backplane) => backplane.subscribe('user', () => undefined)],
      ['audience', (backplane) => backplane.audience('user')],
      ['once', (backplane) => backplane.once('scope', ['key'], 1_000)],
      ['mark', (backplane) => backplane.mark('scope', ['key'], 1_000)],
      ['take', (backplane) => backplane.take('ticket')],
      ['peek', (backplane) => backplane.peek('ticket')],
      ['count', (backplane) => backplane.count('who', 1, 1_000)],
    ];

    it('that is closed rejects every call with CLOSED', async () => {
      const { one } = await openTwo();
      await one.close();
      await one.close();
      const codes = [];
      for (const [name, call] of [...calls, ...others])
        codes.push([name, await codeOf(call(one, 'text')).catch(String)]);
      expect(codes.filter(([, code]) => code !== 'CLOSED')).toEqual([]);
    });

    it('receives nothing after its close', async () => {
      const { one, two } = await openTwo();
      const [closed, open] = [createEar<string>(), createEar<string>()];
      one.onControl(closed.add);
      two.onControl(open.add);
      const leave = await one.subscribe('user', ({ body }) => closed.add(body));
      await one.close();
      await leave();
      expect((await two.append('user', 'entry')).receivers).toBe(0);
      await two.publishControl('control');
      await open.next();
      expect(closed.heard).toEqual([]);
    });
  });
}
