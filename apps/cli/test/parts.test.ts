/**
 * The command line shows any part, whatever it contains (ADR 35: the relay has not checked it). It never throws, bounds
 * its output, sends no control character to the terminal, and shows an unknown kind by its content.
 */
import { describe, expect, it } from '@jest/globals';
import { TranscriptCopy } from '@relay/client';
import { type Item, isItem } from '@relay/protocol';
import fc from 'fast-check';
import { type Streams, terminalOn } from '@relay/machine';
import type { AnyFrame } from '../src/happenings.ts';
import { createItemsView } from '../src/show/items.ts';
import { createOverview } from '../src/show/overview.ts';
import { promptText } from '../src/show/question.ts';
import { styleOf } from '../src/show/style.ts';
import { plain } from '../src/show/text.ts';

const seed = 20261123;
const parts = process.env.STORIES ? 12_000 : 1500;

const hostileText = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 12 }) },
  fc.constantFrom(
    '\u001b[2J\u001b[H',
    '\u001b]0;x\u0007',
    '\u202etxt.exe',
    '\u2066',
    '\u009b31m',
    '\ud800',
    'a\udc00b',
    '\r',
  ),
  fc.constantFrom('constructor', '__proto__', 'toString', 'hasOwnProperty', 'NaN'),
  fc.constantFrom('x', 'é', '電', '\n', 'ab ').map((one) => one.repeat(20_000)),
);
const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(-0, Infinity, NaN, 2 ** 53, -1));
const deep = (levels: number, isList: boolean): unknown => {
  let value: unknown = 'bottom';
  for (let level = 0; level < levels; level += 1) value = isList ? [value] : { a: value, kind: 'tool' };
  return value;
};
const anything: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 5, arbitrary: hostileText },
  { weight: 2, arbitrary: number },
  fc.constantFrom(null, undefined, true, false),
  fc.jsonValue({ maxDepth: 3 }),
  fc.tuple(fc.constantFrom(10, 500, 12_000), fc.boolean()).map(([levels, isList]) => deep(levels, isList)),
);
const kinds = ['user', 'text', 'thought', 'tool', 'plan', 'usage', 'question', 'image', 'error', 'mark'] as const;
const state = fc.constantFrom(
  'open',
  'answered',
  'running',
  'completed',
  'failed',
  'pending',
  'superseded',
  'constructor',
);
const hunk = fc.record({
  old: anything,
  new: anything,
  lines: fc.oneof(anything, fc.array(anything, { maxLength: 5 })),
});
const diff = fc.record({
  path: anything,
  from: anything,
  change: anything,
  added: number,
  removed: number,
  hunks: fc.oneof(anything, fc.array(fc.oneof(hunk, anything), { maxLength: 3 })),
});
const listOf = (one: fc.Arbitrary<unknown>) => fc.oneof(anything, fc.array(fc.oneof(one, anything), { maxLength: 4 }));
const option = fc.record({ id: fc.constantFrom('1', '2'), label: anything, kind: anything });
const question = fc.record({
  title: anything,
  options: listOf(option),
  subject: fc.oneof(anything, fc.record({ type: anything, command: anything, cwd: anything, diffs: listOf(diff) })),
});
const part = fc.record(
  {
    kind: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...kinds) }, hostileText),
    open: fc.oneof(fc.constant(true), anything),
    status: fc.oneof(state, anything),
    state: fc.oneof(state, anything),
    title: anything,
    name: anything,
    command: anything,
    output: anything,
    left: anything,
    exit: anything,
    parent: anything,
    diffs: listOf(diff),
    entries: listOf(fc.record({ text: anything, status: fc.oneof(state, anything), priority: anything })),
    images: listOf(fc.record({ data: anything, mime: anything, bytes: anything })),
    mime: anything,
    bytes: anything,
    what: fc.oneof(fc.constantFrom('mode', 'cancelled', 'constructor'), anything),
    text: anything,
    question: fc.oneof(anything, question),
    answer: fc.oneof(anything, fc.record({ option: fc.constantFrom('1', '3'), text: anything, by: anything })),
  },
  { requiredKeys: ['kind'] },
);
const item = fc.record({
  uuid: fc.uuid(),
  role: fc.oneof(fc.constantFrom('USER', 'AGENT', 'SYSTEM'), hostileText),
  content: hostileText,
  timestamp: fc.oneof(fc.constant('2026-01-01T00:00:00.000Z'), hostileText),
  seq: fc.nat(1_000_000),
  v: fc.nat(),
  part,
}) as fc.Arbitrary<unknown> as fc.Arbitrary<Item>;

function screen() {
  let bytes = '';
  const stream = {
    isTTY: true,
    columns: 60,
    writableNeedDrain: false,
    write: (text: string) => Boolean((bytes += text)),
  };
  const terminal = terminalOn({ stdin: stream, stdout: stream, stderr: stream, env: {} } as unknown as Streams);
  return { terminal, take: () => [bytes, (bytes = '')][0]! };
}
const ownStyles = /\u001b\[(?:1|2|22|31|32|33|36|39)m/g;
const forbidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff](?![\udc00-\udfff])/u;
const expectHarmless = (written: string) => expect(written.replace(ownStyles, '')).not.toMatch(forbidden);
/** Every untrusted character can become `\\u001b`, with a style around each line. */
const boundOf = (one: Item) => 40_000 + one.content.length * 6 + 64 * 1024 * 6;

describe('a part of any shape', () => {
  it(`appears in relay: ${parts} of them, seed ${seed}`, () => {
    const { terminal, take } = screen();
    const style = styleOf(terminal);
    let count = 0;
    fc.assert(
      fc.property(item, fc.boolean(), fc.boolean(), (one, full, thoughts) => {
        count += 1;
        expect(isItem(one)).toBe(true);
        const view = createItemsView({ style, columns: 60, full, thoughts });
        terminal.out(view.item(one));
        terminal.out(view.item({ ...one, part: { ...one.part, open: null } }));
        terminal.out(view.interrupt());
        const written = take();
        expectHarmless(written);
        if (!full) expect(written.length).toBeLessThan(boundOf(one));
        if (!(kinds as readonly string[]).includes(one.part.kind)) {
          const words = plain(one.content).trimEnd();
          expect(written).toContain(words);
        }
      }),
      { numRuns: parts, seed },
    );
    expect(count).toBe(parts);
  });

  it('changes an item by any operation, and asks any question', () => {
    const { terminal, take } = screen();
    const style = styleOf(terminal);
    fc.assert(
      fc.property(item, part, question, (one, patch, asked) => {
        const copy = new TranscriptCopy();
        copy.take({ v: 1, hasMore: false, messages: [one] });
        const ops = [{ op: 'set', uuid: one.uuid, part: patch }, { op: 'put', item: one }, patch];
        const frame = { type: 'transcript', sessionId: 'd:a:n', v: 2, ops };
        const view = createItemsView({ style, columns: 60, full: false, thoughts: true });
        for (const changed of copy.apply(frame)) terminal.out(view.item(changed));
        terminal.out(createOverview(terminal, { sessions: [], devices: [] })(frame as unknown as AnyFrame));
        const { subject } = asked;
        const prompt = { id: 'q', prompt: 'Go on?', result: '', options: [], at: 'now', subject, fields: subject };
        terminal.out(promptText(prompt as unknown as Parameters<typeof promptText>[0], 'd:a:n', style));
        expectHarmless(take());
      }),
      { numRuns: parts / 6, seed },
    );
  });
});
