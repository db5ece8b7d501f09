/** The newest entries of every user, chained: each names its predecessor, so a gap cannot be mistaken for a continuation. */
import { randomBytes } from 'node:crypto';
import type { BackplaneOptions } from '../backplane.ts';
import { type HistoryPage, historyEntryBytes } from '../user-frames.ts';

interface Entry {
  readonly offset: string;
  readonly previous: string;
  readonly body: string;
  readonly bytes: number;
}

interface Chain {
  /** Random for every new chain: an offset of a discarded chain never appears again. */
  readonly epoch: string;
  count: number;
  top: string;
  topUntil: number;
  entries: Entry[];
  /** The size of all entries. */
  bytes: number;
  entriesUntil: number;
}

type Limits = Pick<BackplaneOptions, 'historyBytes' | 'historyTtlMs' | 'topTtlMs'>;

/** Bound: per user `historyBytes` of entries for `historyTtlMs`, then only the top, for `topTtlMs`. */
export class Histories {
  readonly #chains = new Map<string, Chain>();
  readonly #now: () => number;
  readonly #limits: Limits;
  #sweepAt: number;

  constructor(now: () => number, limits: Limits) {
    this.#now = now;
    this.#limits = limits;
    this.#sweepAt = now() + limits.historyTtlMs;
  }

  /** The number of users, expired ones included until they are swept. */
  get size(): number {
    return this.#chains.size;
  }

  append(user: string, body: string): Entry {
    this.#sweep();
    const now = this.#now();
    const chain = this.#chain(user) ?? this.#begin(user);
    if (chain.entriesUntil <= now) empty(chain);
    chain.count += 1;
    const bytes = Buffer.byteLength(body) + historyEntryBytes;
    const entry = { offset: `${chain.epoch}.${chain.count}`, previous: chain.top, body, bytes };
    chain.entries.push(entry);
    chain.bytes += bytes;
    while (chain.bytes > this.#limits.historyBytes) chain.bytes -= chain.entries.shift()!.bytes;
    chain.top = entry.offset;
    chain.topUntil = now + this.#limits.topTtlMs;
    chain.entriesUntil = now + this.#limits.historyTtlMs;
    return entry;
  }

  forget(user: string): void {
    const chain = this.#chain(user);
    if (chain) empty(chain);
  }

  top(user: string): string {
    return this.#chain(user)?.top ?? '';
  }

  read(user: string, since = ''): HistoryPage {
    const chain = this.#chain(user);
    const top = chain?.top ?? '';
    if (since === '' || since === top) return { top, recovered: true, items: [] };
    const entries = chain && chain.entriesUntil > this.#now() ? chain.entries : [];
    const next = entries.findIndex((entry) => entry.previous === since);
    if (next === -1) return { top, recovered: false, items: [] };
    const items = entries.slice(next).map(({ offset, body }) => ({ offset, body }));
    return { top, recovered: true, items };
  }

  #chain(user: string): Chain | undefined {
    const chain = this.#chains.get(user);
    return chain && chain.topUntil > this.#now() ? chain : undefined;
  }

  #begin(user: string): Chain {
    const epoch = randomBytes(9).toString('base64url');
    const chain: Chain = { epoch, count: 0, top: '', topUntil: 0, entries: [], bytes: 0, entriesUntil: 0 };
    this.#chains.set(user, chain);
    return chain;
  }

  #sweep(): void {
    const now = this.#now();
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + this.#limits.historyTtlMs;
    for (const [user, chain] of this.#chains) {
      if (chain.topUntil <= now) this.#chains.delete(user);
      if (chain.entriesUntil <= now) empty(chain);
    }
  }
}

function empty(chain: Chain): void {
  chain.entries = [];
  chain.bytes = 0;
}
