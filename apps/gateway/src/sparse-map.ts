/** A Map that takes room only while there is something in it: for what thousands of connections could have and few do. */
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

  /** In the order in which they were set, as in a Map. Keys set or deleted meanwhile count as they do there. */
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
