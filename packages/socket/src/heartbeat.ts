/** Pings at an interval and notices silence. It knows a clock and nothing of sockets, so both doors use it their own way. */

export interface HeartbeatTimers {
  now(): number;
  /** Returns what cancels it. */
  after(ms: number, act: () => void): () => void;
  /** After whatever has arrived by now was read. Returns what cancels it. */
  soon(act: () => void): () => void;
}

export interface HeartbeatOptions {
  intervalMs: number;
  /** Silence of so long is the end. */
  timeoutMs: number;
  /** Until the first ping. Default: a random part of the interval, so that many sockets do not ping at once. */
  firstDelayMs?: number;
  ping(): void;
  /** When something was last heard, on the clock of the timers. */
  lastInboundAt(): number;
  /** Once; the heartbeat has stopped then. */
  onTimeout(): void;
  timers?: HeartbeatTimers;
}

export interface Heartbeat {
  /** No ping and no timeout after it. To be called when the socket has closed. */
  stop(): void;
}

export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { intervalMs, timeoutMs, timers = realTimers } = options;
  const { firstDelayMs = Math.random() * intervalMs } = options;
  let cancelPing = timers.after(firstDelayMs, ping);
  let cancelCheck = timers.after(timeoutMs, check);

  function ping(): void {
    cancelPing = timers.after(intervalMs, ping);
    options.ping();
  }

  function remainingMs(): number {
    return options.lastInboundAt() + timeoutMs - timers.now();
  }

  function check(): void {
    // A process that was stuck finds its timers due before it has read what came meanwhile: read first, then judge.
    cancelCheck = remainingMs() > 0 ? timers.after(remainingMs(), check) : timers.soon(judge);
  }

  function judge(): void {
    if (remainingMs() > 0) return check();
    stop();
    options.onTimeout();
  }

  function stop(): void {
    cancelPing();
    cancelCheck();
  }

  return { stop };
}

const realTimers: HeartbeatTimers = {
  now: Date.now,
  after(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  soon(act) {
    const immediate = setImmediate(act);
    return () => clearImmediate(immediate);
  },
};
