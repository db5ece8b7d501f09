/** The claimed tasks that the daemon could have already (rules, 15.6). */
import { describe, expect, it } from '@jest/globals';
import { OpenTasks, type TaskEntry } from '../src/connection/open-tasks.ts';

describe('the daemon could have', () => {
  const [earlier, current] = [3, 4];
  const written = { sessionKey: 's', state: 'sent', fence: current, writtenAtMs: 1 } as const;
  const loaded = { sessionKey: 's', state: 'sent', fence: earlier } as const;
  const tasksWith = (...entries: (Partial<TaskEntry> & { id: string })[]) => {
    const tasks = new OpenTasks();
    for (const entry of entries) tasks.add({ ...written, ...entry });
    return tasks;
  };

  it('a task that this connection wrote, while it is under way and after', () => {
    const tasks = tasksWith({ id: 't' });
    expect(tasks.mayHave({ id: 't' })).toBe(true);
    tasks.forget('t');
    expect(tasks.has('t')).toBe(false);
    expect(tasks.mayHave({ id: 't' })).toBe(true);
    expect(tasks.mayHave({ id: 'another' })).toBe(false);
  });

  it('a task of an earlier connection, unless that connection gave it back under the same fence', () => {
    const tasks = new OpenTasks();
    tasks.add({ id: 't', ...loaded });
    const seen = () =>
      [{}, { givenBackUnder: earlier }, { givenBackUnder: current }].map((more) => tasks.mayHave({ id: 't', ...more }));
    expect(seen()).toEqual([true, false, true]);
    tasks.forget('t');
    expect(seen()).toEqual([true, false, true]);
    tasks.add({ id: 't', ...loaded });
    tasks.confirm('t');
    tasks.forget('t');
    expect(seen()).toEqual([true, true, true]);
  });

  it('a steer that reached its turn, and not a steer that missed it', () => {
    const tasks = tasksWith(
      { id: 'turn' },
      { id: 'in', isSteer: true, state: 'running' },
      { id: 'out', isSteer: true },
    );
    tasks.release('out');
    expect(tasks.mayHave({ id: 'out' })).toBe(false);
    tasks.forget('turn');
    expect(tasks.has('in')).toBe(false);
    expect(tasks.mayHave({ id: 'in' })).toBe(true);
  });
});
