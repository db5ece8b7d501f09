import { afterEach, describe, expect, it } from '@jest/globals';
import { hasSlept } from '../src/clock.ts';
import { silentLog } from '../src/log.ts';
import { manualClock } from './clocks.ts';
import { echo, house, playing } from './house.ts';

const home = house();
afterEach(() => home.clear());

describe('connecting (specification §5, §6.3, §6.4)', () => {
  it('sends the four headers', async () => {
    const relay = await home.relay();
    home.daemon(relay, echo(), { daemonVersion: '9.8.7' });
    const { headers } = await relay.connection();
    expect(headers).toMatchObject({
      authorization: 'Bearer rly_drt_secret',
      'x-device-id': 'device-1',
      'x-agent-type': 'scripted',
      'x-daemon-version': '9.8.7',
    });
  });

  it('sends status and then report_sessions right after the upgrade', async () => {
    const relay = await home.relay();
    const daemon = home.daemon(relay, echo());
    const connection = await relay.connection();
    await daemon.connected();
    await connection.settle();
    expect(connection.words()).toEqual(['status[]', 'report_sessions']);
    expect(daemon.state()).toMatchObject({ connection: 'connected', runningTasks: [] });
  });

  it('answers ping with pong', async () => {
    const relay = await home.relay();
    home.daemon(relay, echo());
    const connection = await relay.connection();
    connection.send({ type: 'ping' });
    expect(await connection.frame('pong')).toEqual({ type: 'pong' });
  });

  it('reconnects after a lost socket and sends status, with the running tasks, and report_sessions again', async () => {
    const relay = await home.relay();
    home.daemon(relay, playing([{ type: 'hang' }]));
    const first = await relay.connection();
    first.send({ type: 'task_start', task_id: 't1', instruction: 'hang' });
    await first.status('t1');
    await first.event('SESSION_STARTED', 't1');
    first.terminate();
    const second = await relay.connection();
    await second.settle();
    expect(second.words()).toEqual(['status[t1]', 'report_sessions']);
    const report = second.frames.find((frame) => frame.type === 'report_sessions');
    expect(report).toMatchObject({ sessions: [{ is_active: true, message_count: 1, last_message: 'hang' }] });
  });

  it.each([1001, 1011, 1013, 4400, 4408, 4429])('reconnects after close %d', async (code) => {
    const relay = await home.relay();
    home.daemon(relay, echo());
    (await relay.connection()).close(code);
    await (await relay.connection()).settle();
  });

  it.each([403, 404, 426, 500, 502, 503])('reconnects after the relay refuses the upgrade with %d', async (status) => {
    const relay = await home.relay();
    relay.refusals.push({ status });
    home.daemon(relay, echo());
    await (await relay.connection()).settle();
  });

  it('connects later if the relay was down at first', async () => {
    const relay = await home.relay();
    const { url } = relay;
    await relay.close();
    const clock = manualClock();
    const daemon = home.daemon({ ...relay, url }, echo(), {
      clock,
      random: () => 0,
      timings: { initialDelayMs: 1000, maxDelayMs: 30_000 },
    });
    const delays: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      await waitUntil(() => daemon.state().connection === 'waiting');
      delays.push(...clock.waits());
      clock.advance(clock.waits()[0] ?? 0);
    }
    expect(delays).toEqual([500, 1000, 2000, 4000]);
  });

  it.each([429, 503])('waits as long as Retry-After demands after %d', async (status) => {
    const relay = await home.relay();
    relay.refusals.push({ status, headers: { 'Retry-After': '7' }, body: { error: 'come back later' } });
    const clock = manualClock();
    const daemon = home.daemon(relay, echo(), { clock });
    await waitUntil(() => daemon.state().connection === 'waiting');
    expect(clock.waits()[0]).toBeGreaterThanOrEqual(7000);
    expect(daemon.state().problem).toBe(`the relay answered ${status} (come back later)`);
    clock.advance(8000);
    await (await relay.connection()).frame('status');
  });

  describe('B8: after the machine was asleep', () => {
    function wakingClock() {
      const clock = manualClock();
      let wake = () => undefined as void;
      return {
        ...clock,
        onWake(run: () => void) {
          wake = run;
          return () => undefined;
        },
        wake: () => wake(),
      };
    }

    it('finds a dead line within seconds, and connects again 2 to 3 s later', async () => {
      const relay = await home.relay();
      const clock = wakingClock();
      const daemon = home.daemon(relay, echo(), { clock, random: () => 1 });
      const first = await relay.connection();
      await daemon.connected();
      first.freeze();
      clock.wake();
      clock.advance(5000);
      await waitUntil(() => daemon.state().connection === 'waiting');
      clock.advance(3000);
      await (await relay.connection()).settle();
    });

    it('keeps a working line', async () => {
      const relay = await home.relay();
      const clock = wakingClock();
      const daemon = home.daemon(relay, echo(), { clock });
      const connection = await relay.connection();
      await daemon.connected();
      clock.wake();
      await connection.settle();
      await connection.settle();
      clock.advance(5000);
      await connection.settle();
      expect(daemon.state().connection).toBe('connected');
    });

    it('skips its back-off', async () => {
      const relay = await home.relay();
      relay.refusals.push({ status: 500 });
      const clock = wakingClock();
      const daemon = home.daemon(relay, echo(), { clock, timings: { initialDelayMs: 60_000, maxDelayMs: 60_000 } });
      await waitUntil(() => daemon.state().connection === 'waiting');
      clock.wake();
      await (await relay.connection()).settle();
    });

    it('detects a sleep by the wall clock, but not in a busy moment or a clock that was set back', () => {
      expect([8 * 3_600_000, 30_000, 3000, -60_000].map((ms) => hasSlept(0, ms))).toEqual([true, true, false, false]);
    });
  });

  it('warns of a refusal, and of a relay that redirects it repeatedly', async () => {
    const relay = await home.relay();
    const sentOn = { status: 503, headers: { 'Retry-After': '7' } };
    relay.refusals.push({ status: 503 }, sentOn, sentOn);
    const lines: string[] = [];
    const log = {
      ...silentLog,
      info: (event: string) => lines.push(event),
      warn: (event: string) => lines.push(`! ${event}`),
    };
    const clock = manualClock();
    home.daemon(relay, echo(), { clock, log });
    for (const count of [1, 2, 3]) {
      await waitUntil(() => lines.length === count);
      clock.advance(60_000);
    }
    expect(lines).toEqual(['! disconnected', 'disconnected', '! disconnected']);
  });

  it('stops with one sentence after a 401 from the relay', async () => {
    const relay = await home.relay();
    relay.refusals.push({ status: 401, body: { error: 'no', code: 'INVALID_TOKEN', status: 401 } });
    const daemon = home.daemon(relay, echo());
    const stop = await daemon.ended;
    expect(stop.reason).toBe('credential');
    expect(stop.message).toContain('register');
    expect(daemon.state().connection).toBe('stopped');
  });

  it.each([
    [4401, 'credential'],
    [4403, 'forbidden'],
    [4404, 'deleted'],
    [4409, 'replaced'],
    [4426, 'outdated'],
  ])('stops after close %d', async (code, reason) => {
    const relay = await home.relay();
    const daemon = home.daemon(relay, echo());
    (await relay.connection()).close(code);
    expect((await daemon.ended).reason).toBe(reason);
  });

  it('sends a WebSocket ping every thirty seconds', async () => {
    const relay = await home.relay();
    const clock = manualClock();
    const daemon = home.daemon(relay, echo(), { clock });
    const connection = await relay.connection();
    await daemon.connected();
    for (const expected of [1, 2]) {
      clock.advance(30_000);
      await connection.settle();
      expect(connection.pings).toHaveLength(expected);
    }
  });

  it('drops a socket after 75 seconds without any frame of the relay', async () => {
    const relay = await home.relay({ autoPong: false });
    const clock = manualClock();
    const daemon = home.daemon(relay, echo(), { clock });
    const first = await relay.connection();
    await daemon.connected();
    clock.advance(60_000);
    await first.settle();
    // The relay has just sent a frame, so the time starts now.
    clock.advance(74_000);
    await first.settle();
    clock.advance(75_000);
    await first.closed;
    await waitUntil(() => daemon.state().connection === 'waiting');
    clock.advance(30_000);
    await (await relay.connection()).frame('status');
  });

  it('reports the sessions every thirty seconds', async () => {
    const relay = await home.relay();
    const clock = manualClock();
    const daemon = home.daemon(relay, echo(), { clock });
    const connection = await relay.connection();
    await daemon.connected();
    await connection.frame('report_sessions');
    clock.advance(30_000);
    await connection.frame('report_sessions');
    clock.advance(30_000);
    await connection.frame('report_sessions');
    await connection.settle();
    expect(connection.words()).toEqual(['status[]', ...Array<string>(3).fill('report_sessions')]);
  });

  it('ignores and counts unknown frames, and continues', async () => {
    const relay = await home.relay();
    const daemon = home.daemon(relay, echo());
    const connection = await relay.connection();
    for (const text of [
      'not json',
      '[]',
      '42',
      '{}',
      '{"type":7}',
      '{"type":"task_start"}',
      '{"type":"get_messages","request_id":"r"}',
    ]) {
      connection.sendText(text);
    }
    connection.send({ type: 'new_frame' });
    connection.send({ type: 'ping', unknown_field: true });
    connection.sendText(Buffer.from([1, 2, 3]));
    connection.send({ type: 'version_status', status: 'update_available', your_version: '1' });
    await connection.settle();
    expect(daemon.counts()).toEqual({ unknown: 1, invalid: 7 });
    expect(connection.words()).toEqual(['status[]', 'report_sessions']);
  });

  it('closes with 1000 when it is stopped', async () => {
    const relay = await home.relay();
    const daemon = home.daemon(relay, echo());
    const connection = await relay.connection();
    await daemon.connected();
    await daemon.stop();
    expect((await connection.closed).code).toBe(1000);
    expect((await daemon.ended).reason).toBe('stopped');
  });

  it('can be stopped while it waits, and while it connects', async () => {
    const relay = await home.relay();
    relay.refusals.push({ status: 503, headers: { 'Retry-After': '600' } });
    const waiting = home.daemon(relay, echo());
    await waitUntil(() => waiting.state().connection === 'waiting');
    await waiting.stop();
    const connecting = home.daemon(relay, echo());
    await connecting.stop();
    expect(connecting.state().connection).toBe('stopped');
  });
});

/** Polls between ticks, because the small interface has no events for state changes. */
async function waitUntil(is: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!is()) {
    if (Date.now() > deadline) throw new Error('never came true');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
