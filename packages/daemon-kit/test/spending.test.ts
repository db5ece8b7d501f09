/** Usage figures by day: their sums, their file, and the days of time zones. */
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { openSpending } from '../src/spending.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

function opened({
  file = join(home.folder(), 'spending.jsonl'),
  at = '2026-03-14T09:00:00Z',
  maxBytes,
}: { file?: string; at?: string; maxBytes?: number } = {}) {
  // prettier-ignore
  const time = { ms: Date.parse(at) };
  const troubles: string[] = [];
  const spending = openSpending({
    file,
    clock: { now: () => time.ms },
    agentTypeOf: (sessionId) => (sessionId.startsWith('codex') ? 'codex' : 'claude_code'),
    onTrouble: (what) => troubles.push(what),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  const total = (sessionId: string, amount: number, currency = 'USD') =>
    spending.update(sessionId, { sessionUpdate: 'usage_update', used: 1, cost: { amount, currency } });
  const days = (zone = 'UTC', from = '2026-01-01', to = '2026-12-31') => spending.days({ from, to, zone }).days;
  return { spending, file, time, troubles, total, days };
}
const usd = (amount: number) => ({ amount, currency: 'USD' });

describe('§2: the figures of a day', () => {
  it('are differences of the totals of its sessions, and a total that fell counts from zero again', () => {
    const { spending, total, days } = opened();
    spending.turn('s1');
    total('s1', 0.5);
    total('s1', 1.42);
    total('s1', 1.42);
    spending.tokens('s1', 1200);
    spending.tokens('s1', 300);
    spending.turn('s2');
    total('s2', 4);
    // After `/clear` the agent counts from zero.
    total('s2', 0.25);
    expect(days()).toEqual([{ day: '2026-03-14', agent_type: 'claude_code', turns: 2, cost: usd(5.67), tokens: 1500 }]);
    expect(spending.ofSession('s1', 'USD')).toBe(1.42);
    expect(spending.ofSession('s2', 'USD')).toBe(0.25);
    expect(spending.ofToday('claude_code', 'USD')).toBe(5.67);
  });

  it('are separate for each agent and each currency, without unreported fields', () => {
    const { spending, total, days } = opened();
    spending.turn('codex-1');
    spending.turn('s1');
    total('s1', 1, 'EUR');
    total('s1', 2);
    expect(days()).toEqual([
      { day: '2026-03-14', agent_type: 'claude_code', turns: 1, cost: { amount: 1, currency: 'EUR' } },
      { day: '2026-03-14', agent_type: 'claude_code', turns: 0, cost: usd(2) },
      { day: '2026-03-14', agent_type: 'codex', turns: 1 },
    ]);
  });

  it('ignore a nonsensical amount', () => {
    const { spending, days } = opened();
    for (const cost of [{ amount: -1, currency: 'USD' }, { amount: 1e7, currency: 'USD' }, { amount: 1, currency: 'gold' }, 'much'])
      spending.update('s1', { sessionUpdate: 'usage_update', cost }); // prettier-ignore
    expect(days()).toEqual([]);
  });

  it('follow the time zone of the request, even on nights when the clock changes', () => {
    const { spending, time, days } = opened();
    // Days in Paris begin at 23:00 UTC in winter and at 22:00 in summer. The clock changes on 29 March and 25 October
    // 2026.
    const times = [
      '2026-03-28T22:45:00Z',
      '2026-03-28T23:00:00Z',
      '2026-03-29T21:45:00Z',
      '2026-03-29T22:00:00Z',
      '2026-10-24T21:45:00Z',
      '2026-10-24T22:00:00Z',
      '2026-10-25T22:45:00Z',
      '2026-10-25T23:00:00Z',
    ];
    for (const at of times) {
      time.ms = Date.parse(at);
      spending.turn('s1');
    }
    const expected = [
      ['2026-03-28', 1],
      ['2026-03-29', 2],
      ['2026-03-30', 1],
      ['2026-10-24', 1],
      ['2026-10-25', 2],
      ['2026-10-26', 1],
    ];
    expect(days('Europe/Paris').map(({ day: name, turns: count }) => [name, count])).toEqual(expected);
    // A zone with an offset of a quarter of an hour.
    expect(days('Asia/Kathmandu')[0]).toMatchObject({ day: '2026-03-29', turns: 2 });
    expect(days('Europe/Paris', '2026-03-29', '2026-03-29')).toMatchObject([{ turns: 2 }]);
    expect(() => days('Mars/Olympus')).toThrow(RangeError);
  });
});

describe('§2: the file of the figures', () => {
  it('is read again after a restart, where the total of a session continues, and only its owner can read it', () => {
    const first = opened();
    first.spending.turn('s1');
    first.total('s1', 1.42);
    // A crash truncates the last line.
    appendFileSync(first.file, '{"at":17');
    const second = opened({ file: first.file, at: '2026-03-14T09:20:00Z' });
    second.total('s1', 2);
    expect(second.days()).toEqual([{ day: '2026-03-14', agent_type: 'claude_code', turns: 1, cost: usd(2) }]);
    expect(second.spending.days({ from: '2026-01-01', to: '2026-01-02', zone: 'UTC' })).toEqual({
      days: [],
      since: '2026-03-14T09:00:00.000Z',
    });
    expect(opened({ file: first.file }).days()).toEqual(second.days());
    expect(statSync(first.file).mode & 0o777).toBe(0o600);
  });

  it('keeps 400 days', () => {
    const { spending, file, time, days } = opened({ at: '2025-01-01T00:00:00Z' });
    spending.turn('s1');
    time.ms += 2 * day;
    spending.turn('s1');
    const later = opened({ file, at: new Date(time.ms + 399 * day).toISOString() });
    expect(days('UTC', '2025-01-01')).toHaveLength(2);
    expect(later.days('UTC', '2025-01-01')).toMatchObject([{ day: '2025-01-03', turns: 1 }]);
  });

  it('drops its oldest rows when it is full', () => {
    const maxBytes = 8 * 1024;
    const { spending, file, time, days } = opened({ maxBytes });
    for (let n = 0; n < 500; n++) {
      time.ms += quarter;
      spending.turn(`session-${n}`);
      expect(statSync(file).size).toBeLessThanOrEqual(maxBytes);
    }
    const kept = days().reduce((sum, { turns }) => sum + turns, 0);
    expect(kept).toBeGreaterThan(40);
    expect(readFileSync(file, 'utf8')).toContain('session-499');
    expect(readFileSync(file, 'utf8')).not.toContain('"session-0"');
  });

  it('costs only the figures if it cannot be written, and is complete once it can', () => {
    const folder = home.folder();
    const file = join(folder, 'missing', 'spending.jsonl');
    const { spending, troubles, days } = opened({ file });
    spending.turn('s1');
    expect(troubles).toContain('figures of use not written');
    expect(days()).toMatchObject([{ turns: 1 }]);
  });

  it('keeps its valid rows if one is invalid', () => {
    const { spending, file } = opened();
    spending.turn('s1');
    writeFileSync(file, `null\n[]\n{"at":"x"}\nodd\n${readFileSync(file, 'utf8')}`);
    expect(opened({ file }).days()).toMatchObject([{ turns: 1 }]);
  });
});

const quarter = 15 * minute;
