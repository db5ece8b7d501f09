/**
 * Messages of one session from two sources, the daemon's history and live frames, in one list. If the daemon keeps a transcript, the list
 * holds only messages that are not items, or not yet.
 */
import type { Item, Message } from '@relay/protocol';

/** The history's timestamp of a message is at most this much earlier than the live one. */
const windowMs = 30_000;

interface Entry {
  message: Message;
  isLive: boolean;
  /** The other source has sent the message too. Each message matches at most one message of the other source. */
  hasTwin?: boolean | undefined;
  /** The `seq` of the newest item when the message arrived. */
  after: number;
}

const squashed = (text: string): string => text.replace(/\s+/g, '');

/**
 * The one rule for "the same message" (ADR 93): two messages are the same if their uuids are equal. Only a daemon without a transcript
 * gives a message another uuid in its history. In that case a live message equals a stored message that has the same role, the same text
 * apart from white space, and is at most 30 s older.
 */
function isSameMessage(live: Message, stored: Message, textOf = squashed): boolean {
  if (live.uuid === stored.uuid) return true;
  if (live.role !== stored.role || Date.parse(stored.timestamp) < Date.parse(live.timestamp) - windowMs) return false;
  return live.content === stored.content || textOf(live.content) === textOf(stored.content);
}

export class MessageList {
  readonly #keep: number;
  readonly #keepBytes: () => number;
  /** Number of older messages that the caller loaded: they stay too. */
  #older = 0;
  #entries: Entry[] = [];
  /** The newest received uuids, including messages that are listed under the uuid of their twin. */
  readonly #uuids = new Set<string>();
  #hasMore = false;

  constructor(keep: number, keepBytes: () => number) {
    this.#keep = keep;
    this.#keepBytes = keepBytes;
  }

  get all(): Message[] {
    return this.#entries.map(({ message }) => message);
  }

  /** The uuid of the first stored message. */
  get oldestStored(): string | undefined {
    return this.#entries.find(({ isLive }) => !isLive)?.message.uuid;
  }

  /** The daemon has messages before the first one here. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Appends a message. Returns false if either source sent it before. */
  add(message: Message, isLive: boolean, after: number): boolean {
    if (!this.#remember(message)) return false;
    const twin = this.#entries.find(
      (entry) =>
        entry.isLive !== isLive &&
        !entry.hasTwin &&
        (isLive ? isSameMessage(message, entry.message) : isSameMessage(entry.message, message)),
    );
    if (twin) twin.hasTwin = true;
    else this.#entries.push({ message, isLive, after });
    this.#trim();
    return !twin;
  }

  /**
   * Takes the newest page of the history. Live messages that it lacks keep their places: before the next message that both sources have,
   * or last. Older messages stay if they lead up to the page. Returns the new messages.
   */
  take(page: readonly Message[], hasMore: boolean): Message[] {
    const index = new Map(page.map(({ uuid }, place) => [uuid, place]));
    const at = this.#entries.findIndex(({ message }) => message.uuid === page[0]?.uuid);
    const stored = new Map(this.#entries.flatMap((entry) => (entry.isLive ? [] : [[entry.message.uuid, entry]])));
    const twins = new Set<Message>();
    const texts = new Map<string, string>();
    const textOf = (text: string) => texts.get(text) ?? texts.set(text, squashed(text)).get(text)!;
    const placeOf = ({ message, isLive }: Entry): number => {
      const place = index.get(message.uuid);
      if (place !== undefined || !isLive) return place ?? -1;
      const twin = page.findIndex(
        (one) => !stored.has(one.uuid) && !twins.has(one) && isSameMessage(message, one, textOf),
      );
      if (twin >= 0) twins.add(page[twin]!);
      return twin;
    };
    const beganAt = Date.parse(page[0]?.timestamp ?? '');
    const isOlder = ({ message }: Entry) => Date.parse(message.timestamp) < beganAt;
    const entryOf = (message: Message): Entry => ({
      ...{ message, isLive: false, after: 0 },
      hasTwin: twins.has(message) || stored.get(message.uuid)?.hasTwin,
    });
    const merged: Entry[] = [];
    let missing: Entry[] = [];
    /** Number of messages of the page in `merged`. */
    let taken = 0;
    for (const entry of this.#entries.slice(Math.max(at, 0))) {
      const place = placeOf(entry);
      if (place === -1 && entry.isLive) missing.push(entry);
      if (place < taken) continue;
      if (place === 0) missing = [];
      if (taken === 0) missing = missing.filter((one) => !isOlder(one));
      merged.push(...page.slice(taken, place).map(entryOf), ...missing, entryOf(page[place]!));
      missing = [];
      taken = place + 1;
    }
    // Without a message in both sources, the places of these messages are unknown.
    if (taken === 0) missing = missing.filter((one) => !isOlder(one));
    merged.push(...page.slice(taken).map(entryOf), ...missing);
    this.#entries = [...this.#entries.slice(0, Math.max(at, 0)), ...merged];
    if (at <= 0) this.#hasMore = hasMore;
    const added = page.filter((message) => this.#remember(message) && !twins.has(message));
    this.#trim();
    return added;
  }

  /** Puts a page of history before the first message. Returns the new messages. */
  takeOlder(page: readonly Message[], hasMore: boolean): Message[] {
    const uuids = new Set(this.#entries.map(({ message }) => message.uuid));
    const added = page.filter(({ uuid }) => !uuids.has(uuid));
    this.#entries.unshift(...added.map((message) => ({ message, isLive: false, after: 0 })));
    for (const message of added) this.#remember(message);
    this.#older += added.length;
    this.#hasMore = hasMore;
    return added;
  }

  /** Drops stored messages, and messages that became items. `beganAt`: the list of items was replaced, and starts at this time. */
  giveWay(isItem: (uuid: string) => boolean, newest: number, beganAt?: number): void {
    this.#entries = this.#entries.flatMap((entry) => {
      const { uuid, timestamp } = entry.message;
      if (!entry.isLive || isItem(uuid)) return [];
      if (beganAt === undefined) return [entry];
      return Date.parse(timestamp) < beganAt ? [] : [{ ...entry, after: newest }];
    });
  }

  /** Returns the items with the messages among them. The user's pending messages come last, like their later items. */
  among(items: readonly Item[]): readonly Message[] {
    if (this.#entries.length === 0) return items;
    const others = this.#entries.filter(({ message }) => message.role !== 'USER');
    const own = this.#entries.filter(({ message }) => message.role === 'USER');
    const all: Message[] = [];
    let next = 0;
    for (const item of items) {
      while (others[next] && others[next]!.after < item.seq) all.push(others[next++]!.message);
      all.push(item);
    }
    return [...all, ...[...others.slice(next), ...own].map(({ message }) => message)];
  }

  /** Returns false if the uuid is known. */
  #remember({ uuid }: Message): boolean {
    if (this.#uuids.has(uuid)) return false;
    this.#uuids.add(uuid);
    if (this.#uuids.size > 2 * this.#keep + this.#older) this.#uuids.delete(this.#uuids.values().next().value!);
    return true;
  }

  #trim(): void {
    let count = Math.max(0, this.#entries.length - this.#keep - this.#older);
    const limit = this.#keepBytes();
    if (limit !== Infinity) {
      const sizes = this.#entries.map(({ message }) => 2 * message.content.length);
      let bytes = sizes.slice(count).reduce((sum, size) => sum + size, 0);
      for (; bytes > limit; count += 1) bytes -= sizes[count]!;
    }
    if (count === 0) return;
    this.#entries.splice(0, count);
    this.#hasMore = true;
  }
}
