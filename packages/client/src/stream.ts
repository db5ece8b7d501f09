/**
 * All live frames of a user, without limit (rules, 11.7): reconnects after an outage and resumes from the last frame. Reads only the
 * envelope of frames.
 */
import { closeCodes } from '@relay/protocol/plain';
import { ItemBuffer } from './buffer.ts';
import { backoffMs } from './clock.ts';
import { pause } from './pause.ts';
import { type Connection, type ConnectionEnd, connect } from './connection.ts';
import { RelayError, TimeoutError, BadAnswerError, ClosedError, SignedOutError } from './errors.ts';
import { decodeFrame } from './frames.ts';
import type { AttentionItem, AttentionOptions, ConnectionState } from './items.ts';
import type { OpenSocket } from './socket.ts';
import type { GetTicket } from './ticket.ts';
import type { Tokens } from './token.ts';

export interface StreamDeps {
  /** Base address of the relay. */
  url: string;
  tokens: Tokens;
  open: OpenSocket;
  ticket: GetTicket;
  /** Reports that the network or the user came back, or that the network is gone. Returns a function that stops listening. */
  onWake?: ((listener: (sign: 'back' | 'away') => void) => () => void) | undefined;
  /** After this much silence the client asks the relay for an answer. Absent if the runtime pings. */
  silenceMs?: number | undefined;
}

/** A refused token, and the error of the refusal. */
interface Refused {
  token: string;
  error: Error;
}

const bounds = { items: 4096, characters: 16 * 1024 * 1024 };
/** After a wake, attempts repeat quickly for this long: the network can come back late. */
const wakingMs = 15_000;
const openAfterWakeMs = 3_000;
/** A connection that lived this long had a valid token. */
const goodAfterMs = 60_000;

export class AttentionStream implements AsyncIterableIterator<AttentionItem> {
  readonly #deps: StreamDeps;
  readonly #options: AttentionOptions;
  readonly #items: ItemBuffer;
  readonly #abort = new AbortController();
  readonly #sequences = new Sequences();
  /** The offset of the newest received frame; `#taken` is the offset of the newest frame that the reader took. */
  #received: string;
  #taken: string;
  #state: ConnectionState | { state: 'idle' } | { state: 'closed' } = { state: 'idle' };
  #connection: Connection | undefined;
  #wait: AbortController | undefined;
  #running: Promise<void> | undefined;
  #wokeAt = -Infinity;
  /** The last connection failed without an answer. */
  #wasSilent = false;

  constructor(deps: StreamDeps, options: AttentionOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#received = this.#taken = options.since ?? '';
    this.#items = new ItemBuffer(bounds, () => this.#connection?.resume());
  }

  /** The current state. Items of type `connection` report the same in order with the frames. */
  get state(): ConnectionState | { state: 'idle' } | { state: 'closed' } {
    return this.#state;
  }

  /** The offset after the last taken frame, for `since` of a later stream. Empty before the first frame. */
  get offset(): string {
    return this.#taken;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Connects at the first call. Rejects once, with the error that stopped the stream. */
  async next(): Promise<IteratorResult<AttentionItem, undefined>> {
    this.#running ??= this.#start();
    const item = await this.#items.take();
    if (!item) return { done: true, value: undefined };
    this.#taken = offsetOf(item) ?? this.#taken;
    return { done: false, value: item };
  }

  /** Closes the connection. Resolves when the connection is closed. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#leave();
    await this.#connection?.ended;
    return { done: true, value: undefined };
  }

  /**
   * For a program that knows more than the connection, such as a new token or a wake from sleep. Connects at once if the stream waits. If it
   * is live, sends the newest token and reconnects if no answer arrives.
   */
  refresh(): void {
    this.#wait?.abort();
    // A failed token request is repeated before the old token expires.
    this.#connection?.refresh().catch(() => undefined);
  }

  /**
   * Reports to the relay that the app shows this session to its user; repeat it every 5 s. The relay then does not notify the user elsewhere of
   * messages in the session (rules, 14.12). Does nothing while disconnected.
   */
  focus(sessionId: string, visible = true): void {
    this.#connection?.focus(sessionId, visible);
  }

  get #isWaking(): boolean {
    return performance.now() - this.#wokeAt < wakingMs;
  }

  #wake(): void {
    this.#wokeAt = performance.now();
    this.refresh();
  }

  async #start(): Promise<void> {
    const { signal } = this.#options;
    const leave = () => this.#leave();
    const unwake = this.#deps.onWake?.((sign) => (sign === 'back' ? this.#wake() : this.#connection?.close()));
    signal?.addEventListener('abort', leave);
    if (signal?.aborted) leave();
    try {
      await this.#run();
      this.#items.end();
    } catch (error) {
      this.#items.end(error as Error);
    } finally {
      this.#state = { state: 'closed' };
      signal?.removeEventListener('abort', leave);
      unwake?.();
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    let refused: Refused | undefined;
    for (let step = 0; !signal.aborted;) {
      const { error, livedMs, hasReceived, token } = await this.#connect(refused);
      if (signal.aborted) return;
      if (livedMs !== undefined) {
        if (!asksToBackOff(error)) step = 0;
        if (hasReceived || livedMs > goodAfterMs) refused = undefined;
      }
      const verdict = verdictOf(error);
      if (verdict === 'end') throw error;
      if (verdict === 'renew') {
        // A second refused token in a row stops the stream.
        if (refused !== undefined || token === undefined || !this.#deps.tokens.renewable) throw error;
        refused = { token, error };
        continue;
      }
      const waitMs = backoffMs(
        this.#isWaking ? 0 : step,
        Math.random(),
        error instanceof RelayError ? error.retryAfter : undefined,
      );
      step += 1;
      this.#become({ state: 'waiting', error, waitMs, untilMs: Date.now() + waitMs });
      this.#wait = new AbortController();
      await pause(waitMs, this.#wait.signal);
      this.#wait = undefined;
    }
  }

  async #connect(refused: Refused | undefined): Promise<ConnectionEnd> {
    this.#become({ state: 'connecting' });
    const { tokens, open, ticket } = this.#deps;
    let grant: Awaited<ReturnType<Tokens['get']>>;
    try {
      grant = await tokens.get(refused && { refused: refused.token });
    } catch (thrown) {
      return neverOpen(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
    if (this.#abort.signal.aborted) return neverOpen(new Error('aborted'));
    // `getToken` has no other token.
    if (refused && refused.token === grant?.token) return neverOpen(refused.error);
    const since = this.#received;
    this.#connection = connect({
      open,
      tokens,
      ticket: (signal) => ticket(signal, this.#isWaking || this.#wasSilent),
      grant,
      url: this.#address(since),
      silenceMs: this.#deps.silenceMs,
      openTimeoutMs: this.#isWaking ? openAfterWakeMs : undefined,
      onOpen: () => {
        this.#become({ state: 'live', resumed: since !== '' });
        // There is no offset to resume from, so earlier frames cannot be requested.
        if (since === '') this.#items.push({ type: 'resync' }, 0);
      },
      onText: (text) => this.#receive(text),
    });
    const ending = await this.#connection.ended;
    this.#connection = undefined;
    this.#wasSilent = ending.error instanceof TimeoutError;
    return ending;
  }

  #address(since: string): string {
    const address = new URL(`${this.#deps.url.replace(/^http/, 'ws')}/ws/attention`);
    address.searchParams.set('since', since);
    const { events = [] } = this.#options;
    if (events.length > 0) address.searchParams.set('events', events.join(','));
    return address.href;
  }

  #receive(text: string): void {
    const frame = decodeFrame(text);
    if (!frame || frame.type === 'auth_ok') return;
    this.#received = offsetOf(frame) ?? this.#received;
    // The relay instance lost output without noticing: the reader loads the transcript.
    if (frame.type === 'task_output' && frame.taskId !== undefined && frame.sequence !== undefined)
      if (this.#sequences.misses(frame.taskId, frame.sequence)) this.#items.push({ type: 'resync' }, 0);
    this.#items.push(frame, text.length);
    if (this.#items.isHalfFull) this.#connection?.pause();
  }

  #become(state: ConnectionState): void {
    this.#state = state;
    this.#items.push({ type: 'connection', ...state }, 0);
  }

  #leave(): void {
    this.#abort.abort();
    this.#wait?.abort();
    this.#items.end();
    this.#connection?.close();
    if (!this.#running) this.#state = { state: 'closed' };
  }
}

const neverOpen = (error: Error): ConnectionEnd => ({
  error,
  livedMs: undefined,
  hasReceived: false,
  token: undefined,
});

function offsetOf(item: AttentionItem): string | undefined {
  const fields: object = item.type === 'unknown' ? item.frame : item;
  return 'offset' in fields && typeof fields.offset === 'string' ? fields.offset : undefined;
}

const tasksKept = 100;

/** Checks the sequence numbers of `task_output` (rules, 11.14): a gap is lost output. */
class Sequences {
  /** The newest number of each task, ordered by the arrival of the newest frame. */
  readonly #newest = new Map<string, number>();

  /** Returns true if earlier frames are missing. A lower number arrived late; 1 begins a new connection of the daemon. */
  misses(taskId: string, sequence: number): boolean {
    const newest = this.#newest.get(taskId);
    this.#newest.delete(taskId);
    this.#newest.set(taskId, sequence === 1 ? 1 : Math.max(newest ?? 0, sequence));
    if (this.#newest.size > tasksKept) this.#newest.delete(this.#newest.keys().next().value!);
    return newest !== undefined && sequence > newest + 1;
  }
}

/**
 * Decides whether to reconnect after a connection failed or closed (rules, 13.1). `renew`: reconnect with a new token. `end`:
 * reconnecting cannot help.
 */
function verdictOf(error: Error): 'retry' | 'renew' | 'end' {
  if (error instanceof SignedOutError) return 'end';
  if (error instanceof ClosedError) {
    if (error.closeCode === closeCodes.credential.code) return 'renew';
    const closeCode = Object.values(closeCodes).find(({ code }) => code === error.closeCode);
    return closeCode && !closeCode.comeBack ? 'end' : 'retry';
  }
  if (!(error instanceof RelayError || error instanceof BadAnswerError)) return 'retry';
  if (error.status === 401) return 'renew';
  return error.status === 408 || error.status === 429 || error.status >= 500 ? 'retry' : 'end';
}

/** The relay asked to back off: the waits continue to grow as if the connection had never been live. */
const asksToBackOff = (error: Error): boolean =>
  error instanceof ClosedError &&
  (error.closeCode === closeCodes.overloaded.code || error.closeCode === closeCodes.tooMany.code);
