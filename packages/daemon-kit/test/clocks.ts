/** Clocks for tests. */
import type { Clock } from '../src/clock.ts';

/** Stops until the test moves it; then runs the due entries in order of time. */
export function manualClock(start = Date.parse('2026-01-01T00:00:00.000Z')) {
  let now = start;
  let due: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after(delayMs: number, run: () => void) {
      const entry = { at: now + delayMs, run };
      due.push(entry);
      return () => void (due = due.filter((other) => other !== entry));
    },
    advance(ms: number) {
      const end = now + ms;
      for (;;) {
        const next = due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        due = due.filter((entry) => entry !== next);
        now = next.at;
        next.run();
      }
      now = end;
    },
    /** Milliseconds until each waiting entry, shortest first. */
    waits: () => due.map(({ at }) => at - now).sort((a, b) => a - b),
  } satisfies Clock & Record<string, unknown>;
}

/** Never waits: every delay passes at once and is recorded. */
export function impatientClock(): Clock & { delays: number[] } {
  let now = 0;
  const delays: number[] = [];
  return {
    delays,
    now: () => now,
    after(delayMs, run) {
      delays.push(delayMs);
      const immediate = setImmediate(() => {
        now += delayMs;
        run();
      });
      return () => clearImmediate(immediate);
    },
  };
}
