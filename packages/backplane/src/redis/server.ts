/** One Redis server for commands: its script, its clock, and whether it can be reached. */
import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { Redis } from 'ioredis';
import { BackplaneError } from '../errors.ts';
import { RedisClock } from './clock.ts';
import { keepAlive, uncertain, unavailable } from './connection.ts';

/** The library rejects with the same message, but waits longer. */
const timedOut = 'Command timed out';

/** Nothing was carried out; another node of the cluster has the key. */
export class MovedError extends Error {}

export class RedisServer {
  readonly clock = new RedisClock();
  /** Resolves when it can be asked for the first time. */
  readonly ready: Promise<void>;
  readonly #connection: Redis;
  readonly #script: string;
  readonly #sha: string;
  #onUp: () => void = () => undefined;
  readonly #onMoved: () => void;
  readonly #timeoutMs: number;
  /** Answers that this process waits for, the oldest first. */
  readonly #waits = new Set<{ untilMs: number; reject(error: Error): void }>();
  #clockOfWaits: NodeJS.Timeout | undefined;
  #up = false;
  #closed = false;

  /**
   * The server owns the connection from now on. `onUp`: it can be asked, for the first time or again; `onMoved`: it answered that
   * the map of the cluster is out of date, or that it cannot serve now.
   */
  constructor(
    connection: Redis,
    script: string,
    timeoutMs: number,
    onUp: () => void = () => undefined,
    onMoved: () => void = () => undefined,
  ) {
    this.#connection = connection;
    this.#script = script;
    this.#sha = createHash('sha1').update(script).digest('hex');
    this.#timeoutMs = timeoutMs;
    this.ready = new Promise((resolve) => {
      this.#onUp = () => {
        resolve();
        onUp();
      };
    });
    this.#onMoved = onMoved;
    // The library starts a timer for each command that has such a time. This class has one timer for all; the library needs its own until then.
    const { commandTimeout } = connection.options;
    connection.on('ready', () => {
      delete connection.options.commandTimeout;
      void this.#prepare();
    });
    connection.on('close', () => {
      if (commandTimeout !== undefined) connection.options.commandTimeout = commandTimeout;
      this.#up = false;
    });
    keepAlive(connection, () => this.#closed);
  }

  get up(): boolean {
    return this.#up;
  }

  /**
   * Executes operations within the command timeout, or not at all: after the deadline the script refuses them, however
   * late they reach it through a frozen server or a full socket. Writes the deadline into `args[0]`. Returns one value
   * per operation; a failed operation is an `Error`.
   * @throws BackplaneError UNAVAILABLE, immediately if the server is away; MovedError
   */
  async run(key: string, args: (string | number)[]): Promise<unknown[]> {
    if (!this.#up) throw new BackplaneError('UNAVAILABLE', 'Redis is not connected');
    const sentAt = performance.now();
    args[0] = this.until(sentAt);
    const [at, ...values] = (await this.#inTime(this.#evaluate(key, args))) as [number, ...unknown[]];
    this.clock.sample(sentAt, at, performance.now());
    if (values.length === 0) throw new BackplaneError('UNAVAILABLE', 'Redis was asked too late and did nothing');
    const refused = values.find((value) => value instanceof Error);
    if (refused instanceof Error) this.#explain(refused);
    return values;
  }

  /** The deadline (Redis, ms since 1970) for an operation that leaves now. */
  until(now = performance.now()): number {
    return Math.floor(this.clock.earliest(now + this.#timeoutMs));
  }

  /** Calls `send` and writes its commands to the socket at once: a write costs more than a command. */
  together(send: () => void): void {
    const stream = this.#stream();
    stream?.cork();
    try {
      send();
    } finally {
      stream?.uncork();
    }
  }

  /** Any other command. @throws BackplaneError UNAVAILABLE */
  call(command: string, ...args: (string | number)[]): Promise<unknown> {
    if (!this.#up) return Promise.reject(new BackplaneError('UNAVAILABLE', 'Redis is not connected'));
    return this.#inTime(this.#connection.call(command, ...args));
  }

  /** Closes the connection and opens a new one: commands still in its buffer never leave. */
  rebuild(): void {
    this.#up = false;
    this.#connection.disconnect(true);
  }

  close(): void {
    this.#closed = true;
    this.#up = false;
    this.#connection.disconnect();
  }

  /** The socket of the library, which does not declare it. Another one after a reconnect. */
  #stream(): Writable | undefined {
    return (this.#connection as unknown as { stream?: Writable }).stream;
  }

  /** Rejects with an error for callers, also when no answer came in time. Not async: a lone frame costs its promises. */
  #inTime<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const wait = { untilMs: performance.now() + this.#timeoutMs, reject };
      this.#waits.add(wait);
      this.#watch(this.#timeoutMs);
      answer.then(
        (value) => {
          this.#waits.delete(wait);
          resolve(value);
        },
        (error: Error) => {
          this.#waits.delete(wait);
          reject(this.#explain(error));
        },
      );
    });
  }

  /** All waits take the same time, so one timer for the oldest serves them. An answer that arrived while this process stood still counts. */
  #watch(ms: number): void {
    this.#clockOfWaits ??= setTimeout(() => setImmediate(() => this.#rejectLate()), ms).unref();
  }

  #rejectLate(): void {
    this.#clockOfWaits = undefined;
    const now = performance.now();
    for (const wait of this.#waits) {
      if (wait.untilMs > now) return this.#watch(Math.ceil(wait.untilMs - now));
      this.#waits.delete(wait);
      wait.reject(this.#explain(new Error(timedOut)));
    }
  }

  async #evaluate(key: string, args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.#connection.evalsha(this.#sha, 1, key, ...args);
    } catch (error) {
      // Nothing ran. The script was loaded on connect, so the server has since discarded all scripts.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return this.#connection.eval(this.#script, 1, key, ...args);
    }
  }

  /** Loads the script and asks for the time before the first operation is sent. */
  async #prepare(): Promise<void> {
    try {
      this.clock.reset();
      const sentAt = performance.now();
      const replies = Promise.all([this.#connection.time(), this.#connection.script('LOAD', this.#script)]);
      const [time] = await this.#inTime(replies);
      const [seconds = 0, micros = 0] = time.map(Number);
      // A wide range, because it includes loading the script, but a correct one.
      this.clock.sample(sentAt, seconds * 1000 + Math.floor(micros / 1000), performance.now());
      this.#up = this.#connection.status === 'ready';
      if (this.#up) this.#onUp();
    } catch {
      // Closed, frozen or loading: reconnect, which starts this again.
      if (this.#connection.status === 'ready') this.#connection.disconnect(true);
    }
  }

  #explain(error: unknown): Error {
    const message = error instanceof Error ? error.message : '';
    if (/^(MOVED|ASK|TRYAGAIN) /.test(message)) {
      this.#onMoved();
      return new MovedError(message);
    }
    if (message.startsWith('CLUSTERDOWN')) this.#onMoved();
    // No answer: the server or the connection is stuck. A new connection drops the backlog of the old one.
    if (message === timedOut) this.rebuild();
    // The server lost the master role: every write fails until we find the new master.
    if (message.includes('READONLY') || message.startsWith('MASTERDOWN')) this.rebuild();
    return isCertain(error) ? unavailable(error) : uncertain(message);
  }
}

/** The server refused, or was not asked; otherwise the command left and no answer came. */
const isCertain = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'ReplyError' || error.message.startsWith("Stream isn't writeable"));
