/** Limits of a plan, in the forms of Claude Code's updates and of Codex's session files. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createNotes } from '../src/agents/acp/notes.ts';
import { presetOf } from '../src/agents/acp/presets.ts';
import { historyOf, limitsOf } from '../src/agents/history/readers.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const start = Date.UTC(2026, 0, 1);
const time = (second: number) => new Date(start + second * 1000).toISOString();
const reported = (info: object) => ({ sessionUpdate: 'usage_update', used: 10, size: 100, _meta: { '_claude/rateLimit': info } }); // prettier-ignore

describe('§2: limits of Claude Code', () => {
  it('arrive one at a time, and every update has the newest of each', () => {
    let now = start;
    const notes = createNotes({ now: () => now });
    notes.observe('s1', reported({ status: 'allowed', rateLimitType: 'five_hour', utilization: 0.4, resetsAt: start / 1000 + 60 })); // prettier-ignore
    now += 1000;
    const update = notes.observe(
      's2',
      reported({ status: 'allowed_warning', rateLimitType: 'seven_day', utilization: 0.8 }),
    );
    expect(update.limits).toEqual([
      { id: 'five_hour', name: '5 hours', used: 0.4, resets: time(60), state: 'allowed', as_of: time(0) },
      { id: 'seven_day', name: '7 days', used: 0.8, state: 'warning', as_of: time(1) },
    ]);
    now += 1000;
    const { limits } = notes.observe(
      's1',
      reported({ status: 'rejected', rateLimitType: 'five_hour', utilization: 1.2 }),
    );
    expect(limits).toEqual([
      { id: 'five_hour', name: '5 hours', used: 1, state: 'rejected', as_of: time(2) },
      expect.objectContaining({ id: 'seven_day' }),
    ]);
  });

  it('are left out if they are invalid', () => {
    const notes = createNotes({ now: () => start });
    for (const info of [{}, { rateLimitType: 5 }, { rateLimitType: '' }])
      expect(notes.observe('s1', reported(info))).not.toHaveProperty('limits');
    const odd = { rateLimitType: 'a_new_one', status: 'odd', utilization: 'much', resetsAt: 1e300 };
    expect(notes.observe('s1', reported(odd)).limits).toEqual([{ id: 'a_new_one', name: 'a new one', as_of: time(0) }]);
  });

  it('keep the cost when an update omits it', async () => {
    const notes = createNotes({ now: () => start });
    notes.observe('s1', { sessionUpdate: 'usage_update', used: 10, size: 100, cost: { amount: 1.5, currency: 'USD' } });
    notes.observe('s1', { sessionUpdate: 'usage_update', used: 20 });
    expect(await notes.context('s1')).toEqual({
      used_tokens: 20,
      max_tokens: 100,
      cost: { amount: 1.5, currency: 'USD' },
    });
  });
});

describe('§2: limits of Codex', () => {
  const id = '0199a213-81c0-7800-8aa1-bbab2a035a53';
  const count = (second: number, primary: number) => ({
    timestamp: time(second),
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: { last_token_usage: { total_tokens: 120 }, model_context_window: 258_400 },
      rate_limits: {
        primary: { used_percent: primary, window_minutes: 300, resets_at: start / 1000 + 7200 },
        secondary: { used_percent: 41, window_minutes: 10_079, resets_at: start / 1000 + 86_400 },
      },
    },
  });
  const event = (second: number, type: string, more: object = {}) => ({
    timestamp: time(second),
    type: 'event_msg',
    payload: { type, ...more },
  });
  const written = (...rows: object[]) => {
    const root = home.folder();
    const path = join(root, `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${id}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const meta = { timestamp: time(0), type: 'session_meta', payload: { id, cwd: '/my/project' } };
    const add = (...more: object[]) => appendFileSync(path, more.map((row) => `${JSON.stringify(row)}\n`).join(''));
    add(meta, ...rows);
    return { env: { HOME: root }, add };
  };
  const limits = (used: number, second: number) => [
    { id: 'five_hour', name: '5 hours', used, resets: time(7200), as_of: time(second) },
    { id: 'seven_day', name: '7 days', used: 0.41, resets: time(86_400), as_of: time(second) },
  ];

  it('come from the newest count in its session file, live', async () => {
    const { env, add } = written(count(1, 10));
    const notes = createNotes({ now: () => start, limitsOf: limitsOf(presetOf('codex'), env) });
    expect(notes.observe(id, { sessionUpdate: 'usage_update', used: 1, size: 2 }).limits).toEqual(limits(0.1, 1));
    add(count(5, 72));
    expect(await notes.context(id)).toMatchObject({ limits: limits(0.72, 5) });
    expect(limitsOf(presetOf('claude_code'), env)).toBeUndefined();
  });

  it('are part of a session that a terminal wrote', () => {
    const { env } = written(
      event(1, 'task_started'),
      event(2, 'user_message', { message: 'Hello' }),
      count(3, 72),
      event(4, 'agent_message', { message: 'Done.' }),
      event(5, 'task_complete'),
    );
    const updates = historyOf(presetOf('codex'), env)
      ?.read(id)
      ?.updates.map(({ update }) => update);
    expect(updates).toContainEqual({
      sessionUpdate: 'usage_update',
      used: 120,
      size: 258_400,
      limits: limits(0.72, 3),
    });
  });
});
