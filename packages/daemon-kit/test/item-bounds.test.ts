/**
 * The bounds of items (ADR 35), on the list that results from the changes of a mapper: items stay within them for any
 * input of an agent.
 */
import { describe, expect, it } from '@jest/globals';
import { type Item, type Operation, applyOperations, transcriptLimits } from '@relay/protocol';
import { questionOf } from '../src/task-ends.ts';
import type { Fields } from '../src/transcript/content.ts';
import { type Mapper, createMapper } from '../src/transcript/mapper.ts';
import type { MapperOptions } from '../src/transcript/mapper-options.ts';

const bytes = (text: unknown) => Buffer.byteLength(typeof text === 'string' ? text : JSON.stringify(text), 'utf8');

/** The list after these updates. */
function listOf(updates: readonly Fields[], options: Partial<MapperOptions> = {}): Item[] {
  let now = 0;
  const mapper: Mapper = createMapper({
    sessionId: 's',
    cwd: '/',
    detail: 'full',
    thoughts: true,
    now: () => (now += 10),
    ...options,
  });
  let seq = 0;
  const placed = (changes: ReturnType<Mapper['update']>) =>
    changes.map((change) =>
      change.op === 'put'
        ? { op: 'put', item: { timestamp: '2026-01-01T00:00:00.000Z', ...change.item, seq: (seq += 1) } }
        : change,
    ) as Operation[];
  const made = updates.reduce<Item[]>((items, update) => applyOperations(items, placed(mapper.update(update))), []);
  return applyOperations(made, placed(mapper.close('ended')));
}

const chunk = (kind: 'message' | 'thought', text: string): Fields => ({
  sessionUpdate: `agent_${kind}_chunk`,
  messageId: 'm1',
  content: { type: 'text', text },
});
const call = (more: object): Fields => ({
  sessionUpdate: 'tool_call',
  toolCallId: 'c1',
  title: 'Work',
  kind: 'execute',
  status: 'in_progress',
  ...more,
});
const output = (data: string): Fields => ({
  sessionUpdate: 'tool_call_update',
  toolCallId: 'c1',
  _meta: { terminal_output_delta: { data } },
});

describe('the bounds on an item', () => {
  it.each([
    ['message', 'text', transcriptLimits.textBytes, 256],
    ['thought', 'thought', transcriptLimits.thoughtBytes, 32],
  ] as const)('continue a long %s in a next item, and lose no character', (kind, part, bound, kibibytes) => {
    expect(bound).toBe(kibibytes * 1024);
    // Characters of one to four bytes, and pieces that can stop anywhere.
    const text = 'aäé🌱 '.repeat(Math.ceil((bound * 2.5) / 11));
    const pieces = text.match(/[^]{1,7777}/gu)!;
    const items = listOf(pieces.map((piece) => chunk(kind, piece)));
    expect(items.map((item) => item.part.kind)).toEqual([part, part, part]);
    expect(items.map(({ content }) => content).join('')).toBe(text);
    for (const { content } of items) expect(bytes(content)).toBeLessThanOrEqual(bound);
    expect(new Set(items.map(({ uuid }) => uuid)).size).toBe(3);
    const [whole] = listOf([chunk(kind, text)]);
    expect(whole!.content).toBe(items[0]!.content);
  });

  it('keep the first 4 and the last 12 KiB of the output of a tool, and count the rest', () => {
    const lines = Array.from({ length: 9000 }, (_, n) => `line ${n}\n`);
    const [tool] = listOf([call({}), ...lines.map(output)]);
    const { output: shown, left } = tool!.part as unknown as { output: string; left: number };
    const whole = lines.join('');
    expect(bytes(shown)).toBeLessThanOrEqual(16 * 1024 + 200);
    expect(shown.slice(0, 4000)).toBe(whole.slice(0, 4000));
    expect(shown.endsWith(whole.slice(-12_000))).toBe(true);
    expect(left).toBeGreaterThanOrEqual(whole.length - 16 * 1024);
    expect(left).toBeLessThan(whole.length);
  });

  it('cut the title, the command and the input of a tool at 4 KiB', () => {
    const huge = 'ß'.repeat(500_000);
    const [tool] = listOf([call({ title: huge, rawInput: { command: huge, other: huge } })]);
    const { title, command, input } = tool!.part as Record<string, unknown>;
    for (const text of [title, command, input].filter((one) => one !== undefined))
      expect(bytes(text)).toBeLessThanOrEqual(4 * 1024);
    expect(command).toMatch(/^ß+/);
  });

  it('lose nothing of a large tool call in its later updates', () => {
    const large = call({
      name: 'Run',
      parent: 'c0',
      rawInput: { command: 'npm test', cwd: '/work' },
      rawOutput: 'x'.repeat(100_000),
      locations: [{ path: '/a.ts', line: 3 }],
    });
    const later = (more: object): Fields => ({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', ...more });
    const [tool] = listOf([
      large,
      later({ status: 'in_progress' }),
      later({ title: 'Tests' }),
      later({ status: 'failed' }),
    ]);
    expect(tool!.part).toMatchObject({
      does: 'execute',
      title: 'Tests',
      status: 'failed',
      name: 'Run',
      parent: 'c0',
      command: 'npm test',
      cwd: '/work',
      places: [{ path: 'a.ts', line: 3 }],
    });
  });

  it('keep 50 files and 64 KiB of changes, the others by name or not at all', () => {
    const diff = (n: number, lines: number) => ({
      type: 'diff',
      path: `/file-${n}.ts`,
      oldText: '',
      newText: `${n}\n`.repeat(lines),
    });
    const [many] = listOf([call({ kind: 'edit', content: Array.from({ length: 400 }, (_, n) => diff(n, 2)) })]);
    expect(many!.part.diffs).toHaveLength(50);
    const [large] = listOf([call({ kind: 'edit', content: Array.from({ length: 40 }, (_, n) => diff(n, 3000)) })]);
    const diffs = large!.part.diffs as { path: string; hunks?: unknown }[];
    expect(bytes(diffs)).toBeLessThanOrEqual(64 * 1024);
    expect(diffs.length).toBeGreaterThan(0);
  });

  it('keep 16 KiB and 200 steps of a plan', () => {
    const steps = (count: number, text: string) => [
      { sessionUpdate: 'plan', entries: Array.from({ length: count }, () => ({ content: text, status: 'pending' })) },
    ];
    const [many] = listOf(steps(1000, 'step'));
    expect(many!.part.entries).toHaveLength(200);
    const [large] = listOf(steps(30, 'é'.repeat(5000)));
    const texts = (large!.part.entries as { text: string }[]).map(({ text }) => text).join('');
    expect(bytes(texts)).toBeLessThanOrEqual(16 * 1024);
    expect(bytes(texts)).toBeGreaterThan(16 * 1024 - 4);
  });

  it('keep a question within 64 KiB: without its subject, without its fields, but never without its text', () => {
    const input = 'x'.repeat(4000);
    const hunks = [{ old: 1, new: 1, lines: Array.from({ length: 2000 }, () => `+${'y'.repeat(60)}`) }];
    const diffs = [{ path: 'a.ts', change: 'edit' as const, added: 2000, removed: 0, hunks }];
    const edit = questionOf({ prompt: 'Edit?', subject: { type: 'edit', diffs } });
    expect(edit).toMatchObject({ title: 'Edit?' });
    expect(edit.subject).toBeUndefined();
    const fields = Array.from({ length: 100 }, (_, n) => ({ name: `f${n}`, title: input.slice(0, 900), type: 'text' }));
    const form = questionOf({ prompt: 'Fill in', kind: 'form', fields });
    expect(form.fields).toBeUndefined();
    expect(form.kind).toBe('text');
    for (const question of [edit, form]) expect(bytes(question)).toBeLessThanOrEqual(64 * 1024);
    const small = questionOf({ prompt: 'Fill in', kind: 'form', fields: fields.slice(0, 3) });
    expect(small).toMatchObject({ kind: 'form', fields: fields.slice(0, 3) });
  });
});
