/**
 * The story of a command, told from both ends: route and request on the sender's side, ACK and reply on the owner's.
 * It knows neither where leases are kept nor how mail travels; an implementation brings both.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BackplaneOptions, Command, RouteOutcome } from './backplane.ts';
import { BackplaneError, UncertainError } from './errors.ts';
import type { Mail } from './mail.ts';
import { Waiters } from './waiters.ts';

export interface CommandPost {
  /**
   * One atomic step: find the owner, check that it is not later than `deadline` (`performance.now()`), put the owner's fence on
   * the command, send it. Rejects with an `UncertainError` when it may have been sent.
   */
  toOwner(
    id: string,
    command: Omit<Command, 'fence'>,
    deadline: number,
  ): Promise<'posted' | 'offline' | 'owner_gone' | 'expired'>;
  /** Nobody there is not an error. */
  toInstance(instance: string, mail: Mail): Promise<void>;
}

type CommandMail = Extract<Mail, { kind: 'command' }>;
type CommandListener = (command: Command) => boolean | Promise<boolean>;
type Ack = 'ack' | 'nack' | 'none';

const defaultDeadlineMs = 2_000;

export class Commands {
  readonly #instance: string;
  readonly #post: CommandPost;
  readonly #options: Pick<BackplaneOptions, 'ownerGoneRetryMs' | 'maxPending'>;
  readonly #onError: (error: unknown) => void;
  readonly #acks: Waiters<Ack>;
  readonly #replies: Waiters<string>;
  /** Requests taken and not yet answered, by asker and correlation: who must be told when this instance closes. */
  readonly #owed = new Map<string, { replyTo: string; correlation: string }>();
  readonly #closing = new AbortController();
  #listener: CommandListener | undefined;
  /** Ids of routes and requests: unique in this instance, which never lives twice. */
  #lastId = 0;

  constructor(
    instance: string,
    post: CommandPost,
    options: Pick<BackplaneOptions, 'ownerGoneRetryMs' | 'maxPending'>,
    onError: (error: unknown) => void,
  ) {
    this.#instance = instance;
    this.#post = post;
    this.#options = options;
    this.#onError = onError;
    this.#acks = new Waiters(options.maxPending);
    this.#replies = new Waiters(options.maxPending);
  }

  listen(listener: CommandListener): void {
    if (this.#listener) throw new TypeError('onCommand takes one listener: its answer is the ACK');
    this.#listener = listener;
  }

  route(device: string, body: string, deadlineMs = defaultDeadlineMs): Promise<RouteOutcome> {
    return this.#deliver({ device, body }, deadlineMs).catch((error: unknown): RouteOutcome => {
      if (error instanceof UncertainError) return 'unknown';
      throw error;
    });
  }

  request(device: string, body: string, timeoutMs: number): Promise<string> {
    const correlation = this.#newId();
    const late = () => new BackplaneError('TIMEOUT', `no reply within ${timeoutMs} ms`);
    const reply = this.#replies.wait(correlation, timeoutMs, late);
    const command = { device, body, correlation, replyTo: this.#instance };
    this.#deliver(command, timeoutMs).then(
      (outcome) => {
        // 'unknown' is not the end: the ACK may be lost and the reply on its way.
        if (outcome === 'sent' || outcome === 'unknown') return;
        const code = outcome === 'expired' ? 'TIMEOUT' : 'OFFLINE';
        this.#replies.fail(correlation, new BackplaneError(code, `the request was not delivered: ${outcome}`));
      },
      (error: Error) => this.#replies.fail(correlation, error),
    );
    return reply;
  }

  async reply(to: string, correlation: string, body: string): Promise<void> {
    this.#owed.delete(debtOf(to, correlation));
    await this.#post.toInstance(to, { kind: 'reply', correlation, body });
  }

  /** Takes the mail that is about commands and leaves the rest. */
  receive(mail: Mail): void {
    if (mail.kind === 'command') this.#take(mail).catch(this.#onError);
    if (mail.kind === 'ack') this.#acks.settle(mail.id, mail.ok ? 'ack' : 'nack');
    if (mail.kind === 'reply') {
      this.#acks.settle(mail.correlation, 'ack');
      this.#replies.settle(mail.correlation, mail.body);
    }
    if (mail.kind === 'abandoned') {
      this.#acks.settle(mail.correlation, 'ack');
      const error = new BackplaneError('CLOSED', 'the owner of the device closed before it replied');
      this.#replies.fail(mail.correlation, error);
    }
  }

  async close(): Promise<void> {
    const owed = [...this.#owed.values()];
    this.#owed.clear();
    this.#replies.failAll(new BackplaneError('CLOSED', 'this instance closed before the reply'));
    this.#acks.settleAll('none');
    this.#closing.abort();
    await Promise.all(
      owed.map(({ correlation, replyTo }) => this.#post.toInstance(replyTo, { kind: 'abandoned', correlation })),
    );
  }

  async #deliver(command: Omit<Command, 'fence'>, deadlineMs: number): Promise<RouteOutcome> {
    const deadline = performance.now() + deadlineMs;
    const first = await this.#attempt(command, deadline);
    if (this.#closing.signal.aborted) return first;
    if (first === 'refused') return this.#attempt(command, deadline);
    if (first !== 'owner_gone' || deadline - performance.now() <= this.#options.ownerGoneRetryMs) return first;
    try {
      await delay(this.#options.ownerGoneRetryMs, undefined, { signal: this.#closing.signal });
    } catch {
      return first;
    }
    return this.#attempt(command, deadline);
  }

  async #attempt(command: Omit<Command, 'fence'>, deadline: number): Promise<RouteOutcome> {
    const remainingMs = deadline - performance.now();
    if (remainingMs <= 0) return 'expired';
    const id = command.correlation ?? this.#newId();
    const ack = this.#acks.wait(id, remainingMs, () => 'none');
    try {
      const posted = await this.#post.toOwner(id, command, deadline);
      if (posted !== 'posted') return posted;
      const answer = await ack;
      if (answer === 'none') return 'unknown';
      return answer === 'ack' ? 'sent' : 'refused';
    } finally {
      this.#acks.settle(id, 'none');
    }
  }

  async #take({ id, from, command }: CommandMail): Promise<void> {
    const { correlation, replyTo } = command;
    if (correlation !== undefined && replyTo !== undefined) this.#owe(correlation, replyTo);
    const ok = await this.#ask(command);
    if (correlation === undefined) return this.#post.toInstance(from, { kind: 'ack', id, ok });
    // Who waits for a reply needs no ACK: it costs as much as the reply does.
    if (ok) return;
    if (replyTo !== undefined) this.#owed.delete(debtOf(replyTo, correlation));
    await this.#post.toInstance(from, { kind: 'ack', id, ok });
  }

  /** Calls the listener before anything is awaited, or commands would overtake each other. */
  async #ask(command: Command): Promise<boolean> {
    try {
      return this.#listener !== undefined && (await this.#listener(command)) === true;
    } catch (error) {
      this.#onError(error);
      return false;
    }
  }

  #newId(): string {
    this.#lastId += 1;
    return this.#lastId.toString(36);
  }

  #owe(correlation: string, replyTo: string): void {
    // Who never replies must not fill the table: the oldest debt is the one whose asker has given up first.
    if (this.#owed.size >= this.#options.maxPending) {
      const [oldest] = this.#owed.keys();
      if (oldest !== undefined) this.#owed.delete(oldest);
    }
    this.#owed.set(debtOf(replyTo, correlation), { replyTo, correlation });
  }
}

/** Correlations are unique for their asker only. */
const debtOf = (replyTo: string, correlation: string): string => `${replyTo} ${correlation}`;
