import { describe, expect, it } from '@jest/globals';
import { createClosers } from '../src/index.ts';

describe('an opened resource', () => {
  it('is closed in reverse order, one after the other', async () => {
    const closers = createClosers();
    const closed: string[] = [];
    closers.push('first', () => closed.push('first'));
    closers.push('second', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      closed.push('second');
    });
    closers.push('third', () => closed.push('third'));
    await closers.close();
    expect(closed).toEqual(['third', 'second', 'first']);
  });

  it('closes even if another throws, rejects or hangs; reports the failures together', async () => {
    const closers = createClosers();
    const closed: string[] = [];
    closers.push('first', () => closed.push('first'));
    closers.push('hangs', () => new Promise(() => undefined), 5);
    closers.push('rejects', () => Promise.reject(new Error('no answer')));
    closers.push('throws', () => {
      throw new Error('broken');
    });
    closers.push('last', () => closed.push('last'));
    await expect(closers.close()).rejects.toThrow('broken; no answer; hangs: not closed after 0.005 s');
    expect(closed).toEqual(['last', 'first']);
  });

  it('closes once, and reports a single failure unchanged', async () => {
    const closers = createClosers();
    const failure = new TypeError('alone');
    let calls = 0;
    closers.push('fails', () => {
      calls += 1;
      throw failure;
    });
    const closing = closers.close();
    expect(closers.close()).toBe(closing);
    await expect(closing).rejects.toBe(failure);
    expect(calls).toBe(1);
  });
});
