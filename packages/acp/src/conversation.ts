/**
 * One session that a client has open: its items become updates, prompts become messages, and each prompt gets one answer, also if the
 * connection to the relay drops. Work on a session runs in sequence.
 */
import type { PromptRequest, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import { type AttentionItem, type Loaded, RelayError, SessionCopy } from '@relay/client';
import { type Item, type Message, type Prompt, type Session, isItem } from '@relay/protocol';
import { Asking } from './asking.ts';
import type { Begin } from './begin.ts';
import { copyBytes } from './budget.ts';
import { acpError, errorOf, invalid } from './errors.ts';
import { before } from './history.ts';
import type { Host } from './host.ts';
import { shownAs } from './attach.ts';
import { deskChoiceOf, instructionOf } from './prompt.ts';
import { type AskOptions } from './questions.ts';
import { Prompts } from './prompts.ts';
import { SessionChoices } from './session-choices.ts';
import type { Choices } from './settings.ts';
import { type SteerResult, steer } from './steering.ts';
import { type Updater, createUpdater, openCallOf, toolCallIdOf } from './updates.ts';

/** Number of items to follow in one session. */
const keptItems = 2000;
/** Interval of reading a session with a running prompt, even if no frame arrives. */
const lookMs = 60_000;
/** A session counts as open for five minutes after it was read (rules, 14.2). */
const openMs = 240_000;

export class Conversation {
  readonly id: string;
  readonly #host: Host;
  readonly #begin: Begin;
  readonly #asking: Asking;
  readonly #prompts: Prompts;
  readonly #choices: SessionChoices;
  readonly #copy: SessionCopy;
  #updater: Updater;
  /** The session as last sent to the client. */
  #seen: Session | undefined;
  #work: Promise<unknown> = Promise.resolve();
  /** Number of prompts being sent. Frames wait, because their messages can arrive before the response that names them. */
  #sending = 0;
  #held: AttentionItem[] = [];
  /** Their characters as JSON. */
  #heldLength = 0;
  /** Frames were lost, and the changes have not been read yet. */
  #isStale = false;
  #title: string | undefined;
  #seenAt = 0;
  #isChecking = false;

  constructor(host: Host, begin: Begin) {
    this.#host = host;
    this.#begin = begin;
    this.id = begin.id;
    host.budget.sessions += 1;
    const { budget, client } = host;
    this.#copy = new SessionCopy({
      client,
      id: begin.session?.id,
      keep: keptItems,
      keepBytes: () => copyBytes(budget),
    });
    this.#updater = this.#newUpdater();
    this.#asking = new Asking({
      host,
      sessionId: () => this.sessionId,
      options: (prompt) => this.#askOptions(prompt),
      onElsewhere: (prompt) => this.#tellElsewhere(prompt),
    });
    this.#choices = new SessionChoices(host, begin);
    this.#prompts = new Prompts(host, {
      begin,
      sessionId: () => this.sessionId,
      isPlain: () => this.#isPlain === true,
      settings: () => this.#choices.chosen,
      run: (work) => this.#run(work),
      catchUp: () => this.#catchUp(),
      show: async (message) => {
        if (this.#copy.add(message, false)) await this.#show(message, 'history');
      },
      accepted: (own, session) => {
        this.#updater.skip(own.uuid);
        this.#copy.add(own);
        if (session) this.#adopt(session);
      },
    });
    if (begin.session) this.#adopt(begin.session);
  }

  get isBusy(): boolean {
    return this.#prompts.count > 0;
  }

  get sessionId(): string | undefined {
    return this.#copy.id;
  }

  /** The daemon keeps no items. Undefined: not known yet. */
  get #isPlain(): boolean | undefined {
    return this.#copy.isPlain ?? (this.#host.device.keepsItems ? undefined : true);
  }

  /** A turn runs, of this client or another app. */
  get #isRunning(): boolean {
    const status = this.#copy.session?.status;
    return status === 'active' || status === 'waiting';
  }

  /**
   * Sends the whole list or, with `false`, records it as sent, so that open items continue from there. Asks open questions again.
   * @throws the errors of calls
   */
  replay(isReplayed: boolean): Promise<void> {
    return this.#run(async () => {
      const id = this.sessionId;
      if (id === undefined) return;
      this.#copy.forget();
      this.#updater.end();
      this.#updater = this.#newUpdater();
      this.#asking.forget();
      const loaded = await this.#copy.loadChanges();
      if (isReplayed) await this.#showAll(loaded.changed, () => before(this.#host.client, id, loaded));
      else for (const entry of loaded.changed) this.#updater.updatesFor(entry);
      await this.#look();
    });
  }

  /** The client keeps its list; open questions are asked again. @throws the errors of calls */
  resume(): Promise<void> {
    return this.#run(async () => {
      this.#asking.forget();
      await this.#look();
    });
  }

  /** Applies a frame of the relay, of any session. Resolves when the client has its updates. */
  async apply(frame: AttentionItem): Promise<void> {
    const isBack = frame.type === 'connection' && frame.state === 'live' && frame.resumed;
    if (frame.type === 'resync' || (isBack && this.#isPlain === false)) {
      this.#copy.doubt();
      // If the agent works, the session is read now; otherwise on the next update that shows a change.
      this.#isStale ||= this.isBusy || this.#isRunning;
      await this.check(Date.now());
    } else if (this.#sending > 0) {
      // The first response brings the id to compare frames with.
      if (this.sessionId !== undefined && !this.#copy.concerns(frame)) return;
      this.#hold(frame);
    } else if (this.#copy.concerns(frame))
      await this.#run(() => this.#take(frame).catch((error: unknown) => this.#doubt(error)));
  }

  /** Keeps a frame while a prompt is being sent. Frames that exceed the session's share of memory lead to a read instead. */
  #hold(frame: AttentionItem): void {
    this.#heldLength += JSON.stringify(frame).length;
    this.#held.push(frame);
    if (this.#heldLength <= copyBytes(this.#host.budget)) return;
    this.#held = [];
    this.#heldLength = 0;
    this.#isStale = true;
  }

  /** Runs periodically: retries failed reads, and reads the session if no frame arrived for long. */
  async check(now: number): Promise<void> {
    const isDue = this.#isStale || now - this.#seenAt > (this.isBusy ? lookMs : openMs);
    if (!isDue || this.#isChecking || this.sessionId === undefined || this.#sending > 0) return;
    this.#isChecking = true;
    try {
      await this.#run(() => (this.#isStale ? this.#reload() : this.#lookAgain()));
    } finally {
      this.#isChecking = false;
    }
  }

  /** @throws RequestError if the turn fails, or the relay refuses the prompt */
  async prompt({ prompt, _meta: meta }: PromptRequest): Promise<PromptResponse> {
    const instruction = {
      ...instructionOf(prompt, this.#begin.paths, this.#host.device.files),
      ...deskChoiceOf(meta),
    };
    this.#sending += 1;
    const accepted = () => {
      this.#sending -= 1;
      this.#seenAt = Date.now();
      if (this.#sending > 0) return;
      this.#heldLength = 0;
      for (const frame of this.#held.splice(0)) void this.apply(frame);
      if (this.#isStale) void this.check(Date.now());
    };
    return this.#prompts.prompt(instruction, accepted);
  }

  /** Sends a message into the running turn. @throws RequestError if the agent does not accept messages */
  async steer(prompt: PromptRequest['prompt'], isHostOwned: boolean): Promise<SteerResult> {
    const id = this.sessionId;
    if (id === undefined) throw invalid('This session has no turn.');
    return steer(
      this.#host,
      id,
      instructionOf(prompt, this.#begin.paths, this.#host.device.files),
      isHostOwned,
      ({ uuid }) => this.#updater.skip(uuid),
    );
  }

  /** Cancels the prompts of this client, and nothing else. Each prompt resolves within two seconds. */
  cancel(): void {
    this.#prompts.cancel();
  }

  /** Returns the settings of the session; empty if the device offers no settings or does not answer. */
  choices(change?: { id: string; value: string }): Promise<Choices> {
    return this.#choices.read(this.sessionId, change);
  }

  /** The client closed the session. */
  close(): void {
    this.#updater.end();
    this.#host.budget.sessions -= 1;
  }

  /** Rejects every prompt with this error. */
  end(error: Error): void {
    this.#asking.forget();
    this.#prompts.end(error);
  }

  // Frames of the relay

  async #take(frame: AttentionItem): Promise<void> {
    const changed = this.#copy.apply(frame);
    if (changed === undefined) return;
    switch (frame.type) {
      case 'session_update':
        return this.#see(frame.session);
      case 'transcript':
        for (const item of changed) await this.#show(item, 'live');
        if (this.#copy.isBehind) await this.#catchUpSoon();
        return;
      case 'new_message':
        return this.#takeMessage(frame.message, changed.length > 0);
      case 'settings_changed':
        return this.#choices.send(this.sessionId);
      case 'session_removed':
        return this.end(acpError('The session was deleted.', { code: 'SESSION_NOT_FOUND', status: 404 }));
      case 'device_removed':
        return this.end(acpError('The device was removed.', { code: 'DEVICE_NOT_FOUND', status: 404 }));
      default:
    }
  }

  /** A daemon with items sends each message as an item too, whose frames can be lost. */
  async #takeMessage(message: Message, isNew: boolean): Promise<void> {
    const show = () => (isNew ? this.#show(message, 'live') : Promise.resolve());
    if (this.#isPlain === true) return show();
    if (this.#isPlain === undefined) {
      this.#copy.doubt();
      if (!(await this.#catchUpSoon())) await show();
    } else if (this.#copy.isUnsure)
      void this.#copy.doubted().then(() =>
        this.#run(async () => {
          if (this.#copy.isBehind && !(await this.#catchUpSoon())) await show();
        }),
      );
  }

  #adopt(session: Session): void {
    this.#seen = session;
    this.#copy.adopt(session);
  }

  async #see(session: Session): Promise<void> {
    const isNamed = this.#seen !== undefined && this.#seen.id !== session.id;
    const isChanged = this.#seen?.updatedAt !== session.updatedAt;
    this.#seen = session;
    if (isChanged && this.#copy.isBehind && this.#copy.isPlain !== undefined) await this.#catchUpSoon();
    if (session.title !== this.#title) {
      this.#title = session.title;
      await this.#update({ sessionUpdate: 'session_info_update', title: session.title, updatedAt: session.updatedAt });
    }
    if (isNamed) await this.#choices.send(this.sessionId);
    this.#asking.see(session);
    await this.#prompts.see(session);
  }

  /** Reads the session. */
  async #look(): Promise<void> {
    if (this.sessionId === undefined) return;
    this.#seenAt = Date.now();
    await this.#see(await this.#copy.look());
  }

  async #reload(): Promise<void> {
    this.#isStale = false;
    await this.#catchUp();
    await this.#lookAgain();
  }

  #lookAgain(): Promise<void> {
    return this.#look().catch((error: unknown) => this.#doubt(error));
  }

  /** The next check reads the session again, unless it was deleted. */
  #doubt(error: unknown): void {
    if (error instanceof RelayError && error.code === 'SESSION_NOT_FOUND') return this.end(errorOf(error));
    this.#isStale = true;
    this.#copy.doubt();
  }

  #catchUp(): Promise<boolean> {
    return this.#read(() => this.#copy.loadChanges());
  }

  /** Like `#catchUp`, but when the next read is due, and only if changes are still missing. */
  #catchUpSoon(): Promise<boolean> {
    return this.#read(() => this.#copy.catchUp(this.#host.signal));
  }

  /** Returns true if the client now has all items; false if the daemon did not answer, or keeps no items. */
  async #read(work: () => Promise<Loaded | undefined>): Promise<boolean> {
    if (this.sessionId === undefined) return true;
    const { client } = this.#host;
    try {
      const loaded = await work();
      if (loaded) {
        const isSent = (uuid: string) => this.#updater.isSent(uuid);
        const hasGap = loaded.isWhole && loaded.hasMore && !loaded.changed.some(({ uuid }) => isSent(uuid));
        const older = () => before(client, this.sessionId!, loaded, isSent);
        await this.#showAll(loaded.changed, hasGap ? older : undefined);
      }
      return !this.#isPlain;
    } catch (error) {
      if (!(error instanceof RelayError) || error.code !== 'SESSION_NOT_RESOLVED')
        this.#host.log(`The history cannot be read now: ${error instanceof RelayError ? error.code : String(error)}`);
      return false;
    }
  }

  // Updates for the client

  /** Sends older entries first. Only one history of a user is in memory at a time. */
  async #showAll(newest: readonly (Item | Message)[], older?: () => Promise<Message[]>): Promise<void> {
    if (older)
      await this.#host.budget.inTurn(async () => {
        for (const entry of await older()) await this.#show(entry, 'history');
      });
    for (const entry of newest) await this.#show(entry, 'history');
  }

  async #show(entry: Item | Message, source: 'live' | 'history'): Promise<void> {
    const isPlainMessage = !isItem(entry);
    if (!isPlainMessage && this.#asking.wasRequested(entry.part.answers)) return this.#updater.skip(entry.uuid);
    // The response of the prompt reports its error.
    const isOwnError = this.isBusy && entry.role === 'SYSTEM' && (isPlainMessage || entry.part.kind === 'error');
    if (isOwnError && source === 'live') return this.#updater.skip(entry.uuid);
    if (!isPlainMessage && !this.#updater.isSent(entry.uuid)) {
      const shown = await shownAs(this.#host, this.sessionId ?? '', entry);
      if (shown) this.#updater.skip(entry.uuid);
      if (shown?.content)
        await this.#update({ sessionUpdate: 'agent_message_chunk', messageId: entry.uuid, content: shown.content });
    }
    for (const update of this.#updater.updatesFor(entry)) {
      if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
        this.#prompts.record(update.content.text);
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
    const call = subject && openCallOf(this.#copy.state.items ?? [], subject);
    return { sessionId: this.id, forms: shows.forms, isReadOnly, toolCallId: call && toolCallIdOf(call), cwd, paths };
  }

  #newUpdater(): Updater {
    const { budget, shows } = this.#host;
    return createUpdater({ ...this.#begin, notices: shows.notices, budget });
  }

  #run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }
}
