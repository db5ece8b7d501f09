import { describe, expect, it, jest } from '@jest/globals';
import { type ReadinessCheck, createReadiness } from '../src/index.ts';

const good: ReadinessCheck = () => Promise.resolve({ ok: true, probeMs: 1 });
const bad: ReadinessCheck = () => Promise.resolve({ ok: false, probeMs: 1 });

function testClock() {
  let now = 1_000_000;
  return Object.assign(() => now, { advance: (ms: number) => void (now += ms) });
}

/** A check that counts its calls, and answers under the test's control. */
function held() {
  const waiting: ((ok: boolean) => void)[] = [];
  const check: ReadinessCheck = () => new Promise((resolve) => waiting.push((ok) => resolve({ ok, probeMs: 1 })));
  return { check, waiting };
}

describe('an instance', () => {
  it('is ready when every check is good', async () => {
    const readiness = createReadiness({ checks: { database: good, backplane: good }, timeoutMs: 1_000 });
    expect(await readiness.check()).toEqual({
      ready: true,
      body: { status: 'ok', checks: { database: 'ok', backplane: 'ok' } },
    });
  });

  it.each<readonly [string, ReadinessCheck]>([
    ['is bad', bad],
    ['is rejected', () => Promise.reject(new Error('secret reason'))],
    [
      'throws at once',
      () => {
        throw new Error('secret reason');
      },
    ],
  ])('is not ready when a check %s, and hides the reason', async (_, database) => {
    const readiness = createReadiness({ checks: { database, backplane: good }, timeoutMs: 1_000 });
    expect(await readiness.check()).toEqual({
      ready: false,
      body: { status: 'unavailable', checks: { database: 'failed', backplane: 'ok' } },
    });
  });

  it('reports a database of a newer release, and stays ready', async () => {
    const readiness = createReadiness({ checks: {}, schema: 'newer', timeoutMs: 1000 });
    expect(await readiness.check()).toEqual({ ready: true, body: { status: 'ok', checks: {}, schema: 'newer' } });
  });

  it('is ready but degraded when only a dispensable dependency fails', async () => {
    const backplane = bad;
    const dispensable = ['backplane'];
    const readiness = createReadiness({ checks: { database: good, backplane }, dispensable, timeoutMs: 1_000 });
    expect(await readiness.check()).toEqual({
      ready: true,
      body: { status: 'degraded', checks: { database: 'ok', backplane: 'failed' } },
    });
    const both = createReadiness({ checks: { database: bad, backplane }, dispensable, timeoutMs: 1_000 });
    expect(await both.check()).toMatchObject({ ready: false, body: { status: 'unavailable' } });
    readiness.drain();
    expect(await readiness.check()).toMatchObject({ ready: false, body: { status: 'draining' } });
  });

  it('is not ready when a check hangs, and hanging checks do not pile up', async () => {
    const clock = testClock();
    const { check, waiting } = held();
    const readiness = createReadiness({ checks: { database: check, backplane: good }, timeoutMs: 20, clock });
    for (let i = 0; i < 3; i += 1) {
      expect((await readiness.check()).body).toEqual({
        status: 'unavailable',
        checks: { database: 'failed', backplane: 'ok' },
      });
      clock.advance(1_000);
    }
    expect(waiting).toHaveLength(1);
    waiting[0]?.(true);
    // The late answer counts for the next caller, whether it is already in or a new check is started.
    const next = readiness.check();
    waiting[1]?.(true);
    expect((await next).ready).toBe(true);
  });

  it('with nothing to check is ready', async () => {
    expect(await createReadiness({ checks: {}, timeoutMs: 1 }).check()).toEqual({
      ready: true,
      body: { status: 'ok', checks: {} },
    });
  });
});

describe('the checks', () => {
  it('run once for concurrent callers', async () => {
    const { check, waiting } = held();
    const readiness = createReadiness({ checks: { database: check }, timeoutMs: 10_000 });
    const asked = Array.from({ length: 50 }, () => readiness.check());
    await Promise.resolve();
    expect(waiting).toHaveLength(1);
    waiting[0]?.(true);
    expect((await Promise.all(asked)).every(({ ready }) => ready)).toBe(true);
  });

  it('run again after a second', async () => {
    const clock = testClock();
    let runs = 0;
    const database: ReadinessCheck = () => Promise.resolve({ ok: (runs += 1) > 0, probeMs: 1 });
    const readiness = createReadiness({ checks: { database }, timeoutMs: 1_000, clock });
    await readiness.check();
    clock.advance(999);
    await readiness.check();
    expect(runs).toBe(1);
    clock.advance(1);
    await readiness.check();
    expect(runs).toBe(2);
  });

  it("run again after a second, even if the machine's clock was set back in between", async () => {
    const passed = testClock();
    const clocks = [jest.spyOn(performance, 'now').mockImplementation(passed), jest.spyOn(Date, 'now')];
    clocks[1]!.mockReturnValue(0);
    try {
      let runs = 0;
      const database: ReadinessCheck = () => Promise.resolve({ ok: (runs += 1) > 0, probeMs: 1 });
      const readiness = createReadiness({ checks: { database }, timeoutMs: 1_000 });
      await readiness.check();
      passed.advance(1_000);
      await readiness.check();
      expect(runs).toBe(2);
    } finally {
      for (const clock of clocks) clock.mockRestore();
    }
  });
});

describe('draining', () => {
  it('is not ready from now on, regardless of the checks', async () => {
    const readiness = createReadiness({ checks: { database: good }, timeoutMs: 1_000 });
    expect((await readiness.check()).ready).toBe(true);
    readiness.drain();
    expect(await readiness.check()).toEqual({ ready: false, body: { status: 'draining', checks: { database: 'ok' } } });
  });

  it('shows the checks as they are', async () => {
    const readiness = createReadiness({ checks: { database: bad }, timeoutMs: 1_000 });
    readiness.drain();
    expect(await readiness.check()).toEqual({
      ready: false,
      body: { status: 'draining', checks: { database: 'failed' } },
    });
  });

  it('reaches a caller that asked before it and is answered after it', async () => {
    const { check, waiting } = held();
    const readiness = createReadiness({ checks: { database: check }, timeoutMs: 10_000 });
    const asked = readiness.check();
    readiness.drain();
    waiting[0]?.(true);
    expect((await asked).body.status).toBe('draining');
  });
});
