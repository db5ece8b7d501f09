/** The frames of a transcript (ADR 35): joined operations, omitted ones, and the versions that show it. */
import { describe, expect, it } from '@jest/globals';
import { type Operation, transcriptLimits } from '@relay/protocol';
import type { Fields } from '../src/transcript/content.ts';
import { createMapper } from '../src/transcript/mapper.ts';
import { createStream } from '../src/transcript/stream.ts';
import { manualClock } from './clocks.ts';

/** A stream whose log is a number: `write` creates a change of the next version, like the store. */
function stream() {
  const clock = manualClock();
  const frames: { v: number; ops: readonly Operation[] }[] = [];
  const state = { version: 0, receives: true };
  const one = createStream({
    sessionId: 's',
    taskId: () => 't',
    clock,
    joinMs: 250,
    prints: false,
    next: () => state.version + 1,
    advance: () => void (state.version += 1),
    send: () => (state.receives ? ({ v, ops }) => void frames.push({ v, ops }) : undefined),
  });
  const write = (...ops: Operation[]) => one.push(ops, state.version + 1);
  /** A frame that is due at once is sent after the current tick. */
  const tick = () => Promise.resolve();
  return { clock, frames, state, write, tick };
}
const add = (uuid: string, text: string): Operation => ({ op: 'add', uuid, text });
const textOf = (frames: readonly { ops: readonly Operation[] }[]) =>
  frames.flatMap(({ ops }) => ops.map((op) => (op.op === 'add' ? op.text : ''))).join('');

describe('the changes of a session', () => {
  it('are sent at once after a silence, and joined for 250 ms after a frame', async () => {
    const { clock, frames, write, tick } = stream();
    write(add('a', 'one'));
    await tick();
    expect(frames).toEqual([{ v: 1, ops: [add('a', 'one')] }]);
    write(add('a', ' two'));
    clock.advance(100);
    write(add('a', ' three'));
    write(add('b', 'other'), add('a', ' four'));
    clock.advance(149);
    expect(frames).toHaveLength(1);
    clock.advance(1);
    expect(frames[1]).toEqual({ v: 2, ops: [add('a', ' two three'), add('b', 'other'), add('a', ' four')] });
    clock.advance(10_000);
    expect(frames).toHaveLength(2);
  });

  it('are at most four frames a second, without losing text', async () => {
    const { clock, frames, write, tick } = stream();
    const words = Array.from({ length: 1000 }, (_, n) => `${n} `);
    for (const word of words) {
      write(add('a', word));
      await tick();
      clock.advance(10);
    }
    clock.advance(250);
    expect(frames.length).toBeLessThanOrEqual(10 * 4 + 1);
    expect(frames.map(({ v }) => v)).toEqual(frames.map((_, n) => n + 1));
    expect(textOf(frames)).toBe(words.join(''));
  });

  it.each([
    ['one of more than 48 KiB', [add('a', 'x'.repeat(transcriptLimits.operationBytes))]],
    ['some of more than 64 KiB', Array.from({ length: 5 }, (_, n) => add(`${n}`, 'x'.repeat(15 * 1024)))],
    ['more than 1,000', Array.from({ length: transcriptLimits.operations + 1 }, (_, n) => add(`${n}`, 'x'))],
  ])('are a skipped version, which apps request: %s', async (_name, ops) => {
    const { clock, frames, state, write, tick } = stream();
    write(add('a', 'before'));
    await tick();
    write(...ops);
    clock.advance(250);
    expect(state.version).toBe(2);
    clock.advance(250);
    write(add('a', 'behind'));
    await tick();
    expect(frames).toEqual([
      { v: 1, ops: [add('a', 'before')] },
      { v: 3, ops: [add('a', 'behind')] },
    ]);
  });

  it('to one text stay apart if they would exceed 48 KiB together', async () => {
    const { clock, frames, write, tick } = stream();
    const pieces = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(15 * 1024));
    write(...pieces.map((piece) => add('a', piece)));
    await tick();
    clock.advance(250);
    expect(frames).toHaveLength(1);
    for (const op of frames[0]!.ops)
      expect(Buffer.byteLength(JSON.stringify(op))).toBeLessThanOrEqual(transcriptLimits.operationBytes);
    expect(textOf(frames)).toBe(pieces.join(''));
  });

  it('are skipped versions too if the relay does not accept them', async () => {
    const { clock, frames, state, write, tick } = stream();
    state.receives = false;
    for (let n = 0; n < 3; n += 1) {
      write(add('a', 'away'));
      await tick();
      clock.advance(250);
    }
    state.receives = true;
    write(add('a', 'here'));
    await tick();
    expect(frames).toEqual([{ v: 4, ops: [add('a', 'here')] }]);
  });
});

describe('the output of a tool', () => {
  it('beyond its bound is shown again every 2 s at most, and after its last byte', () => {
    let now = 0;
    const options = { sessionId: 's', cwd: '/', detail: 'full', thoughts: true } as const;
    const mapper = createMapper({ ...options, now: () => now });
    const call = { toolCallId: 'c', title: 'npm test', kind: 'execute', status: 'in_progress' };
    mapper.update({ sessionUpdate: 'tool_call', ...call });
    const update = (more: Fields) => mapper.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c', ...more });
    const shown: { at: number; change: unknown }[] = [];
    for (let line = 0; line < 400; line += 1) {
      now = line * 50;
      const data = `${line} ${'x'.repeat(500)}\n`;
      for (const change of update({ _meta: { terminal_output_delta: { data } } })) shown.push({ at: now, change });
    }
    const again = shown.filter(({ change }) => (change as Operation).op === 'set').map(({ at }) => at);
    expect(again.length).toBeGreaterThan(3);
    for (const [n, at] of again.slice(1).entries()) expect(at - again[n]!).toBeGreaterThanOrEqual(2000);
    const [last] = update({ status: 'completed' });
    expect(last).toMatchObject({ op: 'set', part: { output: expect.stringMatching(/\n399 x+\n$/) } });
  });
});
