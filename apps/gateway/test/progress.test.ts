import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Database } from '@relay/database';
import type { Logger } from '@relay/telemetry';
import { ProgressBoard } from '../src/sessions/progress.ts';

describe('the board of progress', () => {
  const intervalMs = 500;
  const progress = { action: 'Reading', target: '', at: new Date(0).toISOString() };
  let board: ProgressBoard;
  let shown: string[];
  const offer = (key: string, what: string) => board.offer({ key, taskId: key, progress }, () => void shown.push(what));

  beforeEach(() => {
    jest.useFakeTimers();
    shown = [];
    // Nothing is flushed here.
    board = new ProgressBoard({} as Database, {} as Logger, { intervalMs, flushMs: 3_600_000 });
  });
  afterEach(() => {
    board.stop();
    jest.useRealTimers();
  });

  it('does not remember progress of a task whose connection closed', () => {
    offer('a', 'first');
    offer('a', 'second');
    offer('b', 'only');
    expect(board.size).toBe(2);
    jest.advanceTimersByTime(intervalMs);
    expect(shown).toEqual(['first', 'only', 'second']);
    // The second was shown just now: the next one still has to wait.
    expect(board.size).toBe(1);
    jest.advanceTimersByTime(intervalMs);
    expect(board.size).toBe(0);
    expect(jest.getTimerCount()).toBe(1);
  });

  it('shows the latest of an interval, and again at once after a pause', () => {
    for (const what of ['1', '2', '3']) offer('a', what);
    jest.advanceTimersByTime(intervalMs);
    offer('a', '4');
    expect(shown).toEqual(['1', '3']);
    jest.advanceTimersByTime(2 * intervalMs);
    offer('a', '5');
    expect(shown).toEqual(['1', '3', '4', '5']);
  });

  it('shows nothing more of a finished task', () => {
    offer('a', 'first');
    offer('a', 'second');
    board.drop('a');
    jest.advanceTimersByTime(2 * intervalMs);
    expect(shown).toEqual(['first']);
    expect(board.size).toBe(0);
  });
});
