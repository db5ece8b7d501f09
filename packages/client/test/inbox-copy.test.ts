/** A copy of the inbox with a scripted relay: lost, late and repeated frames, and a restored database. */
import { expect, it } from '@jest/globals';
import type { Attention, InboxCounts, InboxItem } from '@relay/protocol';
import fc from 'fast-check';
import { type AttentionItem, type Client, InboxCopy } from '../src/browser.ts';

class Relay {
  version = 1;
  items: InboxItem[] = [];
  calls = 0;
  get counts() {
    const snoozed = this.items.filter(({ state }) => state === 'snoozed').length;
    return { total: this.items.length - snoozed, snoozed } as InboxCounts;
  }
  put(id: string, state: InboxItem['state'] | 'closed'): Attention<'inbox_update'> {
    this.version += 1;
    const createdAt = this.items.find((one) => one.id === id)?.createdAt ?? new Date(this.version * 1000).toISOString();
    const item = { id, state, createdAt } as InboxItem;
    this.items = [...this.items.filter((one) => one.id !== id), ...(state === 'closed' ? [] : [item])];
    const { version, counts } = this;
    const [changed, removed] = state === 'closed' ? [[], [id]] : [[item], []];
    return { type: 'inbox_update', version, counts, changed, removed } as unknown as Attention<'inbox_update'>;
  }
  list(state: InboxItem['state']) {
    const found = this.items.filter((item) => item.state === state);
    return found.sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  }
  readonly client = {
    call: async (_: string, { query }: { query: { snoozed?: string } }) => {
      this.calls += 1;
      const { version, counts } = this;
      return Promise.resolve({ version, counts, items: this.list(query.snoozed ? 'snoozed' : 'open') });
    },
  } as unknown as Client;
  get truth() {
    return { version: this.version, counts: this.counts, items: this.list('open'), snoozed: this.list('snoozed') };
  }
}

it('ignores frames that are older than its state', async () => {
  const relay = new Relay();
  const copy = new InboxCopy(relay.client);
  const [first, second] = [relay.put('a', 'open'), relay.put('b', 'open')];
  await copy.load();
  expect([copy.apply(first), copy.apply(second)]).toEqual([undefined, undefined]);
  expect(copy.apply(relay.put('c', 'open'))?.map(({ id }) => id)).toEqual(['c']);
  expect(copy.state).toEqual(relay.truth);
});

it('is behind after a frame that lists only a part of the changes', async () => {
  const relay = new Relay();
  const copy = new InboxCopy(relay.client);
  await copy.load();
  expect(copy.isBehind).toBe(false);
  copy.apply({ ...relay.put('a', 'open'), more: true });
  expect(copy.isBehind).toBe(true);
});

it('follows a database that was restored to an earlier version', async () => {
  const relay = new Relay();
  relay.version = 45;
  const copy = new InboxCopy(relay.client);
  await copy.load();
  relay.version = 40;
  copy.apply({ type: 'resync' });
  await copy.load();
  copy.apply(relay.put('a', 'open'));
  expect(copy.state).toEqual(relay.truth);
});

it('hides an item until the next load', async () => {
  const relay = new Relay();
  relay.put('a', 'open');
  const copy = new InboxCopy(relay.client);
  await copy.load();
  copy.hide('a');
  expect(copy.state.items).toEqual([]);
  await copy.load();
  expect(copy.state).toEqual(relay.truth);
});

it('equals the inbox of the relay after any faults', async () => {
  const step = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    state: fc.constantFrom<InboxItem['state'] | 'closed'>('open', 'snoozed', 'closed'),
    fate: fc.constantFrom('comes', 'comes', 'lost', 'twice', 'late'),
    loads: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const relay = new Relay();
      const copy = new InboxCopy(relay.client);
      await copy.load();
      const late: AttentionItem[] = [];
      let isLossless = true;
      for (const { id, state, fate, loads } of steps) {
        const frame = relay.put(id, state);
        if (fate === 'lost' || fate === 'late') isLossless = false;
        if (fate === 'late') late.push(frame);
        if (fate === 'comes' || fate === 'twice') copy.apply(frame);
        if (fate === 'twice') copy.apply(frame);
        if (loads) await copy.load();
        if (loads) isLossless = true;
      }
      for (const frame of late) copy.apply(frame);
      // The stream reports the loss of a frame.
      if (!isLossless) copy.apply({ type: 'resync' });
      if (copy.isBehind) await copy.load();
      expect(copy.state).toEqual(relay.truth);
    }),
    { numRuns: 300, seed: 41 },
  );
});
