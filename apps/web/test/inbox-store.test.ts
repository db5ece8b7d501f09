import { afterEach, expect, it, jest } from '@jest/globals';
import type { Client } from '@relay/client';
import type { InboxCounts, InboxItem } from '@relay/protocol';
import { Refusal } from '../src/api/refusal.ts';
import type { LiveFrame } from '../src/live.ts';
import { createInbox } from '../src/inbox/store.ts';

const itemOf = (id: string) => ({ id, state: 'open', createdAt: '2026-11-27T10:00:00.000Z' }) as InboxItem;
const countsOf = (total: number) => ({ total, snoozed: 0 }) as InboxCounts;
const turn = () => new Promise((resolve) => setTimeout(resolve));
afterEach(() => void jest.useRealTimers());

/** An inbox whose relay responds with this state. */
function openInbox() {
  const relay = { version: 45, items: [itemOf('old'), itemOf('lost')], asked: 0 };
  let receive: (frame: LiveFrame) => void = () => undefined;
  const call = () => {
    relay.asked += 1;
    return Promise.resolve({ version: relay.version, counts: countsOf(relay.items.length), items: relay.items });
  };
  const inbox = createInbox({
    client: { call } as unknown as Client,
    live: {
      onFrame: (listener) => {
        receive = listener;
        return () => undefined;
      },
    },
  });
  inbox.start();
  return { relay, inbox, receive: (frame: object) => receive(frame as LiveFrame) };
}

it('an inbox goes back with a restored database, and follows it from there', async () => {
  const { relay, inbox, receive } = openInbox();
  await turn();
  expect(inbox.state).toMatchObject({ version: 45, counts: { total: 2 } });
  Object.assign(relay, { version: 40, items: [itemOf('old')], asked: 0 });
  receive({ type: 'resync' });
  await turn();
  expect(relay.asked).toBe(1);
  expect(inbox.state).toMatchObject({ version: 40, counts: { total: 1 }, items: [{ id: 'old' }] });
  receive({ type: 'inbox_update', version: 41, counts: countsOf(2), changed: [itemOf('new')], removed: [] });
  expect(inbox.state.items.map(({ id }) => id).sort()).toEqual(['new', 'old']);
  inbox.stop();
});

it('a response that is older than a frame is requested again after a pause', async () => {
  // Fake timers: on a busy machine the pause can pass before the test has looked.
  jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
  const { relay, inbox, receive } = openInbox();
  receive({ type: 'inbox_update', version: 46, counts: countsOf(3), changed: [itemOf('new')], removed: [] });
  await jest.advanceTimersByTimeAsync(20);
  expect(relay.asked).toBe(1);
  relay.version = 46;
  relay.items.push(itemOf('new'));
  await jest.advanceTimersByTimeAsync(400);
  expect(relay.asked).toBe(2);
  expect(inbox.state).toMatchObject({ version: 46, counts: { total: 3 } });
  inbox.stop();
});

it('W9: a temporarily refused inbox is requested again by itself', async () => {
  let asked = 0;
  const call = () => {
    asked += 1;
    return asked === 1
      ? Promise.reject(new Refusal('RATE_LIMITED', '', 429, 0))
      : Promise.resolve({ version: 1, counts: countsOf(1), items: [itemOf('one')] });
  };
  const inbox = createInbox({ client: { call } as unknown as Client, live: { onFrame: () => () => undefined } });
  const loaded = new Promise<void>((resolve) => inbox.subscribe(resolve));
  inbox.start();
  await loaded;
  expect(inbox.state.counts.total).toBe(1);
  inbox.stop();
});
