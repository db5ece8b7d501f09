/** Keys used once, values taken once, counters, and control messages, on Redis. */
import type { Listeners } from '../listeners.ts';
import type { Counted, Shared } from '../shared.ts';
import type { Batcher } from './batcher.ts';
import { type Keys, idOf, scopedId } from './keys.ts';
import { encodeRecord } from './wire.ts';

export class RedisShared implements Shared {
  readonly #keys: Keys;
  readonly #batcher: Batcher;
  readonly #control: Listeners<string>;

  constructor(keys: Keys, batcher: Batcher, control: Listeners<string>) {
    this.#keys = keys;
    this.#batcher = batcher;
    this.#control = control;
  }

  once(scope: string, keys: readonly string[], ttlMs: number): Promise<boolean> {
    return this.#batcher.run('once', { scope: scopedId(scope), keys: encodeKeys(keys), ttl: ttlMs });
  }

  async mark(scope: string, keys: readonly string[], ttlMs: number): Promise<void> {
    await this.#batcher.run('mark', { scope: scopedId(scope), keys: encodeKeys(keys), ttl: ttlMs });
  }

  take(key: string): Promise<string | undefined> {
    return this.#batcher.run('take', { id: idOf(key) });
  }

  peek(key: string): Promise<string | undefined> {
    return this.#batcher.run('peek', { id: idOf(key) });
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    await this.#batcher.run('put', { id: idOf(key), value, ttl: ttlMs });
  }

  keepFirst(key: string, value: string, ttlMs: number): Promise<string> {
    return this.#batcher.run('keepFirst', { id: idOf(key), value, ttl: ttlMs });
  }

  extend(key: string, more: string, ttlMs: number): Promise<boolean> {
    return this.#batcher.run('extend', { id: idOf(key), more, ttl: ttlMs });
  }

  async count(key: string, by: number, windowMs: number): Promise<Counted> {
    const [count, leftMs, endsAt] = await this.#batcher.run('count', { id: idOf(key), by, window: windowMs });
    return { count, leftMs, endsAt };
  }

  async publishControl(body: string): Promise<void> {
    await this.#batcher.publish(this.#keys.control, encodeRecord({ kind: 'control', body }));
  }

  onControl(listener: (body: string) => void): void {
    this.#control.add(listener);
  }
}

/** Keys of `once` and `mark`: each prefixed by its length in bytes and a colon. */
export const encodeKeys = (keys: readonly string[]): string =>
  [...new Set(keys)].map((key) => `${Buffer.byteLength(key)}:${key}`).join('');
