import { describe, expect, it } from '@jest/globals';
import {
  type HeartbeatTimers,
  type HeartbeatOptions,
  type Heartbeat,
  Heartbeats,
  doorHeartbeat,
} from '../src/index.ts';

/** A clock under the test's control. */
function createTimers() {
  const due = new Set<{ at: number; act: () => void }>();
  let nowMs = 0;
  const after = (ms: number, act: () => void) => {
    const timer = { at: nowMs + ms, act };
    due.add(timer);
    return timer;
  };
  const cancel = (timer: unknown) => void due.delete(timer as { at: number; act: () => void });
  const timers: HeartbeatTimers = {
    now: () => nowMs,
    after,
    cancel,
    soon: (act) => after(0, act),
    cancelSoon: cancel,
  };
  const runDue = (at: number) => {
    for (;;) {
      const [next] = [...due].filter((timer) => timer.at <= at).sort((a, b) => a.at - b.at);
      if (!next) return;
      nowMs = Math.max(nowMs, next.at);
      due.delete(next);
      next.act();
    }
  };
  return {
    timers,
    pending: () => due.size,
    pass(ms: number) {
      const end = nowMs + ms;
      runDue(end);
      nowMs = end;
    },
    /** Time passes and no timer runs, as in a process that is stuck. */
    stick: (ms: number) => void (nowMs += ms),
  };
}

function start(options: Partial<HeartbeatOptions & { ping: () => void }> = {}) {
  const time = createTimers();
  const pings: number[] = [];
  const timeouts: number[] = [];
  let lastInboundAt = 0;
  const heartbeats = new Heartbeats({
    ...{ intervalMs: 30_000, timeoutMs: 75_000, firstDelayMs: 10_000, timers: time.timers },
    ...options,
  });
  const heartbeat: Heartbeat = heartbeats.start({
    ping: options.ping ?? (() => void pings.push(time.timers.now())),
    get lastInboundAt() {
      return lastInboundAt;
    },
    onSilence: () => void timeouts.push(time.timers.now()),
  });
  const receive = () => void (lastInboundAt = time.timers.now());
  return { time, pings, timeouts, heartbeat, receive };
}

describe('a heartbeat', () => {
  it('pings after the first delay and then at the interval', () => {
    const { time, pings } = start();
    time.pass(70_000);
    expect(pings).toEqual([10_000, 40_000, 70_000]);
  });

  it('pings first at a random point of the interval', () => {
    const firsts = Array.from({ length: 50 }, () => {
      const { time, pings } = start({ firstDelayMs: undefined });
      time.pass(30_000);
      return pings[0] as number;
    });
    expect(new Set(firsts).size).toBeGreaterThan(1);
    expect(Math.max(...firsts)).toBeLessThanOrEqual(30_000);
  });

  it('pings together with the pings due within the same tick', () => {
    const time = createTimers();
    const { timers } = time;
    const pings: number[] = [];
    const heartbeats = new Heartbeats({ ...doorHeartbeat(30_000, 75_000), timers });
    for (let n = 0; n < 1_000; n += 1)
      heartbeats.start({ ping: () => void pings.push(timers.now()), lastInboundAt: 0, onSilence: () => {} });
    // One timer for each tick, not for each socket.
    expect(time.pending()).toBeLessThanOrEqual(120);
    time.pass(60_000);
    expect(pings).toHaveLength(2_000);
    expect(new Set(pings).size).toBeLessThanOrEqual(240);
    expect(pings.every((at) => at % 250 === 0)).toBe(true);
    expect(time.pending()).toBeLessThanOrEqual(120);
  });

  it('times out after the allowed silence, once, and stops pinging', () => {
    const { time, pings, timeouts } = start();
    time.pass(74_999);
    expect(timeouts).toEqual([]);
    time.pass(500_000);
    expect(timeouts).toEqual([75_000]);
    expect(pings).toEqual([10_000, 40_000, 70_000]);
    expect(time.pending()).toBe(0);
  });

  it('counts silence from the last received data', () => {
    const { time, timeouts, receive } = start();
    time.pass(60_000);
    receive();
    time.pass(60_000);
    receive();
    time.pass(74_999);
    expect(timeouts).toEqual([]);
    time.pass(1);
    expect(timeouts).toEqual([195_000]);
  });

  it('listens before it judges when the process was stuck', () => {
    const { time, timeouts, receive } = start({ ping: () => undefined });
    time.stick(200_000);
    // The timers are due now; received data is read before the verdict.
    time.timers.soon(receive);
    time.pass(0);
    expect(timeouts).toEqual([]);
    time.pass(75_000);
    expect(timeouts).toEqual([275_000]);
  });

  it('does nothing more once it is stopped', () => {
    const { time, pings, timeouts, heartbeat } = start();
    time.pass(10_000);
    heartbeat.stop();
    heartbeat.stop();
    time.pass(500_000);
    expect([pings, timeouts]).toEqual([[10_000], []]);
    expect(time.pending()).toBe(0);
  });

  it('can be stopped by its own ping', () => {
    const { time, pings, heartbeat } = start({
      ping: () => {
        pings.push(0);
        heartbeat.stop();
      },
    });
    time.pass(500_000);
    expect(pings).toEqual([0]);
    expect(time.pending()).toBe(0);
  });
});
