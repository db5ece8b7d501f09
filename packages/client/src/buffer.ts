/** Items that have come and were not taken yet. Bounded: a reader that is too slow for it is told to load again. */
import type { AttentionItem } from './items.ts';

interface BufferBounds {
  items: number;
  /** The characters of all frame texts. */
  characters: number;
}

export class ItemBuffer {
  readonly #bounds: BufferBounds;
  /** Called when enough was taken to go on reading. */
  readonly #onRoom: () => void;
  #items: { item: AttentionItem; size: number }[] = [];
  #characters = 0;
  #end: { error: Error | undefined } | undefined;
  #waiting: (() => void)[] = [];

  constructor(bounds: BufferBounds, onRoom: () => void) {
    this.#bounds = bounds;
    this.#onRoom = onRoom;
  }

  /** Half of a bound is reached: a reader that can pause should. */
  get isHalfFull(): boolean {
    return this.#fill >= 0.5;
  }

  get #fill(): number {
    return Math.max(this.#items.length / this.#bounds.items, this.#characters / this.#bounds.characters);
  }

  /** Beyond the bound everything that waits becomes the newest state of the connection and one `resync`. */
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

  /** The next item; undefined at the end. Rejects with the error that ended it, after the items before. */
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

  /** No more items come. Without an error those that wait are dropped, too. */
  end(error?: Error): void {
    if (!error) this.#items = [];
    this.#end ??= { error };
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
