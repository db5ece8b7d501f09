/** One Redis server to which operations are sent: the script, its clock, and whether it can be reached. */
import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { Redis } from 'ioredis';
import { BackplaneError } from '../errors.ts';
import { RedisClock } from './clock.ts';
import { keepAlive, uncertain, unavailable } from './connection.ts';

export interface ServerEvents {
  /** It can be asked, for the first time or again. */
  onUp(): void;
  /** What it answered says that the map of the cluster is old, or that it cannot serve now. */
  onMoved(): void;
}

/** Says that nothing was carried out and the same may be asked of another node. */
export class MovedError extends Error {}

export class RedisServer {
  readonly clock = new RedisClock();
  readonly #connection: Redis;
  readonly #script: string;
  readonly #sha: string;
  readonly #events: ServerEvents;
  readonly #timeoutMs: number;
  #up = false;
  #closed = false;

  /** `connection` is this server's from now on. */
  constructor(connection: Redis, script: string, timeoutMs: number, events: ServerEvents) {
    this.#connection = connection;
    this.#script = script;
    this.#sha = createHash('sha1').update(script).digest('hex');
    this.#timeoutMs = timeoutMs;
    this.#events = events;
    connection.on('ready', () => void this.#greet());
    connection.on('close', () => (this.#up = false));
    keepAlive(connection, () => this.#closed);
  }

  get up(): boolean {
    return this.#up;
  }

  /**
   * Carries out operations within the time a command may take, or not at all: past it the script refuses them, however late
   * a frozen server or a full socket brings them. Returns one value per operation; one that failed is an `Error`.
   * @throws BackplaneError UNAVAILABLE, at once when the server is away; MovedError
   */
  async run(key: string, args: (string | number)[]): Promise<unknown[]> {
    if (!this.#up) throw new BackplaneError('UNAVAILABLE', 'Redis is not connected');
    const sentAt = performance.now();
    args[0] = this.until(sentAt);
    let answer: unknown;
    try {
      answer = await this.#evaluate(key, args);
    } catch (error) {
      throw this.#explain(error);
    }
    const [at, ...values] = answer as [number, ...unknown[]];
    this.clock.sample(sentAt, at, performance.now());
    if (values.length === 0) throw new BackplaneError('UNAVAILABLE', 'Redis was asked too late and did nothing');
    const refused = values.find((value) => value instanceof Error);
    if (refused instanceof Error) this.#explain(refused);
    return values;
  }

  /** The time (Redis, ms since 1970) until which what is asked now may be carried out. */
  until(now = performance.now()): number {
    return Math.floor(this.clock.earliest(now + this.#timeoutMs));
  }

  /** From now on commands are kept, until `letGo` writes all of them at once: a write costs more than a command. */
  gather(): void {
    this.#stream()?.cork();
  }

  letGo(): void {
    this.#stream()?.uncork();
  }

  /** Any other command. @throws BackplaneError UNAVAILABLE */
  async call(command: string, ...args: (string | number)[]): Promise<unknown> {
    if (!this.#up) throw new BackplaneError('UNAVAILABLE', 'Redis is not connected');
    try {
      return await this.#connection.call(command, ...args);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Ends the connection and makes a new one: what it had not sent yet is not sent any more. */
  rebuild(): void {
    this.#up = false;
    this.#connection.disconnect(true);
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    this.#connection.disconnect();
  }

  /** Of the library, which does not name it: what its commands are written to. Another one after a reconnect. */
  #stream(): Writable | undefined {
    return (this.#connection as unknown as { stream?: Writable }).stream;
  }

  async #evaluate(key: string, args: (string | number)[]): Promise<unknown> {
    try {
      return await this.#connection.evalsha(this.#sha, 1, key, ...args);
    } catch (error) {
      // Nothing was done. The script was loaded when the connection began, so somebody has thrown all scripts away.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return this.#connection.eval(this.#script, 1, key, ...args);
    }
  }

  /** The script is there and the time is known before the first operation is sent. */
  async #greet(): Promise<void> {
    try {
      this.clock.reset();
      const sentAt = performance.now();
      const [time] = await Promise.all([this.#connection.time(), this.#connection.script('LOAD', this.#script)]);
      const [seconds = 0, micros = 0] = time.map(Number);
      // Late for the range, because the script was loaded meanwhile, but true.
      this.clock.sample(sentAt, seconds * 1000 + Math.floor(micros / 1000), performance.now());
      this.#up = this.#connection.status === 'ready';
      if (this.#up) this.#events.onUp();
    } catch {
      // Ended, frozen or loading: the connection begins again, and this with it.
      if (this.#connection.status === 'ready') this.#connection.disconnect(true);
    }
  }

  #explain(error: unknown): Error {
    const message = error instanceof Error ? error.message : '';
    if (/^(MOVED|ASK|TRYAGAIN) /.test(message)) {
      this.#events.onMoved();
      return new MovedError(message);
    }
    if (message.startsWith('CLUSTERDOWN')) this.#events.onMoved();
    // No answer: the server is stuck or the way to it is. A new connection asks without what waits in the old one.
    if (message === 'Command timed out') this.rebuild();
    // It was the master: every write fails until the new one is found.
    if (message.includes('READONLY') || message.startsWith('MASTERDOWN')) this.rebuild();
    return isCertain(error) ? unavailable(error) : uncertain(message);
  }
}

/** The server said no, or was not asked; otherwise the question left and no answer came. */
const isCertain = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'ReplyError' || error.message.startsWith("Stream isn't writeable"));
