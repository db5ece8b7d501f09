import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type UnderWay, reconcile, unconfirmed } from '../src/tasks/reconcile.ts';

const fence = 10;
const context = { fence, first: true, nowMs: 100_000, lostAfterMs: 5_000, silentAfterMs: 900_000 };
const task = (state: 'sent' | 'running', taskFence: number, more: Partial<UnderWay> = {}): UnderWay => ({
  state,
  fence: taskFence,
  mentionedAtMs: context.nowMs,
  ...more,
});
const one = (entry: UnderWay, listed: string[] = [], more: Partial<typeof context> = {}) =>
  reconcile(new Map([['t', entry]]), new Set(listed), { ...context, ...more });
const nothing = { confirmed: [], unknown: [], lost: [], present: [], missing: [] };

describe('reconcile', () => {
  it('confirms a sent task that is listed, under this connection or an earlier one', () => {
    expect(one(task('sent', fence), ['t'])).toEqual({ ...nothing, confirmed: ['t'], present: ['t'] });
    expect(one(task('sent', fence - 1), ['t'])).toEqual({ ...nothing, confirmed: ['t'], present: ['t'] });
  });

  it('sees a running task that is listed', () => {
    expect(one(task('running', fence - 1), ['t'])).toEqual({ ...nothing, present: ['t'] });
  });

  it('omits an unlisted task that was sent before', () => {
    expect(one(task('sent', fence - 1))).toEqual({ ...nothing, unknown: ['t'] });
  });

  it('takes a task that ran before, and that the first status omits, for lost', () => {
    expect(one(task('running', fence - 1))).toEqual({ ...nothing, lost: ['t'] });
  });

  it('keeps a merely sent task of this connection, however often a status omits it', () => {
    expect(one(task('sent', fence))).toEqual(nothing);
    expect(one(task('sent', fence), [], { first: false })).toEqual(nothing);
  });

  it('begins to miss a running task of this connection, and takes it for lost when all of 5 s omitted it', () => {
    expect(one(task('running', fence), [], { first: false })).toEqual({ ...nothing, missing: ['t'] });
    const missing = (agoMs: number) => task('running', fence, { missingSinceMs: context.nowMs - agoMs });
    expect(one(missing(4_999), [], { first: false })).toEqual(nothing);
    expect(one(missing(5_000), [], { first: false })).toEqual({ ...nothing, lost: ['t'] });
  });

  it('takes one omission for a contradiction when nothing has named the task for 15 minutes', () => {
    const silent = (agoMs: number) => task('running', fence, { mentionedAtMs: context.nowMs - agoMs });
    expect(one(silent(899_999), [], { first: false }).lost).toEqual([]);
    expect(one(silent(900_000), [], { first: false }).lost).toEqual(['t']);
    expect(one(silent(900_000), ['t'], { first: false }).lost).toEqual([]);
  });

  const underWay: fc.Arbitrary<UnderWay> = fc
    .record({
      state: fc.constantFrom('sent' as const, 'running' as const),
      fence: fc.integer({ min: 1, max: 12 }),
      mentionedAtMs: fc.integer({ min: -1_000_000, max: 100_000 }),
      missing: fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: undefined }),
    })
    .map(({ missing, ...entry }) => (missing === undefined ? entry : { ...entry, missingSinceMs: missing }));
  const situation = fc.record({
    tasks: fc.dictionary(fc.constantFrom(...'abcdefgh'), underWay),
    listed: fc.uniqueArray(fc.constantFrom(...'abcdefghxyz')),
    first: fc.boolean(),
    nowMs: fc.integer({ min: 0, max: 200_000 }),
  });

  it('guesses nothing, in any situation', () => {
    fc.assert(
      fc.property(situation, ({ tasks, listed, first, nowMs }) => {
        const map = new Map(Object.entries(tasks));
        const verdict = reconcile(map, new Set(listed), { ...context, first, nowMs });
        const { confirmed, unknown, lost, present, missing } = verdict;
        for (const [id, entry] of map) {
          const isListed = listed.includes(id);
          // Listed is present and nothing worse; a task has at most one fate.
          expect(present.includes(id)).toBe(isListed);
          expect([unknown, lost, missing, present].filter((ids) => ids.includes(id)).length).toBeLessThanOrEqual(1);
          // Only moves that exist: sent → running or unknown, running → lost.
          if (confirmed.includes(id)) expect([entry.state, isListed]).toEqual(['sent', true]);
          if (unknown.includes(id)) expect([entry.state, entry.fence < fence]).toEqual(['sent', true]);
          if (lost.includes(id) || missing.includes(id)) expect(entry.state).toBe('running');
          // A task written to this connection is never settled by one frame, unless nothing has named it for long.
          const fresh = nowMs - entry.mentionedAtMs < context.silentAfterMs;
          if (entry.fence >= fence && fresh && entry.missingSinceMs === undefined)
            expect([...unknown, ...lost]).not.toContain(id);
          if (first && entry.fence < fence && !isListed) expect([...unknown, ...lost]).toContain(id);
        }
        for (const id of [...confirmed, ...unknown, ...lost, ...present, ...missing]) expect(map.has(id)).toBe(true);
      }),
    );
  });

  it('comes to the same for every order of tasks and list', () => {
    fc.assert(
      fc.property(situation, ({ tasks, listed, first, nowMs }) => {
        const at = { ...context, first, nowMs };
        const forward = reconcile(new Map(Object.entries(tasks)), new Set(listed), at);
        const backward = reconcile(new Map(Object.entries(tasks).reverse()), new Set([...listed].reverse()), at);
        for (const fate of Object.keys(forward) as (keyof typeof forward)[])
          expect([...backward[fate]].sort()).toEqual([...forward[fate]].sort());
      }),
    );
  });
});

describe('unconfirmed', () => {
  it('is a task that was sent to an earlier connection and never confirmed', () => {
    const tasks = new Map([
      ['sent before', task('sent', fence - 1)],
      ['sent now', task('sent', fence)],
      ['ran before', task('running', fence - 1)],
    ]);
    expect(unconfirmed(tasks, fence)).toEqual(['sent before']);
  });
});
