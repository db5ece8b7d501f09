/**
 * An app's copy of the items of one session. It applies frames in order; after a gap it is behind until the caller reads the changes
 * (`readMessages` or `readSession` with `parts` and `changed`). Makes no requests. Shapes are checked here: the relay does not check them.
 */
import type { Item, Operation } from '@relay/protocol';
import { inOrder, isItem, isOperation, itemAfter, uuidOf } from '@relay/protocol/plain';

export interface TranscriptFrame {
  v: number;
  ops: readonly unknown[];
}

/** The answer of `readMessages` and `readSession` with `parts`. `v` is absent if the daemon keeps no transcript. */
export interface TranscriptPage {
  messages: readonly unknown[];
  v?: number | undefined;
  reset?: true | undefined;
  hasMore: boolean;
}

/** A text of this many characters stops growing: daemons begin a new item long before. */
const textCharacters = 1024 * 1024;
/** Limits for frames that wait for an answer; the next read returns the dropped changes. */
const heldFrames = 1000;
const heldOperations = 20_000;
const heldBytes = 4 * 1024 * 1024;
/** Number of remembered items older than the copy. */
const olderUuids = 10_000;

export class TranscriptCopy {
  /** The requested number. */
  readonly #keepAtFirst: number;
  /** The requested number plus loaded older items. */
  #keep: number;
  readonly #byUuid = new Map<string, Item>();
  #ordered: readonly Item[] | undefined = [];
  #v: number | undefined;
  #isBehind = true;
  /** The copy begins with the first item of the session. */
  #isWhole = false;
  #held: TranscriptFrame[] = [];
  #heldBytes = 0;
  readonly #keepBytes: () => number;
  /** Upper bound of the size of the items. */
  #bytes = 0;
  /** Items before the oldest one here: their changes are ignored. */
  readonly #older = new Set<string>();

  /**
   * `keep`: approximate number of items, without loaded older items; the oldest items are dropped. `keepBytes`: the limit of their size.
   */
  constructor({ keep = Infinity, keepBytes = () => Infinity }: { keep?: number; keepBytes?: () => number } = {}) {
    this.#keepBytes = keepBytes;
    this.#keepAtFirst = keep;
    this.#keep = keep;
  }

  /** Sorted. The same array until an item changes. */
  get items(): readonly Item[] {
    return (this.#ordered ??= [...this.#byUuid.values()].sort(inOrder));
  }

  /** The value for `changed`; undefined: request the newest page. */
  get v(): number | undefined {
    return this.#v;
  }

  /** Changes are missing: request them and `take` the answer. Frames that arrive before the answer wait for it. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  get(uuid: string): Item | undefined {
    return this.#byUuid.get(uuid);
  }

  /** Marks the copy as behind after other evidence, such as a message whose text differs here. */
  doubt(): void {
    this.#isBehind = true;
  }

  /** Applies a frame of the session. Returns the changed items. */
  apply(frame: TranscriptFrame): Item[] {
    if (this.#v !== undefined && frame.v <= this.#v) return [];
    if (!this.#isBehind && frame.v === (this.#v ?? 0) + 1) return this.#applyNext(frame);
    this.#isBehind = true;
    const size = this.#held.reduce((sum, { ops }) => sum + ops.length, frame.ops.length);
    const bytes = this.#heldBytes + sizeOf(frame.ops);
    if (this.#held.length < heldFrames && size <= heldOperations && bytes <= heldBytes) {
      this.#held.push(frame);
      this.#heldBytes = bytes;
    }
    return [];
  }

  /** Applies the newest page, or the answer to `changed`. Returns the changed items. */
  take(page: TranscriptPage): Item[] {
    if (page.v === undefined) return [];
    const isNew = this.#v === undefined || page.reset === true;
    if (isNew) {
      this.#byUuid.clear();
      this.#older.clear();
      this.#keep = this.#keepAtFirst;
      this.#isWhole = !page.hasMore;
      this.#v = page.v;
    }
    const first = isNew ? undefined : this.#first;
    const changed = new Map<string, Item>();
    for (const item of page.messages) {
      if (!isItem(item)) continue;
      if (first && item.seq < first.seq && !this.#byUuid.has(item.uuid)) this.#forget(item.uuid);
      else if (this.#put(item)) changed.set(item.uuid, item);
    }
    this.#v = Math.max(this.#v ?? 0, page.v);
    this.#ordered = undefined;
    this.#isBehind = false;
    for (const item of this.#catchUp()) changed.set(item.uuid, item);
    this.#trim();
    return [...changed.values()].sort(inOrder);
  }

  /** Adds the page before the oldest item, requested by cursor. Returns the new items. */
  takeOlder(page: TranscriptPage): Item[] {
    const added = page.messages.filter(isItem).filter((item) => this.#put(item));
    for (const { uuid } of added) this.#older.delete(uuid);
    this.#keep += added.length;
    this.#isWhole = !page.hasMore;
    this.#ordered = undefined;
    return added;
  }

  /** The oldest item, if the copy does not follow older items. */
  get #first(): Item | undefined {
    return this.#isWhole ? undefined : this.items[0];
  }

  #put(item: Item): boolean {
    const { v = 0 } = this.#byUuid.get(item.uuid) ?? {};
    if (this.#byUuid.has(item.uuid) && v >= (item.v ?? 0)) return false;
    this.#byUuid.set(item.uuid, item);
    this.#count(item);
    return true;
  }

  #catchUp(): Item[] {
    const changed: Item[] = [];
    const held = this.#held.sort((one, other) => one.v - other.v);
    this.#held = [];
    this.#heldBytes = 0;
    for (const frame of held) changed.push(...this.apply(frame));
    return changed;
  }

  #applyNext({ v, ops }: TranscriptFrame): Item[] {
    const changed = new Map<string, Item>();
    /** Items that a page brought in a later version than this frame. */
    const ahead = new Set<string>();
    const first = this.#first;
    for (const operation of ops) {
      if (!isOperation(operation)) continue;
      const uuid = uuidOf(operation);
      if (uuid === undefined) continue;
      const before = this.#byUuid.get(uuid);
      if (before && !changed.has(uuid) && (before.v ?? 0) >= v) ahead.add(uuid);
      if (operation.op === 'put' && !before && first && operation.item.seq < first.seq) this.#forget(uuid);
      if (ahead.has(uuid) || this.#older.has(uuid) || isFull(before, operation)) continue;
      const after = itemAfter(before, operation, v);
      if (after) {
        this.#byUuid.set(uuid, after);
        changed.set(uuid, after);
        this.#count(operation);
      } else this.#isBehind = true;
    }
    // The frame changes an item that is not here: the answer to `changed` contains the item, and the rest of this frame.
    if (!this.#isBehind) this.#v = v;
    this.#ordered = undefined;
    this.#trim();
    return [...changed.values()];
  }

  #count(added: unknown): void {
    if (this.#keepBytes() !== Infinity) this.#bytes += sizeOf(added);
  }

  /** Drops the oldest items of a copy that is too large. If the newest item is dropped too, the copy is behind, and its changes are read again. */
  #trimBytes(): void {
    const limit = this.#keepBytes();
    if (this.#bytes <= limit) return;
    const sizes = this.items.map((item) => ({ uuid: item.uuid, size: sizeOf(item) }));
    this.#bytes = sizes.reduce((sum, { size }) => sum + size, 0);
    if (this.#bytes <= limit * 0.9) return;
    const newest = sizes.at(-1)?.uuid;
    for (const { uuid, size } of sizes) {
      if (this.#bytes <= limit * 0.75) break;
      this.#bytes -= size;
      this.#byUuid.delete(uuid);
      if (uuid !== newest) this.#forget(uuid);
    }
    this.#isWhole = false;
    this.#ordered = undefined;
  }

  #trim(): void {
    this.#trimBytes();
    if (this.#byUuid.size <= this.#keep * 1.25) return;
    for (const { uuid } of this.items.slice(0, this.#byUuid.size - this.#keep)) {
      this.#byUuid.delete(uuid);
      this.#forget(uuid);
    }
    this.#isWhole = false;
    this.#ordered = undefined;
  }

  #forget(uuid: string): void {
    this.#older.add(uuid);
    if (this.#older.size > olderUuids) this.#older.delete(this.#older.values().next().value!);
  }
}

const sizeOf = (value: unknown): number => 2 * JSON.stringify(value).length;

function isFull(item: Item | undefined, operation: Operation): boolean {
  if (!item || operation.op !== 'add') return false;
  const { output } = item.part;
  const text = operation.to === 'output' ? output : item.content;
  return typeof text === 'string' && text.length > textCharacters;
}
