/** Pings at an interval and notices silence. It knows a clock and nothing of sockets, so both doors use it their own way. */

export interface HeartbeatTimers {
  now(): number;
  /** Returns a handle for `cancel`. */
  after(ms: number, act: () => void): unknown;
  cancel(timer: unknown): void;
  /** Runs after all received data was read. Returns a handle for `cancelSoon`. */
  soon(act: () => void): unknown;
  cancelSoon(timer: unknown): void;
}

/** All heartbeats of a door can share one object. */
export interface HeartbeatOptions {
  readonly intervalMs: number;
  /** Closes after this much silence. */
  readonly timeoutMs: number;
  /** Delay of the first ping. Default: a random part of the interval, so that many sockets do not ping at once. */
  readonly firstDelayMs?: number | undefined;
  /** Batches all work due within this time into one turn, at its close. Default 0: each at its own time. */
  readonly tickMs?: number | undefined;
  readonly timers?: HeartbeatTimers;
}

/** The heartbeats of a door: thousands of pings leave in turns of a few dozen, and each turn wakes the process once. */
export const doorHeartbeat = (intervalMs: number, timeoutMs: number): HeartbeatOptions => ({
  intervalMs,
  timeoutMs,
  tickMs: intervalMs / 120,
});

/** The sockets to ping. */
export interface HeartbeatPeer {
  ping(): void;
  /** When the last data arrived, on the clock of the timers. */
  readonly lastInboundAt: number;
  /** Once; the heartbeat has stopped then. */
  onSilence(): void;
}

export interface Heartbeat {
  /** No ping and no verdict after it. To be called when the socket has closed. */
  stop(): void;
}

export function startHeartbeat(options: HeartbeatOptions, peer: HeartbeatPeer): Heartbeat {
  return new Beat(options, peer);
}

/**
 * One timer for both, because a door can have thousands of sockets: the next ping, or the silence limit, whichever
 * comes first.
 */
class Beat implements Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #peer: HeartbeatPeer;
  readonly #act = (): void => this.#run();
  #pingAt: number;
  /** The silence passed the limit: decide after reading the received data. */
  #judging = false;
  #timer: unknown;
  #stopped = false;

  constructor(options: HeartbeatOptions, peer: HeartbeatPeer) {
    this.#options = options;
    this.#peer = peer;
    this.#pingAt = this.#timers.now() + (options.firstDelayMs ?? Math.random() * options.intervalMs);
    this.#plan();
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    if (this.#judging) this.#timers.cancelSoon(this.#timer);
    else this.#timers.cancel(this.#timer);
  }

  get #timers(): HeartbeatTimers {
    return this.#options.timers ?? realTimers;
  }

  get #silentAt(): number {
    return this.#peer.lastInboundAt + this.#options.timeoutMs;
  }

  #plan(): void {
    const now = this.#timers.now();
    const due = Math.min(this.#pingAt, this.#silentAt);
    const { tickMs = 0 } = this.#options;
    const at = tickMs > 0 ? Math.ceil(due / tickMs) * tickMs : due;
    this.#timer = this.#timers.after(Math.max(0, at - now), this.#act);
  }

  #run(): void {
    const now = this.#timers.now();
    const silent = now >= this.#silentAt;
    if (this.#judging) {
      this.#judging = false;
      if (!silent) return this.#plan();
      this.#stopped = true;
      return this.#peer.onSilence();
    }
    if (now >= this.#pingAt) {
      this.#pingAt = now + this.#options.intervalMs;
      this.#peer.ping();
      if (this.#stopped) return;
    }
    if (!silent) return this.#plan();
    // A process that was stuck finds its timers due before it has read the received data: read first, then judge.
    this.#judging = true;
    this.#timer = this.#timers.soon(this.#act);
  }
}

const realTimers: HeartbeatTimers = {
  // A clock that is set must neither silence a socket nor keep it from being asked.
  now: () => performance.now(),
  after: (ms, act) => setTimeout(act, ms),
  cancel: (timer) => clearTimeout(timer as NodeJS.Timeout),
  soon: (act) => setImmediate(act),
  cancelSoon: (timer) => clearImmediate(timer as NodeJS.Immediate),
};
