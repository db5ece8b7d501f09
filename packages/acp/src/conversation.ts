/**
 * One session that a client has open: its items become updates, prompts become messages, and each prompt ends once, whatever happens to the
 * connection to the relay meanwhile. One thing is done after the other.
 */
import type { PromptRequest, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import { type AttentionItem, RelayError, TranscriptCopy } from '@relay/client';
import { type Item, type Message, type Prompt, type Session, isItem } from '@relay/protocol';
import { Asking } from './asking.ts';
import type { Begin } from './begin.ts';
import { copyBytes } from './budget.ts';
import { acpError, errorOf, invalid } from './errors.ts';
import { before, changesSince, newestPage } from './history.ts';
import type { Host } from './host.ts';
import { pictureOf } from './images.ts';
import { pause } from './persist.ts';
import { instructionOf } from './prompt.ts';
import { type AskOptions } from './questions.ts';
import { Prompts } from './prompts.ts';
import { SessionChoices } from './session-choices.ts';
import type { Choices } from './settings.ts';
import { type Steered, steer } from './steering.ts';
import { createTwins } from './twins.ts';
import { type Teller, createTeller, openCallOf, toolCallIdOf } from './updates.ts';

/** Items of one session that are followed; older ones were sent. */
const keptItems = 2000;
/** A prompt is looked after this often even when no frame comes. */
const lookMs = 60_000;
const askAgainMs = 2000;
/** Frames that wait while a prompt is being sent; without one of them everything is asked for. */
const heldFrames = 500;
/** A session counts as open for five minutes after it was read (rules, 14.2). */
const openMs = 240_000;

export class Conversation {
  readonly id: string;
  readonly #host: Host;
  readonly #begin: Begin;
  readonly #asking: Asking;
  readonly #prompts: Prompts;
  readonly #choices: SessionChoices;
  /** The session has one id at a time, and earlier ones lead to it. */
  readonly #ids = new Set<string>();
  #sessionId: string | undefined;
  #copy: TranscriptCopy;
  #teller: Teller;
  #isTwin = createTwins();
  /** Its daemon keeps no items. undefined: not known yet. */
  #isPlain: boolean | undefined;
  #work: Promise<unknown> = Promise.resolve();
  /** Prompts that are being sent: what comes meanwhile waits, because their own words come back before the answer names them. */
  #sending = 0;
  #held: AttentionItem[] = [];
  /** Something may have been missed and could not be asked for. */
  #isStale = false;
  #updatedAt = '';
  /** A turn is under way, of this client or another app. */
  #isRunning = false;
  #title: string | undefined;
  #seenAt = 0;
  #askedAt = -Infinity;
  #isChecking = false;

  constructor(host: Host, begin: Begin) {
    this.#host = host;
    this.#begin = begin;
    this.id = begin.id;
    host.budget.sessions += 1;
    this.#copy = this.#newCopy();
    this.#teller = this.#newTeller();
    this.#isPlain = host.device.keepsItems ? undefined : true;
    this.#asking = new Asking({
      host,
      sessionId: () => this.#sessionId,
      options: (prompt) => this.#askOptions(prompt),
      onElsewhere: (prompt) => this.#tellElsewhere(prompt),
    });
    this.#choices = new SessionChoices(host, begin);
    this.#prompts = new Prompts(host, {
      begin,
      sessionId: () => this.#sessionId,
      isPlain: () => this.#isPlain === true,
      settings: () => this.#choices.chosen,
      run: (work) => this.#run(work),
      catchUp: () => this.#catchUp(),
      tell: (message) => this.#tell(message, 'history'),
      accepted: (own, session) => {
        this.#teller.skip(own.uuid);
        this.#isTwin(own, 'live');
        if (session) this.#adopt(session);
      },
    });
    if (begin.session) this.#adopt(begin.session);
  }

  get isBusy(): boolean {
    return this.#prompts.count > 0;
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /**
   * Sends the whole list, or with `false` counts it as sent up to here: what is still open goes on from there. Open questions are asked again.
   * @throws the errors of calls
   */
  replay(isTold: boolean): Promise<void> {
    return this.#run(async () => {
      const id = this.#sessionId;
      if (id === undefined) return;
      this.#copy = this.#newCopy();
      this.#teller.end();
      this.#teller = this.#newTeller();
      this.#isTwin = createTwins();
      this.#asking.forget();
      const page = await newestPage(this.#host.client, id);
      this.#isPlain = page.v === undefined;
      const newest = this.#isPlain ? page.messages : this.#copy.take(page);
      if (isTold) await this.#tellAll(newest, () => before(this.#host.client, id, page));
      else for (const entry of newest) this.#teller.tell(entry);
      await this.#look();
    });
  }

  /** The client goes on with what it was sent: only open questions are asked again. @throws the errors of calls */
  resume(): Promise<void> {
    return this.#run(async () => {
      this.#asking.forget();
      await this.#look();
    });
  }

  /** A frame of the relay, of any session. Resolves when the client has what it means. */
  async hear(frame: AttentionItem): Promise<void> {
    if (frame.type === 'resync') {
      this.#copy.doubt();
      // A session that rests is read when it turns out that it changed.
      this.#isStale ||= this.isBusy || this.#isRunning;
      await this.check(Date.now());
    } else if (this.#sending > 0) {
      // Before the first answer no frame is known to be of this session.
      if (this.#sessionId !== undefined && !this.#isMine(frame)) return;
      if (this.#held.push(frame) > heldFrames) this.#isStale = this.#held.shift() !== undefined;
    } else if (this.#isMine(frame))
      await this.#run(() => this.#take(frame).catch((error: unknown) => this.#doubt(error)));
  }

  /** Now and then: what could not be asked for, an end that no frame told, and that the session is still open. */
  async check(now: number): Promise<void> {
    const isDue = this.#isStale || now - this.#seenAt > (this.isBusy ? lookMs : openMs);
    if (!isDue || this.#isChecking || this.#sessionId === undefined || this.#sending > 0) return;
    this.#isChecking = true;
    try {
      await this.#run(() => (this.#isStale ? this.#reload() : this.#lookAgain()));
    } finally {
      this.#isChecking = false;
    }
  }

  /** @throws RequestError when the turn fails, or is not accepted */
  async prompt({ prompt }: PromptRequest): Promise<PromptResponse> {
    const instruction = instructionOf(prompt, this.#begin.paths);
    this.#sending += 1;
    const accepted = () => {
      this.#sending -= 1;
      this.#seenAt = Date.now();
      for (const frame of this.#sending === 0 ? this.#held.splice(0) : []) void this.hear(frame);
    };
    return this.#prompts.prompt(instruction, accepted);
  }

  /** Sends a message into the turn that runs. @throws RequestError when the agent does not take them */
  async steer(prompt: PromptRequest['prompt'], isHostOwned: boolean): Promise<Steered> {
    const id = this.#sessionId;
    if (id === undefined) throw invalid('This session has no turn.');
    return steer(this.#host, id, instructionOf(prompt, this.#begin.paths), isHostOwned, ({ uuid }) =>
      this.#teller.skip(uuid),
    );
  }

  /** Cancels the prompts of this client, and nothing else. Each is answered within two seconds. */
  cancel(): void {
    this.#prompts.cancel();
  }

  /** Its settings for the client. Nothing where the device offers none, or cannot say now. */
  choices(change?: { id: string; value: string }): Promise<Choices> {
    return this.#choices.read(this.#sessionId, change);
  }

  /** The client no longer has the session open. */
  close(): void {
    this.#teller.end();
    this.#host.budget.sessions -= 1;
  }

  /** Every prompt ends with this error. */
  end(error: Error): void {
    this.#asking.forget();
    this.#prompts.end(error);
  }

  // Frames of the relay

  #isMine(frame: AttentionItem): boolean {
    if (frame.type === 'device_removed') return frame.deviceId === this.#host.device.deviceId;
    if (frame.type === 'session_update') {
      const isMine = this.#ids.has(frame.session.id) || this.#ids.has(frame.previousId ?? '');
      // Frames under its new name may come before this one is taken, while a prompt is being sent.
      if (isMine) this.#ids.add(frame.session.id);
      return isMine;
    }
    return 'sessionId' in frame && typeof frame.sessionId === 'string' && this.#ids.has(frame.sessionId);
  }

  async #take(frame: AttentionItem): Promise<void> {
    switch (frame.type) {
      case 'session_update':
        // Two instances that publish one session may cross.
        if (frame.previousId === undefined && frame.session.updatedAt < this.#updatedAt) return;
        return this.#see(frame.session);
      case 'transcript':
        this.#isPlain = false;
        for (const item of this.#copy.hear(frame)) await this.#tell(item, 'live');
        if (this.#copy.isBehind) await this.#catchUpSoon();
        return;
      case 'new_message':
        return this.#takeMessage(frame.message);
      case 'settings_changed':
        return this.#choices.send(this.#sessionId);
      case 'session_removed':
        return this.end(acpError('The session was deleted.', { code: 'SESSION_NOT_FOUND', status: 404 }));
      case 'device_removed':
        return this.end(acpError('The device was removed.', { code: 'DEVICE_NOT_FOUND', status: 404 }));
      default:
    }
  }

  /** With a daemon that has items each message is one of them, and its frames may have been lost. */
  async #takeMessage(message: Message): Promise<void> {
    if (this.#isPlain !== true) {
      const item = this.#copy.get(message.uuid);
      const isKnown = item && (message.truncated === true || item.content === message.content);
      if (isKnown || (!item && this.#teller.isTold(message.uuid))) return;
      this.#copy.doubt();
      if (await this.#catchUpSoon()) return;
    }
    await this.#tell(message, 'live');
  }

  #adopt(session: Session): void {
    this.#ids.add(session.id);
    this.#sessionId = session.id;
    this.#updatedAt = session.updatedAt;
    this.#isRunning = session.status === 'active' || session.status === 'waiting';
  }

  async #see(session: Session): Promise<void> {
    const isNamed = this.#sessionId !== session.id && this.#sessionId !== undefined;
    const mayLack = this.#copy.isBehind && this.#copy.v !== undefined && session.updatedAt !== this.#updatedAt;
    this.#adopt(session);
    if (mayLack) await this.#catchUpSoon();
    if (session.title !== this.#title) {
      this.#title = session.title;
      await this.#update({ sessionUpdate: 'session_info_update', title: session.title, updatedAt: session.updatedAt });
    }
    if (isNamed) await this.#choices.send(this.#sessionId);
    this.#asking.see(session);
    await this.#prompts.see(session);
  }

  /** The session as the relay has it now. */
  async #look(): Promise<void> {
    if (this.#sessionId === undefined) return;
    this.#seenAt = Date.now();
    const params = { id: this.#sessionId };
    const session = await this.#host.client.call('readSession', { params, query: { limit: 1 } });
    await this.#see(session);
  }

  async #reload(): Promise<void> {
    this.#isStale = false;
    await this.#catchUp();
    await this.#lookAgain();
  }

  #lookAgain(): Promise<void> {
    return this.#look().catch((error: unknown) => this.#doubt(error));
  }

  /** It is asked for again soon, unless the session is gone. */
  #doubt(error: unknown): void {
    if (error instanceof RelayError && error.code === 'SESSION_NOT_FOUND') return this.end(errorOf(error));
    this.#isStale = true;
    this.#copy.doubt();
  }

  /** Not more often than every two seconds. */
  async #catchUpSoon(): Promise<boolean> {
    await pause(this.#askedAt + askAgainMs - Date.now(), this.#host.signal);
    return this.#catchUp();
  }

  /** Asks for what is missing. True when nothing is; false when the daemon cannot be asked now. */
  async #catchUp(): Promise<boolean> {
    const id = this.#sessionId;
    if (id === undefined) return true;
    const { client } = this.#host;
    this.#askedAt = Date.now();
    try {
      const isFirst = this.#copy.v === undefined;
      const page = isFirst ? await newestPage(client, id) : await changesSince(client, id, this.#copy.v!);
      this.#isPlain = page.v === undefined;
      const isKnown = (uuid: string) => this.#teller.isTold(uuid);
      const hasGap =
        page.hasMore && (isFirst || page.reset === true) && !page.messages.some(({ uuid }) => isKnown(uuid));
      const newest = this.#isPlain ? page.messages : this.#copy.take(page);
      await this.#tellAll(newest, hasGap ? () => before(client, id, page, isKnown) : undefined);
      return !this.#isPlain;
    } catch (error) {
      if (!(error instanceof RelayError) || error.code !== 'SESSION_NOT_RESOLVED')
        this.#host.log(`The history cannot be read now: ${error instanceof RelayError ? error.code : String(error)}`);
      return false;
    }
  }

  // Telling

  /** Older entries first. Histories of one person are in memory one after the other. */
  async #tellAll(newest: readonly (Item | Message)[], older?: () => Promise<Message[]>): Promise<void> {
    if (older)
      await this.#host.budget.inTurn(async () => {
        for (const entry of await older()) await this.#tell(entry, 'history');
      });
    for (const entry of newest) await this.#tell(entry, 'history');
  }

  async #tell(entry: Item | Message, source: 'live' | 'history'): Promise<void> {
    const isPlainMessage = !isItem(entry);
    if (isPlainMessage && !this.#teller.isTold(entry.uuid) && this.#isTwin(entry, source))
      return this.#teller.skip(entry.uuid);
    if (!isPlainMessage && this.#asking.wasAsked(entry.part.answers)) return this.#teller.skip(entry.uuid);
    // The call of the prompt ends with it.
    const isOwnError = this.isBusy && entry.role === 'SYSTEM' && (isPlainMessage || entry.part.kind === 'error');
    if (isOwnError && source === 'live') return this.#teller.skip(entry.uuid);
    if (!isPlainMessage && entry.part.kind === 'image' && !this.#teller.isTold(entry.uuid)) {
      const picture = await pictureOf(this.#host.client, this.#sessionId ?? '', entry).catch(() => undefined);
      if (picture) {
        this.#teller.skip(entry.uuid);
        await this.#update({ sessionUpdate: 'agent_message_chunk', messageId: entry.uuid, content: picture });
      }
    }
    for (const update of this.#teller.tell(entry)) {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
        this.#prompts.hear(update.content.text);
      await this.#update(update);
    }
  }

  #update(update: SessionUpdate): Promise<void> {
    return this.#host.update(this.id, update);
  }

  async #tellElsewhere(prompt: Prompt): Promise<void> {
    const text = `${prompt.result || prompt.prompt}\n\n_This question waits for an answer in the app or on the pages of the relay._`;
    const messageId = prompt.id ?? prompt.at;
    await this.#update({ sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text } });
  }

  #askOptions({ subject }: Prompt): AskOptions {
    const { cwd, paths } = this.#begin;
    const { isReadOnly, shows } = this.#host;
    const call = subject && openCallOf(this.#copy.items, subject);
    return { sessionId: this.id, forms: shows.forms, isReadOnly, toolCallId: call && toolCallIdOf(call), cwd, paths };
  }

  #newTeller(): Teller {
    const { budget, shows } = this.#host;
    return createTeller({ ...this.#begin, notices: shows.notices, budget });
  }

  #newCopy(): TranscriptCopy {
    return new TranscriptCopy({ keep: keptItems, keepBytes: () => copyBytes(this.#host.budget) });
  }

  #run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }
}
