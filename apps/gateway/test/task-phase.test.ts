import { describe, expect, it } from '@jest/globals';
import { TaskPhase } from '../src/connection/task-phase.ts';

type Move = 'settle' | 'retry' | 'giveUp' | 'settled';

const after = (...moves: Move[]) => {
  const phase = new TaskPhase();
  for (const move of moves) phase[move]();
  return [phase.now, phase.mayWrite];
};

describe('the phase of tasks', () => {
  it('blocks tasks until the first status is settled', () => {
    expect(after()).toEqual(['awaitingStatus', false]);
    expect(after('settle')).toEqual(['settling', false]);
    expect(after('settle', 'settled')).toEqual(['open', true]);
  });

  it('waits again when a status could not be settled', () => {
    expect(after('settle', 'retry')).toEqual(['awaitingStatus', false]);
  });

  it('writes when the wait is over, and still takes the next status for the first', () => {
    expect(after('giveUp')).toEqual(['overdue', true]);
    expect(after('giveUp', 'settle')).toEqual(['overdue', true]);
    expect(after('giveUp', 'settle', 'retry')).toEqual(['overdue', true]);
    expect(after('giveUp', 'settle', 'settled')).toEqual(['open', true]);
    expect(after('settle', 'giveUp', 'settled')).toEqual(['open', true]);
  });

  it('stays open', () => {
    for (const move of ['settle', 'retry', 'giveUp', 'settled'] as const)
      expect(after('settle', 'settled', move)).toEqual(['open', true]);
  });
});
