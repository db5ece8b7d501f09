import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Outbox } from '../src/outbox.ts';

const kib = 2 ** 10;
const limits = {
  droppableUnsentBytes: 64 * kib,
  maxUnsentBytes: 1_024 * kib,
  unsentGraceMs: 2_000,
  maxBurstBytes: 16_384 * kib,
  stallMs: 10_000,
};

/** An outbox whose reader is under the test's control. */
function open(options: Partial<typeof limits> = {}) {
  const onWay: { bytes: number; taken: () => void }[] = [];
  const line = {
    bufferedBytes: 0,
    write(text: string, taken: () => void) {
      onWay.push({ bytes: text.length, taken });
      line.bufferedBytes += text.length;
    },
    overdue() {
      verdicts += 1;
      outbox.close('drop');
    },
  };
  let verdicts = 0;
  const outbox = new Outbox(line, { ...limits, ...options });
  return {
    outbox,
    line,
    verdicts: () => verdicts,
    send: (count: number, bytes = 64 * kib) => {
      for (let n = 0; n < count; n++) outbox.send('.'.repeat(bytes), false);
    },
    take: (count: number) => {
      for (let n = 0; n < count; n++) {
        const frame = onWay.shift();
        line.bufferedBytes -= frame?.bytes ?? 0;
        frame?.taken();
      }
    },
  };
}

describe('a slow reader', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is judged by the bytes it had the grace to take, not by newer ones', () => {
    const { verdicts, send } = open();
    send(14);
    jest.advanceTimersByTime(1_900);
    send(80);
    jest.advanceTimersByTime(200);
    expect(verdicts()).toBe(0);
    jest.advanceTimersByTime(2_000);
    expect(verdicts()).toBe(1);
  });

  it('is too slow if too much of a burst remains after the grace, however steadily it reads', () => {
    const { verdicts, send, take } = open();
    send(80);
    for (let n = 0; n < 40; n++) {
      take(1);
      jest.advanceTimersByTime(90);
    }
    expect(verdicts()).toBe(0);
    jest.advanceTimersByTime(500);
    expect(verdicts()).toBe(1);
  });

  it('is fast enough if it takes each burst within the grace', () => {
    const { verdicts, send, take } = open();
    for (let n = 0; n < 50; n++) {
      send(80);
      jest.advanceTimersByTime(1_000);
      take(80);
      jest.advanceTimersByTime(100);
    }
    expect(verdicts()).toBe(0);
  });

  it('is not stalled while it takes a frame now and then', () => {
    const { verdicts, send, take } = open();
    send(15);
    for (let n = 0; n < 15; n++) {
      jest.advanceTimersByTime(7_000);
      expect(verdicts()).toBe(0);
      take(1);
    }
    jest.advanceTimersByTime(60_000);
    expect(verdicts()).toBe(0);
  });

  it('stalls when it takes nothing for too long, counted from the first write after it was empty', () => {
    const { verdicts, send, take } = open();
    send(1, 100);
    take(1);
    jest.advanceTimersByTime(60_000);
    send(1, 100);
    jest.advanceTimersByTime(9_000);
    expect(verdicts()).toBe(0);
    jest.advanceTimersByTime(4_000);
    expect(verdicts()).toBe(1);
  });

  it('is not stalled while it takes one long frame, for as long as that needs at 256 KiB a second', () => {
    const { verdicts, send, take } = open({ maxUnsentBytes: 16_384 * kib });
    send(1, 2_560 * kib);
    jest.advanceTimersByTime(19_000);
    expect(verdicts()).toBe(0);
    take(1);
    send(1);
    jest.advanceTimersByTime(9_000);
    expect(verdicts()).toBe(0);
    jest.advanceTimersByTime(4_000);
    expect(verdicts()).toBe(1);
    const slower = open({ maxUnsentBytes: 16_384 * kib });
    slower.send(1, 2_560 * kib);
    jest.advanceTimersByTime(23_000);
    expect(slower.verdicts()).toBe(1);
  });

  it('holds at most the burst, and one frame however long', () => {
    const { outbox, verdicts, send } = open();
    send(1, limits.maxBurstBytes + 1);
    expect(verdicts()).toBe(0);
    send(1, 1);
    expect(verdicts()).toBe(1);
    expect(outbox.unsentBytes).toBe(0);
  });

  it('keeps no timer once it has taken all, or is closed', () => {
    const [taking, closing] = [open(), open()];
    taking.send(20);
    taking.take(20);
    closing.send(20);
    closing.outbox.close('drop');
    jest.advanceTimersByTime(2_100);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('learns that the outbox is drained when little remains', async () => {
    const { outbox, send, take } = open();
    send(3);
    let isDrained = false;
    const drained = outbox.drained().then(() => (isDrained = true));
    take(2);
    await Promise.resolve();
    expect(isDrained).toBe(false);
    take(1);
    await drained;
    await outbox.drained();
  });
});

describe('a process that was stuck', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('gives its readers another grace', () => {
    const { verdicts, send, take } = open({ maxUnsentBytes: 10 });
    send(20);
    // Four graces pass before the timer of the first one runs. In real time, another pause of the machine could use up the second grace.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 8_000);
    try {
      jest.advanceTimersByTime(2_100);
      expect(verdicts()).toBe(0);
      // The reader gets the few turns that it needs.
      take(20);
      send(1);
      take(1);
      expect(verdicts()).toBe(0);
    } finally {
      clock.mockRestore();
    }
  });
});
