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

/** The heartbeats of a door: thousands of pings leave in turns of a few dozen, and each turn wakes the process once. */
export const doorHeartbeat = (intervalMs: number, timeoutMs: number): HeartbeatOptions => ({
  intervalMs,
  timeoutMs,
  tickMs: intervalMs / 120,
});

/** The heartbeats that are due at one time, with one timer for all of them. */
interface Turn {
  readonly at: number;
  readonly beats: Beat[];
  /** Stopped ones stay in the list and do not count. */
  live: number;
  readonly timer: unknown;
}

export class Heartbeats {
  readonly options: HeartbeatOptions;
  readonly timers: HeartbeatTimers;
  readonly #turns = new Map<number, Turn>();

  constructor(options: HeartbeatOptions) {
    this.options = options;
    this.timers = options.timers ?? realTimers;
  }

  start(peer: HeartbeatPeer): Heartbeat {
    return new Beat(this, peer);
  }

  /** Called by a heartbeat, to run at `due` or within a tick after it. */
  plan(beat: Beat, due: number): Turn {
    const { tickMs = 0 } = this.options;
    const at = tickMs > 0 ? Math.ceil(due / tickMs) * tickMs : due;
    let turn = this.#turns.get(at);
    if (!turn) {
      const beats: Beat[] = [];
      const run = () => {
        this.#turns.delete(at);
        for (const one of beats) one.run();
      };
      turn = { at, beats, live: 0, timer: this.timers.after(Math.max(0, Math.ceil(at - this.timers.now())), run) };
      this.#turns.set(at, turn);
    }
    turn.beats.push(beat);
    turn.live += 1;
    return turn;
  }

  /** Called by a heartbeat that stopped before its turn. */
  leave(turn: Turn): void {
    turn.live -= 1;
    if (turn.live > 0 || this.#turns.get(turn.at) !== turn) return;
    this.timers.cancel(turn.timer);
    this.#turns.delete(turn.at);
  }
}

/** Its turn is that of the next ping, or of the silence limit, whichever comes first. */
class Beat implements Heartbeat {
  readonly #door: Heartbeats;
  /** Absent: stopped. */
  #peer: HeartbeatPeer | undefined;
  #pingAt: number;
  #turn: Turn | undefined;
  /** The silence passed the limit: decide after reading the received data. */
  #verdict: unknown;

  constructor(door: Heartbeats, peer: HeartbeatPeer) {
    this.#door = door;
    this.#peer = peer;
    const { firstDelayMs, intervalMs } = door.options;
    this.#pingAt = door.timers.now() + (firstDelayMs ?? Math.random() * intervalMs);
    this.#plan(peer);
  }

  stop(): void {
    this.#peer = undefined;
    if (this.#turn) this.#door.leave(this.#turn);
    else this.#door.timers.cancelSoon(this.#verdict);
    this.#turn = undefined;
  }

  #silentAt(peer: HeartbeatPeer): number {
    return peer.lastInboundAt + this.#door.options.timeoutMs;
  }

  #plan(peer: HeartbeatPeer): void {
    this.#turn = this.#door.plan(this, Math.min(this.#pingAt, this.#silentAt(peer)));
  }

  /** Called in its turn. */
  run(): void {
    const peer = this.#peer;
    if (!peer) return;
    const { timers, options } = this.#door;
    this.#turn = undefined;
    const now = timers.now();
    if (now >= this.#pingAt) {
      this.#pingAt = now + options.intervalMs;
      peer.ping();
      if (!this.#peer) return;
    }
    if (now < this.#silentAt(peer)) return this.#plan(peer);
    // A process that was stuck finds its timers due before it has read the received data: read first, then judge.
    this.#verdict = timers.soon(() => this.#judge(peer));
  }

  #judge(peer: HeartbeatPeer): void {
    this.#verdict = undefined;
    if (this.#door.timers.now() < this.#silentAt(peer)) return this.#plan(peer);
    this.#peer = undefined;
    peer.onSilence();
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
