/** An app's copy of its user's inbox. The state with the higher version wins, whether a frame or a read brought it. */
import type { Inbox, InboxCounts, InboxItem } from '@relay/protocol';
import type { Client } from './client.ts';
import { pause } from './pause.ts';
import type { AttentionItem } from './items.ts';
import { Signal } from './signal.ts';

export interface InboxState {
  readonly version: number;
  readonly counts: InboxCounts;
  /** The newest open items, newest first. */
  readonly items: readonly InboxItem[];
  /** The newest snoozed items. */
  readonly snoozed: readonly InboxItem[];
}

const empty: InboxState = {
  version: 0,
  counts: { question: 0, failure: 0, unknown: 0, finished: 0, device: 0, snoozed: 0, total: 0, badge: 0 },
  items: [],
  snoozed: [],
};

/** A copy holds the newest items; the next load brings older ones after these are done. */
const pageItems = 100;
/** Wait before reading again after an answer older than a frame. */
const askAgainMs = 250;

const newestFirst = (items: readonly InboxItem[]) =>
  [...items].sort((a, b) => b.createdAt.localeCompare(a.createdAt)).slice(0, pageItems);

export class InboxCopy extends Signal {
  readonly #client: Pick<Client, 'call'>;
  #state = empty;
  #reads = 0;
  #isBehind = true;

  constructor(client: Pick<Client, 'call'>) {
    super();
    this.#client = client;
  }

  /** The same object until the state changes. */
  get state(): InboxState {
    return this.#state;
  }

  /** Changes were lost: call `load`. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Applies a frame. Returns the changed items; undefined for another frame type or an outdated version. */
  apply(frame: AttentionItem): readonly InboxItem[] | undefined {
    if (frame.type === 'resync') {
      this.#isBehind = true;
      // A restored database continues from a lower version, although its state is newer.
      this.#state = { ...this.#state, version: 0 };
    }
    if (frame.type !== 'inbox_update' || frame.version <= this.#state.version) return undefined;
    const { version, counts, changed, removed, more } = frame;
    const gone = new Set([...removed, ...changed.map(({ id }) => id)]);
    const merged = (items: readonly InboxItem[], state: InboxItem['state']) =>
      newestFirst([...items.filter(({ id }) => !gone.has(id)), ...changed.filter((item) => item.state === state)]);
    // No later frame repeats the changes that this copy missed.
    this.#isBehind ||= more === true;
    this.#become({
      version,
      counts,
      items: merged(this.#state.items, 'open'),
      snoozed: merged(this.#state.snoozed, 'snoozed'),
    });
    return changed;
  }

  /**
   * Reads the newest items, and again if a frame is newer than the answer. Returns the answer; undefined if `load` was called again.
   * @throws the errors of calls
   */
  async load(): Promise<Inbox | undefined> {
    const read = ++this.#reads;
    const list = (query: { snoozed?: 'true' }) =>
      this.#client.call('listInbox', { query: { limit: pageItems, ...query } });
    const inbox = await list({});
    const { version, counts, items } = inbox;
    const snoozed = counts.snoozed ? (await list({ snoozed: 'true' })).items : [];
    if (version < this.#state.version) await pause(askAgainMs);
    if (read !== this.#reads) return undefined;
    if (version < this.#state.version) return this.load();
    this.#isBehind = false;
    this.#become({ version, counts, items, snoozed });
    return inbox;
  }

  /** Removes an item until the next load, while its change is being sent to the relay. */
  hide(id: string): void {
    const without = (items: readonly InboxItem[]) => items.filter((item) => item.id !== id);
    this.#become({ ...this.#state, items: without(this.#state.items), snoozed: without(this.#state.snoozed) });
  }

  /** Resets the copy, and drops the answers of pending reads. */
  forget(): void {
    this.#reads += 1;
    this.#isBehind = true;
    this.#become(empty);
  }

  #become(state: InboxState): void {
    this.#state = state;
    this.notify();
  }
}
