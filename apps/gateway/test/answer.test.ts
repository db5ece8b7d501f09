import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Message } from '@relay/protocol';
import {
  type TurnAnswer,
  type SearchedTask,
  type Circumstances,
  answerIn,
  hasArrived,
  isEnd,
} from '../src/history/answer.ts';

const sentAtMs = Date.parse('2026-01-01T12:00:00Z');
let uuids = 0;
const message = (role: Message['role'], content: string, afterMs = 1000): Message => ({
  uuid: `m${(uuids += 1)}`,
  role,
  content,
  timestamp: new Date(sentAtMs + afterMs).toISOString(),
});
const asked: SearchedTask = { kind: 'resume', instruction: 'do it', sentAtMs, previous: '' };
const find = (messages: Message[], more: Partial<SearchedTask> = {}, hasMore = false) =>
  answerIn({ messages, hasMore }, { ...asked, ...more })?.content;

describe('F1: the answer in a page of history', () => {
  it("is the agent's last message on the instruction", () => {
    expect(find([message('USER', 'do it'), message('AGENT', 'I begin'), message('AGENT', 'done')])).toBe('done');
    expect(find([message('USER', 'do it\n'), message('AGENT', 'done'), message('AGENT', ' ')])).toBe('done');
    expect(find([message('USER', '<context/> do it'), message('AGENT', 'done')])).toBe('done');
  });

  it('is missing before the agent has answered', () => {
    expect(find([message('AGENT', 'of before'), message('USER', 'do it')])).toBeUndefined();
    expect(find([message('USER', 'something else'), message('AGENT', 'else')])).toBeUndefined();
    expect(find([])).toBeUndefined();
  });

  it('with the same text from long ago belongs to another turn', () => {
    const old = [message('USER', 'do it', -600_000), message('AGENT', 'done', -500_000)];
    expect(find(old, { previous: 'done' })).toBeUndefined();
    // A clock that is behind makes nothing old by itself.
    expect(find(old, { previous: 'something else' })).toBe('done');
    expect(find([...old, message('USER', 'at the desk'), message('AGENT', 'desk')])).toBeUndefined();
  });

  it("with the same text belongs to another turn if it contains the previous task's answer", () => {
    const turn = [message('USER', 'do it', -2000), message('AGENT', 'A?', -1000), message('AGENT', 'B?')];
    expect(find(turn, { previous: 'A?' })).toBeUndefined();
    expect(find(turn, { previous: 'something else' })).toBe('B?');
  });

  it("of a daemon that keeps the instruction's uuid follows that message alone", () => {
    const mine = { ...message('USER', '<context/>'), uuid: 'mine' };
    const turn = [message('USER', 'do it'), message('AGENT', 'else')];
    expect(find(turn, { uuid: 'mine' })).toBeUndefined();
    expect(find([mine, message('AGENT', 'done'), ...turn], { uuid: 'mine' })).toBe('done');
    const arrived = (messages: Message[]) => hasArrived({ messages, hasMore: false }, { ...asked, uuid: 'mine' }, 0);
    expect([arrived(turn), arrived([mine]), arrived([mine, ...turn])]).toEqual([false, true, true]);
  });

  it('stops where the next turn begins', () => {
    const desk = [message('USER', 'and locally'), message('AGENT', 'desk')];
    expect(find([message('USER', 'do it'), message('AGENT', 'done'), ...desk])).toBe('done');
  });

  it('of a session that the task began needs no instruction, if the page is all of it', () => {
    const turn = [message('USER', '/expanded'), message('AGENT', 'done')];
    expect(find(turn, { kind: 'start' })).toBe('done');
    expect(find(turn.slice(1), { kind: 'start' })).toBe('done');
    expect(find(turn, { kind: 'start' }, true)).toBeUndefined();
  });

  it('F14: is not a text from before the task did something else', () => {
    const turn = [message('USER', 'do it', 3_600_000), message('AGENT', 'I run the build', 3_601_000)];
    // The daemon's clock is an hour ahead: it sent that a second after the beginning.
    expect(find(turn, { lastEventAtMs: sentAtMs + 2_000 })).toBeUndefined();
    expect(find(turn, { lastEventAtMs: sentAtMs + 500 })).toBe('I run the build');
  });

  const role = fc.constantFrom('USER' as const, 'AGENT' as const, 'SYSTEM' as const);
  const words = fc.constantFrom('do it', 'done', 'something else', '', ' do it ', 'please do it now');
  const page = fc.array(fc.record({ role, words, atMs: fc.integer({ min: -900_000, max: 900_000 }) }), {
    maxLength: 12,
  });
  const task = fc.record({
    kind: fc.constantFrom('start' as const, 'resume' as const),
    instruction: fc.constantFrom('do it', 'something else', ''),
    previous: words,
    lastEventAtMs: fc.option(fc.integer({ min: -1000, max: 900_000 }), { nil: undefined }),
  });

  it('is always from the agent, after the instruction, and within its turn', () => {
    fc.assert(
      fc.property(page, fc.boolean(), task, (entries, hasMore, given) => {
        const messages = entries.map((entry) => message(entry.role, entry.words, entry.atMs));
        const lastEventAtMs = given.lastEventAtMs === undefined ? undefined : sentAtMs + given.lastEventAtMs;
        const answer = answerIn({ messages, hasMore }, { ...given, sentAtMs, lastEventAtMs });
        if (!answer) return;
        const at = messages.findIndex(({ uuid }) => uuid === answer.uuid);
        expect(messages[at]).toMatchObject({ role: 'AGENT', content: answer.content });
        expect(answer.content.trim()).not.toBe('');
        const before = messages.slice(0, at).filter((one) => one.role === 'USER');
        // An instruction came before, with this text unless the whole session is this task.
        if (given.kind === 'resume' || hasMore) expect(before.at(-1)!.content).toContain(given.instruction);
        // Nothing of the agent is between it and the next turn.
        const after = messages.slice(at + 1);
        const next = after.findIndex((one) => one.role === 'USER');
        for (const one of after.slice(0, next < 0 ? undefined : next))
          expect(one.role === 'AGENT' && one.content.trim() !== '').toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('F1: whether an answer completes the task', () => {
  const one: TurnAnswer = { uuid: 'a', content: 'done', timestamp: '', length: 1, earlier: [] };
  const other: TurnAnswer = { uuid: 'b', content: 'more', timestamp: '', length: 2, earlier: [] };
  const answer = fc.constantFrom(undefined, one, other, { ...one, length: 2 });
  const circumstances: fc.Arbitrary<Circumstances> = fc.record({
    before: answer,
    now: answer,
    omitted: fc.boolean(),
    listed: fc.boolean(),
    active: fc.boolean(),
    last: fc.boolean(),
  });

  it('never holds without an answer, for a growing one unless the daemon omits the task, or for an active session unless it does', () => {
    fc.assert(
      fc.property(circumstances, (given) => {
        if (!isEnd(given)) return;
        const { before, now, omitted, listed, active, last } = given;
        expect(now).toBeDefined();
        if (omitted) return;
        expect(active).toBe(false);
        expect([before?.content, before?.length]).toEqual([now!.content, now!.length]);
        // The relay trusts a shrinking list throughout the search.
        if (listed) expect(last).toBe(true);
      }),
    );
  });

  it('holds immediately when the daemon omits the task, and later the more evidence shows it as running', () => {
    const nothing = { before: undefined, now: one, omitted: false, listed: false, active: false, last: false };
    expect(isEnd({ ...nothing, omitted: true })).toBe(true);
    expect(isEnd(nothing)).toBe(false);
    expect(isEnd({ ...nothing, before: one })).toBe(true);
    expect(isEnd({ ...nothing, before: one, listed: true })).toBe(false);
    expect(isEnd({ ...nothing, before: one, listed: true, last: true })).toBe(true);
    expect(isEnd({ ...nothing, before: one, omitted: true, active: true, last: true })).toBe(true);
  });
});
