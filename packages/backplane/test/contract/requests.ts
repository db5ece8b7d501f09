/** Promises about requests: a command that is answered. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Backplane, BackplaneOptions } from '../../src/backplane.ts';
import type { Command } from '../../src/commands.ts';
import { type MakeBus, codeOf, createEar, createStage, until } from './harness.ts';

export function describeRequests(makeBus: MakeBus): void {
  describe('a request', () => {
    const stage = createStage(makeBus);
    afterEach(stage.clear);

    async function open(options?: Partial<BackplaneOptions>) {
      const bus = await stage.open(options);
      const [api, gateway] = [await bus.connect('api'), await bus.connect('gateway')];
      await gateway.claim('device', 'c1');
      return { bus, api, gateway };
    }

    const answer = (gateway: Backplane, { correlation, replyTo }: Command, body: string) =>
      gateway.reply(replyTo ?? 'nobody', correlation ?? 'none', body);

    /** A gateway that acknowledges and never replies by itself. */
    const collectInto = (gateway: Backplane) => {
      const commands = createEar<Command>();
      gateway.onCommand((command) => {
        commands.add(command);
        return true;
      });
      return commands;
    };

    it('is answered with the text of its own reply, however many wait', async () => {
      const { api, gateway } = await open();
      const commands = collectInto(gateway);
      const bodies = Array.from({ length: 100 }, (_, n) => `question ${n}`);
      const replies = bodies.map((body) => api.request('device', body, 10_000));
      await until('all questions have arrived', () => commands.heard.length === bodies.length);
      for (const command of [...commands.heard].reverse()) await answer(gateway, command, `answer to ${command.body}`);
      expect(await Promise.all(replies)).toEqual(bodies.map((body) => `answer to ${body}`));
    });

    it('gets a long reply like a short one, without delaying short ones', async () => {
      const { api, gateway } = await open();
      const commands = collectInto(gateway);
      const long = 'żółw 🐢 "\n'.repeat(100_000);
      const asked = [api.request('device', 'for much', 10_000), api.request('device', 'for little', 10_000)] as const;
      await answer(gateway, await commands.next(), long);
      await answer(gateway, await commands.next(), 'little');
      expect(await asked[1]).toBe('little');
      expect((await asked[0]) === long).toBe(true);
    });

    it('with a long question is answered too', async () => {
      const { api, gateway } = await open();
      gateway.onCommand(async (command) => {
        await answer(gateway, command, String(command.body.length));
        return true;
      });
      expect(await api.request('device', '?'.repeat(300_000), 10_000)).toBe('300000');
    });

    it('takes a reply that comes before the acknowledgement', async () => {
      const { api, gateway } = await open();
      gateway.onCommand(async (command) => {
        await answer(gateway, command, 'early');
        return true;
      });
      expect(await api.request('device', 'question', 10_000)).toBe('early');
    });

    it('to a device that no live owner takes is offline', async () => {
      const { bus, api, gateway } = await open({ ownerGoneRetryMs: 10 });
      gateway.onCommand(() => false);
      expect(await codeOf(api.request('nobody', 'question', 10_000))).toBe('OFFLINE');
      expect(await codeOf(api.request('device', 'question', 10_000))).toBe('OFFLINE');
      await bus.kill(gateway.instance);
      expect(await codeOf(api.request('device', 'question', 10_000))).toBe('OFFLINE');
    });

    it('without a reply times out, and the late reply disturbs no other', async () => {
      const { api, gateway } = await open();
      const commands = collectInto(gateway);
      // Long enough for the question to arrive on a busy machine: after its deadline no owner gets it.
      expect(await codeOf(api.request('device', 'first', 1_000))).toBe('TIMEOUT');
      const second = api.request('device', 'second', 10_000);
      await answer(gateway, await commands.next(), 'too late');
      await answer(gateway, await commands.next(), 'in time');
      expect(await second).toBe('in time');
      expect(await codeOf(api.request('device', 'third', 0))).toBe('TIMEOUT');
    });

    it('fails with CLOSED when the requesting instance closes', async () => {
      const { api, gateway } = await open();
      const commands = collectInto(gateway);
      const asked = codeOf(api.request('device', 'question', 10_000));
      const command = await commands.next();
      await api.close();
      expect(await asked).toBe('CLOSED');
      await answer(gateway, command, 'to no request');
    });

    it('fails with CLOSED when the replying instance closes', async () => {
      const { api, gateway } = await open();
      const commands = collectInto(gateway);
      const asked = codeOf(api.request('device', 'question', 10_000));
      await commands.next();
      await gateway.close();
      expect(await asked).toBe('CLOSED');
    });

    it('waits only up to the limit of pending requests', async () => {
      const { api, gateway } = await open({ maxPending: 3 });
      const commands = collectInto(gateway);
      const waiting = [1, 2, 3].map((n) => api.request('device', `${n}`, 10_000));
      await until('three are waiting', () => commands.heard.length === 3);
      expect(await codeOf(api.request('device', '4', 10_000))).toBe('OVERLOADED');
      for (let n = 0; n < 3; n++) await answer(gateway, await commands.next(), 'done');
      await Promise.all(waiting);
      const fifth = api.request('device', '5', 10_000);
      await answer(gateway, await commands.next(), 'fifth');
      expect(await fifth).toBe('fifth');
    });

    it('is not answered when the reply names an unknown instance or question', async () => {
      const { api, gateway } = await open();
      const commands = collectInto(gateway);
      await expect(gateway.reply('nobody-000', 'none', 'hello')).resolves.toBeUndefined();
      const asked = api.request('device', 'question', 10_000);
      const command = await commands.next();
      await gateway.reply(api.instance, 'another question', 'wrong');
      await answer(gateway, command, 'right');
      expect(await asked).toBe('right');
    });
  });
}
