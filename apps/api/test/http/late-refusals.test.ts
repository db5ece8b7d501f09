/** Promise: a client that ignores its refusals gets late answers, and no other client does (S3; rules, 6.10). */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LateRefusals } from '../../src/http/late-refusals.ts';

describe('S3: late refusals', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  /** Whether the next refusal of `who` is answered immediately. */
  const isPrompt = async (late: LateRefusals, who: string) => {
    let answered = false;
    void late.pause(who).then(() => (answered = true));
    for (let n = 0; n < 5; n += 1) await Promise.resolve();
    return answered;
  };
  const refuse = async (late: LateRefusals, who: string, times: number) => {
    for (let n = 0; n < times; n += 1) await late.pause(who);
  };

  it('S3: answer the first hundred refusals of a minute immediately, and later ones after a second', async () => {
    const late = new LateRefusals();
    await refuse(late, 'alice', 100);
    let answered = false;
    const next = late.pause('alice').then(() => (answered = true));
    await jest.advanceTimersByTimeAsync(999);
    expect(answered).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await next;
  });

  it('S3: leave other users alone, and stop with the minute', async () => {
    const late = new LateRefusals();
    await refuse(late, 'alice', 100);
    expect(await isPrompt(late, 'alice')).toBe(false);
    expect(await isPrompt(late, 'bob')).toBe(true);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await isPrompt(late, 'alice')).toBe(true);
  });

  it('S3: delay a thousand sockets at most', async () => {
    const late = new LateRefusals();
    await refuse(late, 'alice', 100);
    const held = Array.from({ length: 1000 }, () => late.pause('alice'));
    expect(await isPrompt(late, 'alice')).toBe(true);
    await jest.advanceTimersByTimeAsync(1000);
    await Promise.all(held);
    expect(await isPrompt(late, 'alice')).toBe(false);
  });
});
