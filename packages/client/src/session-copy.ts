/**
 * An app's copy of one session: the session itself, and its items or, from a daemon without a transcript, its messages. Frames keep it
 * current; where frames were lost it is behind until the caller reads the changes. Any app follows a session with it (ADR 93).
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
/** Apps read missing items at most this often, and not all at the same moment. */
const askAgainMs = 2000;
const askWithinMs = 500;
/** A message can come before the operations of its item, which the daemon collects for a moment. */
const itemComesMs = 1000;

export class SessionCopy extends Signal {
  readonly #options: SessionCopyOptions;
  readonly #newItems: () => TranscriptCopy;
  readonly #newMessages: () => MessageList;
  /** A session has one id at a time; earlier ones lead to it. */
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
  /** Frames were lost, whatever their versions. */
  #isStale = false;
  /** The stream became live after the app had begun to load: frames between the two are lost. */
  #isEarly = false;
  #unsure: Message | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #restored: { at: string; areItems: boolean } | undefined;
  #askedAt = -Infinity;
  /** Changes of the session that did not come from a read. */
  #updates = 0;
  #reads = 0;
  /** The newest read whose answer was taken: the answers of earlier ones are dropped. */
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

  /** The same object until something changes. */
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

  /** As in `state`, which costs more to read. */
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

  /** A message of the agent came, and its item has not yet. After a second the copy is behind. */
  get isUnsure(): boolean {
    return this.#unsure !== undefined && !this.#hasWhole(this.#unsure);
  }

  get(uuid: string): Item | undefined {
    return this.#items.get(uuid);
  }

  /** Whether the frame is about this session or its device. Learns new names of the session. */
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
   * Applies a frame. Returns new and changed items or messages; undefined if the frame is about something else or older than the copy.
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

  /** The session as an answer of the relay has it. */
  adopt(session: Session): void {
    this.#updates += 1;
    this.#adopt(session);
    this.#change();
  }

  /** Fields that this app has just changed, before the frame comes. */
  edit(fields: Partial<Session>): void {
    if (!this.#session) return;
    this.adopt({ ...this.#session, ...fields });
  }

  /** Adds a message that this app sent or, with `isLive` false, that the relay stored. Returns false if it came before. */
  add(message: Message, isLive = true): boolean {
    if (this.#items.get(message.uuid)) return false;
    const isNew = this.#messages.add(message, isLive, this.#items.items.at(-1)?.seq ?? 0);
    if (isNew) this.#change();
    return isNew;
  }

  /** The copy is behind: something showed that frames were lost. */
  doubt(): void {
    this.#isStale = true;
    this.#items.doubt();
    this.#change();
  }

  /** The stream is live. `isAgain`: it was live before. The relay repeats no transcript frames of the time between (rules, 11.14). */
  connected(isAgain: boolean): void {
    if (isAgain && this.#isPlain === false) this.doubt();
    if (isAgain) return;
    this.#isEarly = this.#reads > 0;
    if (this.#read > 0) this.#checkEarly();
  }

  /** Resolves when the item of a message did not come in time, which no frame reveals. Stays pending if all items are here. */
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

  /** Messages that were read at an earlier time, until the daemon answers. */
  restore(messages: readonly Message[], areItems: boolean, at: string): void {
    this.#messages.take(messages, false);
    this.#restored = { at, areItems };
    this.#change();
  }

  /** Drops items and messages, and begins like a new copy. */
  forget(): void {
    this.#items = this.#newItems();
    this.#messages = this.#newMessages();
    this.#unsure = undefined;
    this.#change();
  }

  /**
   * Reads the session with its newest page or, after the first one, with the changes.
   * @throws the errors of calls; a daemon that does not answer is no error but `messagesError`
   */
  async load(limit?: number): Promise<Loaded> {
    const [read, updates, output] = [this.#begin(), this.#updates, this.#output];
    const query = this.#query(limit);
    const answer = await this.#options.client!.call('readSession', { params: { id: this.#id! }, query });
    const { messages, hasMore, oldestUuid, newestUuid: _, messagesError, v, reset, ...session } = answer;
    if (read < this.#read) return nothing;
    this.#adoptRead(session, updates);
    // The history has the output from before the read.
    if (this.#output.startsWith(output)) this.#output = this.#output.slice(output.length);
    const loaded = messagesError ? nothing : this.#take({ messages, hasMore, oldestUuid, v, reset });
    this.#messagesError = messagesError;
    this.#read = read;
    this.#checkEarly();
    this.#change();
    return loaded;
  }

  /** Reads the newest page or, after the first one, the changes. @throws the errors of calls */
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
   * Waits until the next read is due, and reads the changes if the copy is still behind. Returns undefined if it is not, or when the signal
   * aborts. @throws the errors of calls
   */
  async catchUp(signal?: AbortSignal): Promise<Loaded | undefined> {
    await pause(Math.max(Math.random() * askWithinMs, this.#askedAt + askAgainMs - Date.now()), signal);
    return signal?.aborted || !this.isBehind ? undefined : this.loadChanges();
  }

  /** Reads the page before the oldest item or message. Returns new items or messages. @throws the errors of calls */
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

  /** Reads the session alone, which also counts as opening it (rules, 14.2). @throws the errors of calls */
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
    this.#askedAt = Date.now();
    return (this.#reads += 1);
  }

  #query(limit = this.#options.pageItems ?? 200) {
    const { v } = this.#items;
    return { ...(this.#isPlain === false && v !== undefined ? { changed: v } : { limit }), parts: '1' as const };
  }

  /** An answer is older than an update that came while it was on its way, unless it shows a later change. */
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
    const changed = this.#items.hear(frame);
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
      // Node: the timer alone keeps no program running.
      (this.#timer as { unref?: () => void }).unref?.();
    }
    return isNew;
  }

  /** Whether the item of this message is here with the text of the message. The text of a question differs. */
  #hasWhole({ uuid, content, truncated }: Message): boolean {
    const item = this.#items.get(uuid);
    if (!item || item.part.kind === 'question') return item !== undefined;
    return item.part.open !== true && (truncated === true || item.content === content);
  }

  #take(page: Page): Loaded {
    const { hasMore, oldestUuid } = page;
    const isPlain = page.v === undefined;
    // The daemon keeps a transcript no longer.
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

  /** The copy has dropped its oldest items. */
  #noteCut(first: Item | undefined): void {
    const now = this.#items.items[0];
    if (first && now && now.seq > first.seq) this.#hasMoreItems = true;
  }

  /** An agent that rested sent nothing that the stream does not repeat. */
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
