/**
 * An app's copy of one session: the session, and its items or, from a daemon without a transcript, its messages. Frames keep it
 * current; after lost frames it is behind until the caller reads the changes. Every app follows a session with it (ADR 93).
 */
import type { AttentionFrame, Item, Message, MessagePage, Session, SessionDetail } from '@relay/protocol';
import { pause } from './pause.ts';
import type { AttentionItem } from './items.ts';
import { MessageList } from './messages.ts';
import type { Loaded, SessionCopyOptions, SessionState } from './session-state.ts';
import { Signal, isOutdated } from './signal.ts';
import { TranscriptCopy, type TranscriptPage } from './transcript.ts';

type Page = Omit<TranscriptPage, 'messages'> & Pick<MessagePage, 'messages' | 'oldestUuid'>;

const outputKept = 64 * 1024;
/** Minimum time between reads of missing items, and random spread, so that apps do not all read at once. */
const askAgainMs = 2000;
const askWithinMs = 500;
/** A message can arrive before the operations of its item, which the daemon batches for a moment. */
const itemComesMs = 1000;

export class SessionCopy extends Signal {
  readonly #options: SessionCopyOptions;
  readonly #newItems: () => TranscriptCopy;
  readonly #newMessages: () => MessageList;
  /** A session has one id at a time; earlier ids map to it. */
  readonly #ids = new Set<string>();
  #id: string | undefined;
  #session: Session | undefined;
  #items: TranscriptCopy;
  #messages: MessageList;
  /** The daemon keeps no transcript. Undefined: not known yet. */
  #isPlain: boolean | undefined;
  #hasMoreItems = false;
  #messagesError: SessionDetail['messagesError'];
  #output = '';
  #isRemoved = false;
  /** Frames were lost, independent of their versions. */
  #isStale = false;
  /** The stream went live after the app began to load: frames in between are lost. */
  #isEarly = false;
  #unsure: Message | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #restored: { at: string; areItems: boolean } | undefined;
  #requestedAt = -Infinity;
  /** Changes of the session from other sources than reads. */
  #updates = 0;
  #reads = 0;
  /** The newest applied read: answers of earlier reads are dropped. */
  #read = 0;
  #state: SessionState | undefined;

  constructor(options: SessionCopyOptions) {
    super();
    const { id, keep = 2000, keepBytes = () => Infinity } = options;
    this.#options = options;
    this.#id = id;
    if (id !== undefined) this.#ids.add(id);
    this.#newItems = () => new TranscriptCopy({ keep, keepBytes });
    this.#newMessages = () => new MessageList(keep, keepBytes);
    this.#items = this.#newItems();
    this.#messages = this.#newMessages();
  }

  /** The same object until the state changes. */
  get state(): SessionState {
    return (this.#state ??= {
      session: this.#session,
      messages:
        this.#restoredItems ?? (this.#isPlain === false ? this.#messages.among(this.#items.items) : this.#messages.all),
      items: this.#restoredItems ?? (this.#isPlain === false ? this.#items.items : undefined),
      hasMore: this.#isPlain === false ? this.#hasMoreItems : this.#messages.hasMore,
      messagesError: this.#messagesError,
      output: this.#output,
      isRemoved: this.#isRemoved,
      isBehind: this.isBehind,
      asOf: this.#restored?.at,
    });
  }

  /** The current id. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Cheaper to read than `state`. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** Undefined before the first page. */
  get isPlain(): boolean | undefined {
    return this.#isPlain;
  }

  get isBehind(): boolean {
    if (this.#messagesError) return false;
    return this.#isStale || (this.#isPlain === false && this.#items.isBehind);
  }

  /** The agent's message arrived before its item. After a second the copy is behind. */
  get isUnsure(): boolean {
    return this.#unsure !== undefined && !this.#hasWhole(this.#unsure);
  }

  get(uuid: string): Item | undefined {
    return this.#items.get(uuid);
  }

  /** True if the frame is about this session or its device. Learns new ids of the session. */
  concerns(frame: AttentionItem): boolean {
    if (frame.type === 'device_removed' || frame.type === 'device_status')
      return frame.deviceId === (this.#session?.deviceId ?? this.#id?.split(':', 1)[0]);
    if (frame.type === 'session_update') {
      const isOurs = this.#ids.has(frame.session.id) || this.#ids.has(frame.previousId ?? '');
      if (isOurs) this.#ids.add(frame.session.id);
      return isOurs;
    }
    return 'sessionId' in frame && typeof frame.sessionId === 'string' && this.#ids.has(frame.sessionId);
  }

  /**
   * Applies a frame. Returns new and changed items or messages; undefined if the frame is unrelated or older than the copy.
   * Applying a frame twice changes nothing.
   */
  apply(frame: AttentionItem): readonly Message[] | undefined {
    if (frame.type === 'resync') {
      this.doubt();
      return [];
    }
    if (!this.concerns(frame) || (frame.type === 'session_update' && isOutdated(frame, this.#session)))
      return undefined;
    const changed = this.#changedBy(frame as AttentionFrame);
    this.#change();
    return changed;
  }

  /** Takes the session from an answer of the relay. */
  adopt(session: Session): void {
    this.#updates += 1;
    this.#adopt(session);
    this.#change();
  }

  /** Applies fields that this app has just changed, before their frame arrives. */
  edit(fields: Partial<Session>): void {
    if (!this.#session) return;
    this.adopt({ ...this.#session, ...fields });
  }

  /** Adds a message that this app sent or, with `isLive` false, that the relay stored. Returns false if the copy has it. */
  add(message: Message, isLive = true): boolean {
    if (this.#items.get(message.uuid)) return false;
    const isNew = this.#messages.add(message, isLive, this.#items.items.at(-1)?.seq ?? 0);
    if (isNew) this.#change();
    return isNew;
  }

  /** Marks the copy as behind: there is evidence of lost frames. */
  doubt(): void {
    this.#isStale = true;
    this.#items.doubt();
    this.#change();
  }

  /** The stream is live. `isAgain`: it was live before. The relay does not repeat transcript frames of the gap (rules, 11.14). */
  connected(isAgain: boolean): void {
    if (isAgain && this.#isPlain === false) this.doubt();
    if (isAgain) return;
    this.#isEarly = this.#reads > 0;
    if (this.#read > 0) this.#checkEarly();
  }

  /** Resolves if the item of a message does not arrive in time, which no frame reveals. Stays pending if all items are here. */
  doubted(): Promise<undefined> {
    return new Promise((resolve) => {
      if (!this.isUnsure) return;
      const stop = this.subscribe(() => {
        if (this.isUnsure && !this.isBehind) return;
        stop();
        if (this.isBehind) resolve(undefined);
      });
    });
  }

  /** Shows messages from an earlier read until the daemon answers. */
  restore(messages: readonly Message[], areItems: boolean, at: string): void {
    this.#messages.take(messages, false);
    this.#restored = { at, areItems };
    this.#change();
  }

  /** Drops items and messages, and resets the copy. */
  forget(): void {
    this.#items = this.#newItems();
    this.#messages = this.#newMessages();
    this.#unsure = undefined;
    this.#change();
  }

  /**
   * Reads the session with its newest page or, after the first read, with the changes.
   * @throws the errors of calls; if only the daemon does not answer, `messagesError` is set instead
   */
  async load(limit?: number): Promise<Loaded> {
    const [read, updates, output] = [this.#begin(), this.#updates, this.#output];
    const query = this.#query(limit);
    const answer = await this.#options.client!.call('readSession', { params: { id: this.#id! }, query });
    const { messages, hasMore, oldestUuid, newestUuid: _, messagesError, v, reset, ...session } = answer;
    if (read < this.#read) return nothing;
    this.#adoptRead(session, updates);
    // The history contains the output from before the read.
    if (this.#output.startsWith(output)) this.#output = this.#output.slice(output.length);
    const loaded = messagesError ? nothing : this.#take({ messages, hasMore, oldestUuid, v, reset });
    this.#messagesError = messagesError;
    this.#read = read;
    this.#checkEarly();
    this.#change();
    return loaded;
  }

  /** Reads the newest page or, after the first read, the changes. @throws the errors of calls */
  async loadChanges(): Promise<Loaded> {
    const read = this.#begin();
    const page = await this.#options.client!.call('readMessages', { params: { id: this.#id! }, query: this.#query() });
    if (read < this.#read) return nothing;
    this.#read = read;
    const loaded = this.#take(page);
    this.#messagesError = undefined;
    this.#change();
    return loaded;
  }

  /**
   * Waits until the next read is due, and reads the changes if the copy is still behind. Otherwise, or when the signal aborts, returns
   * undefined. @throws the errors of calls
   */
  async catchUp(signal?: AbortSignal): Promise<Loaded | undefined> {
    await pause(Math.max(Math.random() * askWithinMs, this.#requestedAt + askAgainMs - Date.now()), signal);
    return signal?.aborted || !this.isBehind ? undefined : this.loadChanges();
  }

  /** Reads the page before the oldest item or message. Returns the new items or messages. @throws the errors of calls */
  async loadOlder(): Promise<readonly Message[]> {
    const oldest = this.state.items ? this.state.items[0]?.uuid : this.#messages.oldestStored;
    if (oldest === undefined) return [];
    const { client, pageItems: limit = 200 } = this.#options;
    const query = { limit, before: oldest, parts: '1' as const };
    const page = await client!.call('readMessages', { params: { id: this.#id! }, query });
    const isPlain = page.v === undefined;
    const added = isPlain ? this.#messages.takeOlder(page.messages, page.hasMore) : this.#items.takeOlder(page);
    if (!isPlain) this.#hasMoreItems = page.hasMore;
    this.#change();
    return added;
  }

  /** Reads only the session, which also counts as opening it (rules, 14.2). @throws the errors of calls */
  async look(): Promise<Session> {
    const updates = this.#updates;
    const answer = await this.#options.client!.call('readSession', { params: { id: this.#id! }, query: { limit: 1 } });
    const { messages: _m, hasMore: _h, oldestUuid: _o, newestUuid: _n, messagesError: _e, ...session } = answer;
    this.#adoptRead(session, updates);
    this.#change();
    return this.#session!;
  }

  get #restoredItems(): readonly Item[] | undefined {
    return this.#restored?.areItems ? (this.#messages.all as Item[]) : undefined;
  }

  #begin(): number {
    this.#requestedAt = Date.now();
    return (this.#reads += 1);
  }

  #query(limit = this.#options.pageItems ?? 200) {
    const { v } = this.#items;
    return { ...(this.#isPlain === false && v !== undefined ? { changed: v } : { limit }), parts: '1' as const };
  }

  /** An update that arrived during the read is newer than the answer, unless the answer shows a later change. */
  #adoptRead(session: Session, updates: number): void {
    if (this.#updates === updates || !this.#session || session.updatedAt > this.#session.updatedAt)
      this.#adopt(session);
  }

  #adopt(session: Session): void {
    if (this.#session && session.lastTask?.id !== this.#session.lastTask?.id) this.#output = '';
    this.#session = session;
    this.#id = session.id;
    this.#ids.add(session.id);
  }

  #changedBy(frame: AttentionFrame): readonly Message[] {
    switch (frame.type) {
      case 'session_update':
        this.#updates += 1;
        this.#adopt(frame.session);
        return [];
      case 'transcript':
        return this.#applyOperations(frame);
      case 'new_message':
        return this.#addLive(frame.message) ? [frame.message] : [];
      case 'task_output':
        this.#output = (this.#output + frame.output).slice(-outputKept);
        return [];
      case 'session_removed':
      case 'device_removed':
        this.#isRemoved = true;
        return [];
      default:
        return [];
    }
  }

  #applyOperations(frame: Extract<AttentionFrame, { type: 'transcript' }>): Item[] {
    this.#isPlain = false;
    this.#messagesError = undefined;
    const first = this.#items.items[0];
    const changed = this.#items.apply(frame);
    this.#noteCut(first);
    this.#messages.giveWay((uuid) => this.#items.get(uuid) !== undefined, 0);
    return changed;
  }

  #addLive(message: Message): boolean {
    const isNew = this.add(message);
    if (this.#isPlain === false && message.role !== 'USER' && !this.#hasWhole(message)) {
      this.#unsure = message;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.isUnsure && this.doubt(), itemComesMs);
      // Node: the timer must not keep the process alive.
      (this.#timer as { unref?: () => void }).unref?.();
    }
    return isNew;
  }

  /** True if the item of this message is here and complete. The text of a question's item differs from its message. */
  #hasWhole({ uuid, content, truncated }: Message): boolean {
    const item = this.#items.get(uuid);
    if (!item || item.part.kind === 'question') return item !== undefined;
    return item.part.open !== true && (truncated === true || item.content === content);
  }

  #take(page: Page): Loaded {
    const { hasMore, oldestUuid } = page;
    const isPlain = page.v === undefined;
    // The daemon no longer keeps a transcript.
    if (isPlain && this.#isPlain === false) this.#items = this.#newItems();
    if (this.#restored) this.#messages.giveWay(() => false, 0);
    this.#restored = undefined;
    this.#isPlain = isPlain;
    this.#isStale = false;
    this.#unsure = undefined;
    if (isPlain) {
      const changed = this.#messages.take(page.messages, hasMore);
      return { changed, isWhole: changed.length === page.messages.length, hasMore, oldestUuid };
    }
    const isWhole = this.#items.v === undefined || page.reset === true;
    const first = this.#items.items[0];
    const changed = this.#items.take(page);
    if (isWhole) this.#hasMoreItems = hasMore;
    else this.#noteCut(first);
    const { items } = this.#items;
    const beganAt = hasMore ? Date.parse(items[0]?.timestamp ?? '') : -Infinity;
    this.#messages.giveWay(
      (uuid) => this.#items.get(uuid) !== undefined,
      items.at(-1)?.seq ?? 0,
      isWhole ? beganAt : undefined,
    );
    return { changed, isWhole, hasMore, oldestUuid };
  }

  /** Records that the copy dropped its oldest items. */
  #noteCut(first: Item | undefined): void {
    const now = this.#items.items[0];
    if (first && now && now.seq > first.seq) this.#hasMoreItems = true;
  }

  /** The stream repeats everything that an idle agent sent, so only a running agent causes doubt. */
  #checkEarly(): void {
    if (this.#isEarly && this.#isPlain === false && this.#session?.runningSince !== undefined) this.doubt();
    this.#isEarly = false;
  }

  #change(): void {
    this.#state = undefined;
    this.notify();
  }
}

const nothing: Loaded = { changed: [], isWhole: false, hasMore: false, oldestUuid: null };
