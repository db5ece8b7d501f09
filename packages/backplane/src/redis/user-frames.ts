/** Frames to the apps of a user: appended to their history or published hot, and the history itself. */
import { randomBytes } from 'node:crypto';
import type { UserFrames, VersionedState } from '../user-frames.ts';
import type { Batcher, Join } from './batcher.ts';
import { BrokenChains } from './broken-chains.ts';
import { type Keys, idOf, scopedId } from './keys.ts';
import { encodeKeys } from './shared.ts';
import type { UserSubscriptions } from './user-subscriptions.ts';
import { decodeRecords, encodeRecord } from './wire.ts';

interface UserFramesOptions {
  readonly keys: Keys;
  readonly batcher: Batcher;
  readonly subscriptions: UserSubscriptions;
  readonly historyTtlMs: number;
  isClosed(): boolean;
  onError(error: unknown): void;
}

/** Characters of hot frames for one user and tick that pass the script, whose strings cost by their length. */
const maxHotInScript = 4096;

export class RedisUserFrames implements UserFrames {
  readonly #options: UserFramesOptions;
  readonly #run: Batcher['run'];
  readonly #brokenChains: BrokenChains;
  /** Begins the offsets of this instance, which never lives twice. */
  readonly #epoch = randomBytes(9).toString('base64url');
  #appended = 0;

  constructor(options: UserFramesOptions) {
    this.#options = options;
    this.#run = options.batcher.run;
    const breakChain = (user: string) => this.#run('breakChain', { id: idOf(user), idLength: idOf(user).length });
    this.#brokenChains = new BrokenChains(breakChain, (error) => options.onError(error));
  }

  async append(user: string, body: string): Promise<{ offset: string; receivers: number }> {
    const { id, offset, lengths } = this.#newEntry(user, body);
    return { offset, receivers: await this.#orBreakChain(user, this.#run('append', { id, offset, lengths, body })) };
  }

  appendOnce(user: string, body: string, names: readonly string[], ttl: number): Promise<boolean> {
    const { id, offset, lengths } = this.#newEntry(user, body);
    const [scope, keys] = [scopedId(user), encodeKeys(names)];
    return this.#orBreakChain(user, this.#run('appendOnce', { id, offset, lengths, body, scope, keys, ttl }));
  }

  appendNewest(user: string, body: string, { key, version, ttlMs: ttl }: VersionedState): Promise<boolean> {
    const { id, offset, lengths } = this.#newEntry(user, body);
    const state = scopedId(user, key);
    return this.#orBreakChain(user, this.#run('appendNewest', { id, offset, lengths, body, state, version, ttl }));
  }

  publishNewest(user: string, body: string, { key, version, ttlMs: ttl }: VersionedState): Promise<boolean> {
    const id = idOf(user);
    const record = encodeRecord({ kind: 'hotFrame', id, body });
    return this.#run('publishNewest', { id, record, state: scopedId(user, key), version, ttl });
  }

  publish(user: string, body: string): Promise<number> {
    const id = idOf(user);
    return this.#options.batcher.send(id, body, (...joined) => this.#joinHot(user, id, ...joined));
  }

  async read(user: string, since = ''): ReturnType<UserFrames['read']> {
    // Do not send text that is not an offset: it can be long, and it never matches.
    const offset = /^[\w.-]{0,64}$/.test(since) ? since : '-';
    const [top, recovered, records = ''] = await this.#run('read', { id: idOf(user), since: offset });
    const items: { offset: string; body: string }[] = [];
    decodeRecords(records, (record) => {
      if (record.kind === 'frame') items.push({ offset: record.offset, body: record.body });
    });
    return { top, recovered: recovered === 1, items };
  }

  async forget(user: string): Promise<void> {
    await this.#run('forget', { id: idOf(user) });
  }

  subscribe(...[user, listener, onInterrupted]: Parameters<UserFrames['subscribe']>): Promise<() => Promise<void>> {
    return this.#options.subscriptions.subscribe(user, { listener, onInterrupted });
  }

  audience(user: string): Promise<number> {
    return this.#run('audience', { id: idOf(user) });
  }

  /** Redis can be asked again: subscribers are notified of lost frames. */
  onUp(): void {
    this.#brokenChains.reportAll();
  }

  close(): void {
    this.#brokenChains.close();
  }

  #newEntry(user: string, body: string) {
    // Goes into the batch ahead of the entry.
    this.#brokenChains.report(user);
    const id = idOf(user);
    return { id, offset: this.#nextOffset(), lengths: `${id.length},${body.length}` };
  }

  async #orBreakChain<T>(user: string, answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      // Even if the append succeeded: no reader must conclude that its frames are complete.
      if (!this.#options.isClosed()) this.#brokenChains.add(user);
      throw error;
    }
  }

  /** Many, and a few alone, are not for the script: they go through the channel of the user, which all instances of the user subscribe to. */
  #joinHot(user: string, id: string, ...[bodies, until, isLone]: Parameters<Join>): ReturnType<Join> {
    let size = 0;
    for (const body of bodies) size += body.length;
    if (size <= maxHotInScript && !isLone) {
      return ['publish', id, bodies.map((body) => encodeRecord({ kind: 'hotFrame', id, body })).join('')];
    }
    const records = bodies.map((body) => encodeRecord({ kind: 'longHotFrame', id, body, until }));
    return { channel: this.#options.keys.user(user), message: records.join('') };
  }

  /**
   * Never repeats. Its suffix is the time and a letter that changes four times in the life of a history, which shows
   * the script when to extend it.
   */
  #nextOffset(): string {
    this.#appended += 1;
    const now = Date.now();
    const quarter = Math.floor((now / this.#options.historyTtlMs) * 4) % 36;
    return `${this.#epoch}.${this.#appended.toString(36)}.${now.toString(36)}${quarter.toString(36)}`;
  }
}
