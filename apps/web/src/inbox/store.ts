/** The inbox of the user: one copy per tab, for the list, the start page, the title, the icon and the badge of the app. */
import { type Client, InboxCopy, type InboxState } from '@relay/client';
import { refusalOf } from '../api/refusal.ts';
import type { Live } from '../live.ts';

export interface InboxStore {
  readonly state: InboxState;
  subscribe: (listener: () => void) => () => void;
  start: () => void;
  stop: () => void;
  /** Hides the item at once; it returns if the relay refuses. Rejects then. */
  ack: (id: string) => Promise<void>;
  /** Hides the item until then; null shows it again. */
  snooze: (id: string, until: Date | null) => Promise<void>;
}

/** Wait after a failed read. A relay that returns also sends `resync`. */
const againSeconds = 10;

export function createInbox({ client, live }: { client: Client; live: Pick<Live, 'onFrame'> }): InboxStore {
  const copy = new InboxCopy(client);
  let run = 0;
  let unlisten: (() => void) | undefined;
  const reload = () => {
    const mine = ++run;
    copy.load().catch((error: unknown) => {
      const { retryAfterSeconds = againSeconds } = refusalOf(error);
      setTimeout(() => mine === run && reload(), retryAfterSeconds * 1000);
    });
  };
  const change = async (id: string, work: Promise<unknown>) => {
    copy.hide(id);
    await work.finally(reload);
  };
  return {
    get state() {
      return copy.state;
    },
    subscribe: copy.subscribe,
    start: () => {
      unlisten ??= live.onFrame((frame) => {
        const changed = copy.apply(frame);
        if (frame.type === 'resync' || (frame.type === 'inbox_update' && changed && frame.more)) reload();
      });
      reload();
    },
    stop: () => {
      unlisten?.();
      unlisten = undefined;
      run += 1;
      copy.forget();
    },
    ack: (id) => change(id, client.call('ackItem', { params: { id } })),
    snooze: (id, until) =>
      change(
        id,
        until
          ? client.call('snoozeItem', { params: { id }, body: { until: until.toISOString() } })
          : client.call('unsnoozeItem', { params: { id } }),
      ),
  };
}
