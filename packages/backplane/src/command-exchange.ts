/**
 * Both sides of a command: the sender routes and requests, the owner acknowledges and replies. An implementation
 * supplies a `CommandTransport`, which knows the leases and carries the messages.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BackplaneOptions } from './backplane.ts';
import type { Command, Commands, RouteOutcome } from './commands.ts';
import { BackplaneError, UncertainError } from './errors.ts';
import type { CommandAnswer, CommandMessage } from './instance-message.ts';
import { Waiters } from './waiters.ts';

export interface CommandTransport {
  /**
   * One atomic step: finds the owner, checks `deadline` (`performance.now()`), adds the owner's fence to the command
   * and sends it. Rejects with an `UncertainError` if the command might have left.
   */
  toOwner(
    id: string,
    command: Omit<Command, 'fence'>,
    deadline: number,
  ): Promise<'posted' | 'offline' | 'owner_gone' | 'expired'>;
  /** An instance that is gone is not an error. */
  toInstance(instance: string, answer: CommandAnswer): Promise<void>;
}

type CommandListener = (command: Command) => boolean | Promise<boolean>;
type Acknowledgement = 'ack' | 'nack' | 'none';

const defaultDeadlineMs = 2_000;

export class CommandExchange implements Commands {
  readonly #instance: string;
  readonly #transport: CommandTransport;
  readonly #options: Pick<BackplaneOptions, 'ownerGoneRetryMs' | 'maxPending'>;
  readonly #onError: (error: unknown) => void;
  readonly #acknowledgements: Waiters<Acknowledgement>;
  readonly #replies: Waiters<string>;
  /** Requests accepted and not yet answered, by sender and correlation: the senders to notify when this instance closes. */
  readonly #owed = new Map<string, { replyTo: string; correlation: string }>();
  readonly #closing = new AbortController();
  #listener: CommandListener | undefined;
  /** Ids of routes and requests: unique in this instance, which never lives twice. */
  #lastId = 0;

  constructor(
    instance: string,
    transport: CommandTransport,
    options: Pick<BackplaneOptions, 'ownerGoneRetryMs' | 'maxPending'>,
    onError: (error: unknown) => void,
  ) {
    this.#instance = instance;
    this.#transport = transport;
    this.#options = options;
    this.#onError = onError;
    this.#acknowledgements = new Waiters(options.maxPending);
    this.#replies = new Waiters(options.maxPending);
  }

  onCommand(listener: CommandListener): void {
    if (this.#listener) throw new TypeError('onCommand takes one listener: its answer is the acknowledgement');
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
        // After 'unknown' the request stays open: the acknowledgement can be lost while the reply is still on its way.
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
    await this.#transport.toInstance(to, { kind: 'reply', correlation, body });
  }

  /** A message that came through the channel of this instance. */
  receive(message: CommandMessage | CommandAnswer): void {
    switch (message.kind) {
      case 'command':
        this.#accept(message).catch(this.#onError);
        break;
      case 'ack':
      case 'nack':
        this.#acknowledgements.settle(message.id, message.kind);
        break;
      case 'reply':
        this.#acknowledgements.settle(message.correlation, 'ack');
        this.#replies.settle(message.correlation, message.body);
        break;
      case 'abandoned': {
        this.#acknowledgements.settle(message.correlation, 'ack');
        const error = new BackplaneError('CLOSED', 'the owner of the device closed before it replied');
        this.#replies.fail(message.correlation, error);
      }
    }
  }

  async close(): Promise<void> {
    const owed = [...this.#owed.values()];
    this.#owed.clear();
    this.#replies.failAll(new BackplaneError('CLOSED', 'this instance closed before the reply'));
    this.#acknowledgements.settleAll('none');
    this.#closing.abort();
    await Promise.all(
      owed.map(({ correlation, replyTo }) => this.#transport.toInstance(replyTo, { kind: 'abandoned', correlation })),
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
    const acknowledged = this.#acknowledgements.wait(id, remainingMs, () => 'none');
    try {
      const posted = await this.#transport.toOwner(id, command, deadline);
      if (posted !== 'posted') return posted;
      const answer = await acknowledged;
      if (answer === 'none') return 'unknown';
      return answer === 'ack' ? 'sent' : 'refused';
    } finally {
      this.#acknowledgements.settle(id, 'none');
    }
  }

  async #accept({ id, from, command }: CommandMessage): Promise<void> {
    const { correlation, replyTo } = command;
    if (correlation !== undefined && replyTo !== undefined) this.#owe(correlation, replyTo);
    const accepted = await this.#handle(command);
    // A request needs no acknowledgement: the reply costs the same and implies it.
    if (correlation !== undefined && accepted) return;
    if (correlation !== undefined && replyTo !== undefined) this.#owed.delete(debtOf(replyTo, correlation));
    await this.#transport.toInstance(from, { kind: accepted ? 'ack' : 'nack', id });
  }

  /** Calls the listener before anything is awaited, or commands would overtake each other. */
  async #handle(command: Command): Promise<boolean> {
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
    // Requests that are never answered must not fill the table: the sender of the oldest has given up first.
    if (this.#owed.size >= this.#options.maxPending) {
      const [oldest] = this.#owed.keys();
      if (oldest !== undefined) this.#owed.delete(oldest);
    }
    this.#owed.set(debtOf(replyTo, correlation), { replyTo, correlation });
  }
}

/** Correlations are unique for their sender only. */
const debtOf = (replyTo: string, correlation: string): string => `${replyTo} ${correlation}`;
