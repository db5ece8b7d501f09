/** Promises about work that is offered to one of many instances. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Backplane } from '../../src/backplane.ts';
import { onPoke, poke, poker } from '../../src/pokes.ts';
import { type MakeBus, createGate, createStage, passing, until } from './harness.ts';

export function describePokes(makeBus: MakeBus): void {
  describe('a poke', () => {
    const stage = createStage(makeBus);
    const ends: (() => void)[] = [];
    afterEach(async () => {
      for (const end of ends.splice(0)) end();
      await stage.clear();
    });

    /** Listening instances, each with its place, and the number of their calls. */
    async function openListeners(count: number) {
      const bus = await stage.open({ leaseTtlMs: 2_000 });
      const sender = await bus.connect('sender');
      const listeners: { backplane: Backplane; told: number; takes: boolean }[] = [];
      for (let n = 0; n < count; n += 1) {
        const listener = { backplane: await bus.connect(`listener-${n}`), told: 0, takes: true };
        const listen = () => {
          listener.told += listener.takes ? 1 : 0;
          return listener.takes;
        };
        ends.push(onPoke(listener.backplane, 'work', listen, 50));
        listeners.push(listener);
      }
      const places = Array.from({ length: 16 }, (_, n) => `poke:work:${n}`);
      await until('all have a place', async () => {
        const owners = [...(await sender.owners(places)).values()].map(({ instance }) => instance);
        return new Set(owners).size === count && owners.length === count;
      });
      return { bus, sender, listeners };
    }

    it('calls one of the listeners, and eventually each of them', async () => {
      const { sender, listeners } = await openListeners(3);
      let said = 0;
      await until('each was told', async () => {
        said += 1;
        expect(await poke(sender, 'work')).toBe(true);
        return listeners.every(({ told }) => told > 0);
      });
      expect(listeners.reduce((sum, { told }) => sum + told, 0)).toBe(said);
    });

    it('calls another listener when the first is busy', async () => {
      const { sender, listeners } = await openListeners(2);
      listeners[0]!.takes = false;
      for (let n = 0; n < 10; n += 1) expect(await poke(sender, 'work')).toBe(true);
      expect(listeners[1]!.told).toBe(10);
      listeners[1]!.takes = false;
      expect(await poke(sender, 'work')).toBe(false);
    });

    it('calls no listener of another topic', async () => {
      const { sender } = await openListeners(1);
      expect(await poke(sender, 'other')).toBe(false);
    });

    it('finds the others when one has vanished', async () => {
      const { bus, sender, listeners } = await openListeners(2);
      await bus.kill(listeners[0]!.backplane.instance);
      await until('only the other one is told', () => poke(sender, 'work'), passing(bus, 100));
      expect(listeners[1]!.told).toBe(1);
    });

    it('calls every listener when no single one confirms; merges concurrent calls', async () => {
      const bus = await stage.open();
      const sender = await bus.connect('sender');
      const gate = createGate<void>();
      let everybody = 0;
      const tell = poker(
        sender,
        'work',
        () => {
          everybody += 1;
          return gate.opened;
        },
        () => undefined,
      );
      tell();
      await until('everybody is told', () => everybody === 1);
      for (let n = 0; n < 100; n += 1) tell();
      gate.open();
      await until('once more', () => everybody === 2);
      await bus.close();
      expect(everybody).toBe(2);
    });
  });
}
