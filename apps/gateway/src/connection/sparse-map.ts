/** A Map that allocates on first use: for fields that thousands of connections could have and few do. */
export class SparseMap<K, V> implements Iterable<[K, V]> {
  #entries: Map<K, V> | undefined;

  get size(): number {
    return this.#entries?.size ?? 0;
  }

  get(key: K): V | undefined {
    return this.#entries?.get(key);
  }

  has(key: K): boolean {
    return this.#entries?.has(key) ?? false;
  }

  set(key: K, value: V): void {
    (this.#entries ??= new Map<K, V>()).set(key, value);
  }

  delete(key: K): void {
    this.#entries?.delete(key);
    if (this.#entries?.size === 0) this.#entries = undefined;
  }

  clear(): void {
    this.#entries = undefined;
  }

  /** Keys in insertion order, as in a Map. Changes during iteration act as they do there. */
  keys(): Iterable<K> {
    return this.#entries?.keys() ?? [];
  }

  values(): Iterable<V> {
    return this.#entries?.values() ?? [];
  }

  [Symbol.iterator](): Iterator<[K, V]> {
    return (this.#entries ?? new Map<K, V>())[Symbol.iterator]();
  }
}

/** A SparseMap that forgets everything when a new key would exceed the limit: for caches, whose loss costs only time. */
export class BoundedMap<K, V> extends SparseMap<K, V> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: K, value: V): void {
    if (this.size >= this.#limit && !this.has(key)) this.clear();
    super.set(key, value);
  }
}

/** The set of thousands of idle connections. */
export const noIds: ReadonlySet<string> = new Set();
