/**
 * The inbox of the person, as the relay counts it: one copy per tab, which the list, the start page, the title, the icon and the badge of
 * the app all show. Of two states the one with the higher version is newer.
 */
import type { Client } from '@relay/client';
import type { InboxCounts, InboxItem } from '@relay/protocol';
import { refusalOf } from '../api/refusal.ts';
import type { Live, LiveFrame } from '../live.ts';

export interface InboxView {
  version: number;
  counts: InboxCounts;
  /** The newest open items, newest first. */
  items: readonly InboxItem[];
  /** The newest that are hidden for a while. */
  snoozed: readonly InboxItem[];
}

export interface InboxStore {
  readonly state: InboxView;
  subscribe: (listener: () => void) => () => void;
  start: () => void;
  stop: () => void;
  /** The item needs no more attention: it is gone from here at once, and comes back when the relay refuses. Rejects then. */
  ack: (id: string) => Promise<void>;
  /** Hides it until then; null shows it again. */
  snooze: (id: string, until: Date | null) => Promise<void>;
}

const none: InboxView = {
  version: 0,
  counts: { question: 0, failure: 0, unknown: 0, finished: 0, device: 0, snoozed: 0, total: 0, badge: 0 },
  items: [],
  snoozed: [],
};

/** Loaded at once; a person with more sees the newest, and the others when these are done. */
const pageItems = 100;
/** How long to wait before loading again when the state is older than the frames. */
const behindMs = 250;
/** After a failure. A relay that is back sends `resync` besides. */
const againSeconds = 10;

type Update = Extract<LiveFrame, { type: 'inbox_update' }>;
const newestFirst = (items: readonly InboxItem[]) =>
  [...items].sort((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, pageItems);

/** The view after a frame; the same when the frame is not newer. */
export function updated(view: InboxView, { version, counts, changed, removed }: Update): InboxView {
  if (version <= view.version) return view;
  const gone = new Set([...removed, ...changed.map(({ id }) => id)]);
  const merged = (items: readonly InboxItem[], state: InboxItem['state']) =>
    newestFirst([...items.filter(({ id }) => !gone.has(id)), ...changed.filter((item) => item.state === state)]);
  return { version, counts, items: merged(view.items, 'open'), snoozed: merged(view.snoozed, 'snoozed') };
}

export function createInbox({ client, live }: { client: Client; live: Pick<Live, 'onFrame'> }): InboxStore {
  let state = none;
  let run = 0;
  let unhear: (() => void) | undefined;
  const listeners = new Set<() => void>();
  const become = (next: InboxView) => {
    if (next === state) return;
    state = next;
    for (const listener of listeners) listener();
  };

  const load = async (): Promise<void> => {
    const mine = ++run;
    const { version, counts, items } = await client.call('listInbox', { query: { limit: pageItems } });
    const hidden =
      counts.snoozed === 0
        ? []
        : (await client.call('listInbox', { query: { limit: pageItems, snoozed: 'true' } })).items;
    if (mine !== run) return;
    if (version < state.version) {
      // A newer frame arrived in between, and it carries only the changes.
      await new Promise((resolve) => setTimeout(resolve, behindMs));
      return mine === run ? load() : undefined;
    }
    become({ version, counts, items, snoozed: hidden });
  };
  const reload = () => {
    const mine = run + 1;
    load().catch((error: unknown) => {
      const { retryAfterSeconds = againSeconds } = refusalOf(error);
      setTimeout(() => mine === run && reload(), retryAfterSeconds * 1000);
    });
  };

  const hear = (frame: LiveFrame) => {
    if (frame.type === 'resync') {
      // A restored database counts from an older version: the version known here can be newer than any that arrives.
      state = { ...state, version: 0 };
      reload();
    }
    if (frame.type !== 'inbox_update') return;
    // Changes between two versions that this tab did not see are in no frame that follows.
    const isNewer = frame.version > state.version;
    become(updated(state, frame));
    if (isNewer && frame.more === true) reload();
  };

  const without = (id: string): InboxView => ({
    ...state,
    items: state.items.filter((item) => item.id !== id),
    snoozed: state.snoozed.filter((item) => item.id !== id),
  });
  const change = async (id: string, work: () => Promise<{ version: number; counts: InboxCounts }>) => {
    become(without(id));
    try {
      const { version, counts } = await work();
      if (version > state.version) become({ ...state, version, counts });
    } finally {
      reload();
    }
  };

  return {
    get state() {
      return state;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: () => {
      if (unhear) return;
      unhear = live.onFrame(hear);
      reload();
    },
    stop: () => {
      unhear?.();
      unhear = undefined;
      run += 1;
      become(none);
    },
    ack: (id) => change(id, () => client.call('ackItem', { params: { id } })),
    snooze: (id, until) =>
      change(id, () =>
        until === null
          ? client.call('unsnoozeItem', { params: { id } })
          : client.call('snoozeItem', { params: { id }, body: { until: until.toISOString() } }),
      ),
  };
}
