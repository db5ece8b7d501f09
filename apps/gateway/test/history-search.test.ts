/** When a search reads the history of a daemon (rules, 3.4). */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DeliveredTask } from '@relay/database';
import type { DaemonConnection } from '../src/connection/connection.ts';
import { OpenTasks } from '../src/connection/open-tasks.ts';
import { Requests } from '../src/connection/requests.ts';
import { type SearchDeps, createHistorySearch } from '../src/history/history-search.ts';

describe('a search of the history', () => {
  const outcomeAskMs = 10_000;
  const task = { id: 't', nativeId: 'n', placeholder: false, instruction: 'Do it' } as DeliveredTask;
  let readAtMs: number[];
  let connection: DaemonConnection;

  /** The daemon answers no page. */
  const begin = () => {
    const history = { page: () => Promise.resolve(void readAtMs.push(Date.now())) };
    const search = createHistorySearch({ config: { outcomeAskMs }, history } as unknown as SearchDeps);
    search.text(connection, task);
  };

  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
    readAtMs = [];
    const state = { live: true, can: () => false, tasks: new OpenTasks(), requests: new Requests() };
    connection = state as unknown as DaemonConnection;
  });
  afterEach(() => void jest.useRealTimers());

  it('reads at once and after 1, 3 and 12 times the configured time, and then never again', async () => {
    begin();
    await jest.advanceTimersByTimeAsync(100 * outcomeAskMs);
    expect(readAtMs.map((atMs) => atMs / outcomeAskMs)).toEqual([0, 1, 3, 12]);
    expect(connection.requests.searches.size).toBe(0);
  });

  it('is over when its connection closes, and leaves no timer', async () => {
    begin();
    await jest.advanceTimersByTimeAsync(outcomeAskMs);
    connection.requests.clear();
    expect(jest.getTimerCount()).toBe(0);
    await jest.advanceTimersByTimeAsync(100 * outcomeAskMs);
    expect(readAtMs).toHaveLength(2);
  });
});
