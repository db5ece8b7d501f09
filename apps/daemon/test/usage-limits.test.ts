/** Usage limits in each agent's own shape; anything else is an ordinary error. */
import { describe, expect, it } from '@jest/globals';
import type { UsageLimit } from '@relay/protocol';
import { limitIn } from '../src/agents/acp/limits.ts';
import { AgentFailure } from '../src/agents/acp/process.ts';

const now = new Date('2026-11-29T12:12:00.000Z');
const failure = (message: string, data: object, code = -32603) =>
  new AgentFailure(message, code, { cause: { code, data } });
const claude = (words: string, data: object = { errorKind: 'rate_limit' }) =>
  limitIn('claude', failure(`Internal error: ${words}`, data), [], now);
const codex = (words: string, data: object = { codexErrorInfo: 'usageLimitExceeded' }) =>
  limitIn('codex', failure('Internal error', { message: words, ...data }), [], now);

describe('Claude Code', () => {
  it.each([
    ['You’ve hit your 5-hour limit · resets 5:40pm (Europe/Berlin)', '2026-11-29T16:40:00.000Z'],
    ["You've hit your limit · resets 1pm (Europe/Berlin)", '2026-11-30T12:00:00.000Z'],
    ["You've reached your weekly limit · resets Jul 11 at 12pm (Asia/Singapore)", '2027-07-11T04:00:00.000Z'],
    ["You've reached your weekly limit · resets Dec 2, 9:30am (America/Santiago)", '2026-12-02T12:30:00.000Z'],
    // Recorded from Claude Code 2.1.316, which adds a year other than this one.
    ["You've hit your weekly limit · resets Jan 3, 2027, 2:50am (UTC)", '2027-01-03T02:50:00.000Z'],
  ])('“%s” resets at %s', (words, at) => {
    expect(claude(words)).toEqual({ name: '', resets_at: at, source: 'words' });
  });

  it('prefers figures to the text', () => {
    const limit = (id: string, state: string, resets: string): UsageLimit => ({
      ...{ id, name: id, state, resets, as_of: now.toISOString() },
    });
    const known = [
      limit('five_hour', 'rejected', '2026-11-29T15:00:00.000Z'),
      limit('seven_day', 'allowed', '2026-12-03T15:00:00.000Z'),
    ];
    const error = failure("Internal error: You've hit your limit · resets 5pm (UTC)", { errorKind: 'rate_limit' });
    expect(limitIn('claude', error, known, now)).toEqual({
      ...{ name: 'five_hour', resets_at: '2026-11-29T15:00:00.000Z', source: 'figures' },
    });
    const past = [limit('five_hour', 'rejected', '2026-11-29T09:00:00.000Z')];
    expect(limitIn('claude', error, past, now)).toMatchObject({ source: 'words' });
  });

  it('reports a limit without a time if the text lacks one or names an unknown zone', () => {
    for (const words of ["You've hit your limit.", "You've hit your limit · resets 5pm (Middle/Earth)"])
      expect(claude(words)).toEqual({ name: '', source: 'words' });
  });

  it('takes nothing else for a limit', () => {
    expect(claude("You're out of usage credits")).toBeUndefined();
    expect(claude("You've hit your limit", { errorKind: 'overloaded' })).toBeUndefined();
    expect(claude("You've hit your limit", {})).toBeUndefined();
    expect(claude('The model said: You’ve hit your limit')).toBeUndefined();
    expect(limitIn('claude', new Error("You've hit your limit"), [], now)).toBeUndefined();
    expect(limitIn(undefined, failure('x', { errorKind: 'rate_limit' }), [], now)).toBeUndefined();
  });
});

describe('Codex', () => {
  it.each([
    ['Try again in 5 days 22 hours 11 minutes.', '2026-12-05T10:23:00.000Z'],
    ['Try again in 3 hours.', '2026-11-29T15:12:00.000Z'],
  ])('“%s” resets at %s', (words, at) => {
    expect(codex(words)).toEqual({ name: '', resets_at: at, source: 'words' });
  });

  it('reads a clock of this machine', () => {
    const local = (days: number, hours: number, minutes: number) =>
      new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hours, minutes);
    const at = local(0, 16, 45) > now ? local(0, 16, 45) : local(1, 16, 45);
    expect(codex('try again at 4:45 PM.')).toMatchObject({ resets_at: at.toISOString(), source: 'clock' });
    expect(codex('try again at Dec 19th, 2026 4:12 AM.')).toMatchObject({
      resets_at: new Date(2026, 11, 19, 4, 12).toISOString(),
      source: 'words',
    });
  });

  it('reports the window at 100 %, and takes a short limit for an ordinary error', () => {
    const known: UsageLimit[] = [
      { id: 'five_hour', name: '5 hours', used: 1, resets: '2026-11-29T15:00:00.000Z', as_of: now.toISOString() },
      { id: 'seven_day', name: '7 days', used: 0.4, resets: '2026-12-03T15:00:00.000Z', as_of: now.toISOString() },
    ];
    const error = failure('Internal error', { codexErrorInfo: 'usageLimitExceeded', message: 'x' });
    expect(limitIn('codex', error, known, now)).toEqual({
      ...{ name: '5 hours', resets_at: '2026-11-29T15:00:00.000Z', source: 'figures' },
    });
    expect(codex('slow down', { codexErrorInfo: 'rateLimitExceeded' })).toBeUndefined();
  });
});

it('a clock time is unique across clock changes', () => {
  // Europe/Paris: 2027-03-28 02:30 does not exist, 2027-10-31 02:30 comes twice.
  const at = (words: string) => claude(`You've hit your limit · resets ${words} (Europe/Paris)`)?.resets_at;
  expect(at('Mar 28 at 2:30am')).toBe('2027-03-28T01:30:00.000Z');
  expect(at('Oct 31 at 2:30am')).toBe('2027-10-31T00:30:00.000Z');
  expect(at('Oct 31 at 3:30am')).toBe('2027-10-31T02:30:00.000Z');
});
