/** Bounded queue of received items. If the reader is too slow, a `resync` item replaces the queued items, so that the reader loads again. */
import type { AttentionItem } from './items.ts';

interface BufferBounds {
  items: number;
  /** Characters of all frame texts. */
  characters: number;
}

export class ItemBuffer {
  readonly #bounds: BufferBounds;
  /** Called when the reader has taken enough for reading to resume. */
  readonly #onRoom: () => void;
  #items: { item: AttentionItem; size: number }[] = [];
  #characters = 0;
  #end: { error: Error | undefined } | undefined;
  #waiting: (() => void)[] = [];

  constructor(bounds: BufferBounds, onRoom: () => void) {
    this.#bounds = bounds;
    this.#onRoom = onRoom;
  }

  /** True at half of a bound, where a socket that can pause should pause. */
  get isHalfFull(): boolean {
    return this.#fill >= 0.5;
  }

  get #fill(): number {
    return Math.max(this.#items.length / this.#bounds.items, this.#characters / this.#bounds.characters);
  }

  /** At the bound, the queue shrinks to the newest connection state and one `resync`. */
  push(item: AttentionItem, size: number): void {
    if (this.#end) return;
    if (this.#fill >= 1) {
      const state = this.#items.findLast((one) => one.item.type === 'connection');
      this.#items = [...(state ? [state] : []), { item: { type: 'resync' }, size: 0 }];
      this.#characters = 0;
    }
    this.#items.push({ item, size });
    this.#characters += size;
    this.#wake();
  }

  /** Returns the next item; undefined after `end`. If `end` got an error, rejects with it after the queued items. */
  async take(): Promise<AttentionItem | undefined> {
    for (;;) {
      const next = this.#items.shift();
      if (next) {
        this.#characters -= next.size;
        if (this.#fill < 0.25) this.#onRoom();
        return next.item;
      }
      if (this.#end?.error) {
        const { error } = this.#end;
        this.#end = { error: undefined };
        throw error;
      }
      if (this.#end) return undefined;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Accepts no further items. Without an error, also drops the queued items. */
  end(error?: Error): void {
    if (!error) this.#items = [];
    this.#end ??= { error };
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
