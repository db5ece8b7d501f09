/** The log is a true account: each call with its state, each change, and the current work. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Item, type Operation, type Session, applyOperations } from '@relay/protocol';
import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { loadWords } from '../src/catalogue.ts';
import { doing } from '../src/conversation/activity.tsx';
import { RowView } from '../src/transcript/item-view.tsx';
import { noMemory, rowsOf } from '../src/transcript/rows.ts';
import { createTexts } from '../src/transcript/texts.ts';

beforeAll(async () => {
  await loadWords('frame', 'session', 'errors');
});

const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 10, 0, second)).toISOString();
const item = (uuid: string, seq: number, part: Item['part'], content = ''): Item => ({
  uuid,
  role: part.kind === 'user' ? 'USER' : 'AGENT',
  content,
  timestamp: at(0),
  seq,
  part,
});
const texts = createTexts((work) => work());
const html = (items: readonly Item[], memory = noMemory()) =>
  rowsOf(items, { memory, hasMore: true })
    .map((row) => renderToStaticMarkup(createElement(RowView, { row, texts, onEarlier: () => {} })))
    .join('\n');
const words = (items: readonly Item[]) =>
  html(items)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

const call = (uuid: string, seq: number, fields: Record<string, unknown>) =>
  item(uuid, seq, { kind: 'tool', id: uuid, title: uuid, status: 'completed', ...fields });
const command = 'rm -rf build';
const options = [
  { id: 'y', label: 'Yes', kind: 'allow_once' },
  { id: 'all', label: 'Always allow rm', kind: 'allow_always' },
  { id: 'n', label: 'No', kind: 'reject_once' },
];
const question = (option?: string, uuid = 'q', seq = 2) =>
  item(uuid, seq, {
    kind: 'question',
    state: option === undefined ? 'open' : 'answered',
    question: { title: 'Remove the build folder?', options, subject: { type: 'command', command } },
    ...(option === undefined ? {} : { answer: { option, at: at(5), by: 'iPhone' } }),
  });

describe('a call', () => {
  const set = (part: Record<string, unknown>): Operation => ({ op: 'set', uuid: 'c', part });
  const asked = { asked: { question: 'q', answer: 'rejected', by: 'iPhone', at: at(5) } };
  const answered: Operation = {
    op: 'set',
    uuid: 'q',
    part: { state: 'answered', answer: { option: 'n', at: at(5), by: 'iPhone' } },
  };

  it('W1: a rejected call never appears as run, in any order of events, live and reloaded', () => {
    const ends = ['completed', 'failed', 'cancelled', 'unknown', 'interrupted', 'running', 'later'];
    const news: fc.Arbitrary<Operation[]> = fc.oneof(
      // The daemon rejects the call at once, and no later report changes that.
      fc.constant<Operation[]>([answered, set({ ...asked, status: 'rejected' }), set({ output: 'no' })]),
      // The answer is known, but the update of the call is still missing. Older daemons close it as completed.
      fc.constantFrom(...ends).map((status) => [set({ status }), answered, set({ output: 'no' })]),
    );
    const does = fc.constantFrom('execute', 'read', 'edit', 'delete', 'other');
    const link = fc.constantFrom({}, { asked: { question: 'q' } });
    const story = fc.record({
      does,
      link,
      ops: news.chain((ops) => fc.shuffledSubarray(ops, { minLength: ops.length })),
    });
    fc.assert(
      fc.property(story, fc.constantFrom('pending', 'running'), (told, status) => {
        const memory = noMemory();
        const around = [call('a', 0, { does: 'read' }), call('b', 3, { does: 'read' })];
        let items: Item[] = [...around, call('c', 1, { does: told.does, command, status, ...told.link }), question()];
        items.sort((one, other) => one.seq - other.seq);
        html(items, memory);
        told.ops.forEach((op) => {
          items = applyOperations(items, [op]);
          const isAnswered = items.some(({ part }) => part['state'] === 'answered');
          const live = html(items, memory);
          if (!isAnswered) return;
          for (const shown of [live, html(structuredClone(items))]) {
            const line = /<div class="call"(?:(?!<div class="call").)*rm -rf build/s.exec(shown)?.[0] ?? '';
            expect(line).toContain('>Rejected<');
            expect(/data-status="(\w+)"(?:(?!data-status).)*rm -rf build/s.exec(shown)?.[1]).toBe('rejected');
            expect(shown.split('rm -rf build')).toHaveLength(2);
          }
        });
      }),
      { numRuns: 60, seed: 20261128 },
    );
  });

  it('W1: an allowed call is one line, with its answer', () => {
    const linked = { does: 'execute', command, asked: { question: 'q', answer: 'allowed', by: 'iPhone', at: at(5) } };
    const shown = words([call('c', 1, linked), question('y')]);
    expect(shown).toMatch(/Ran rm -rf build.*Allowed on iPhone/);
    expect(shown).not.toContain('Remove the build folder?');
    // An older daemon does not link them.
    expect(words([call('c', 1, { does: 'execute', command }), question('all')])).toMatch(
      /^ ?Ran rm -rf build Always allow rm · Allowed on iPhone · [^?]*$/,
    );
    const atMachine = { does: 'execute', command, asked: { answer: 'rejected', by: 'machine', at: at(5) } };
    expect(words([call('c', 1, { ...atMachine, status: 'rejected' })])).toMatch(/Rejected rm -rf build At the machine/);
  });

  it('W1: a question without an answer, or about another call, keeps its line', () => {
    const expired = { ...question(), part: { ...question().part, state: 'expired' } };
    expect(words([call('c', 1, { command, asked: { question: 'q' } }), expired])).toContain('Remove the build folder?');
    expect(words([call('c', 1, { command: 'ls' }), question('y')])).toContain('Remove the build folder?');
    expect(words([call('c', 1, { command }), question('y'), question('n', 'q2', 3)])).toContain('Remove the build');
  });

  it('W1: a text that answered a permission stays a message', () => {
    const given = { state: 'answered', answer: { text: 'Use trash instead', at: at(5) } };
    const asking = { ...question(), part: { ...question().part, ...given } };
    const said = item('m', 3, { kind: 'user', answers: 'q' }, 'Use trash instead');
    const rejected = { command, status: 'rejected', asked: { question: 'q', answer: 'rejected', at: at(5) } };
    expect(words([call('c', 1, rejected), asking, said])).toContain('Use trash instead');
    expect(words([call('c', 1, rejected), question('n'), { ...said, content: 'No' }])).not.toMatch(/\bNo\b/);
  });

  it('W1: appears as not run only if its permission was never answered', () => {
    const cancelled = { does: 'execute', command, status: 'cancelled' };
    expect(words([call('c', 1, { ...cancelled, asked: { question: 'q' } })])).toContain('Not run');
    expect(words([call('c', 1, { ...cancelled, asked: { question: 'q', answer: 'allowed' } })])).toContain('Cancelled');
    expect(words([call('c', 1, cancelled)])).toContain('Cancelled');
  });

  it('W1: has its exit code, and its run time without the wait for an answer', () => {
    const ran = { does: 'execute', command, ended: at(8) };
    expect(words([call('c', 1, ran)])).toContain(' 8s ');
    const allowed = { ...ran, asked: { question: 'q', answer: 'allowed', at: at(5) } };
    expect(words([call('c', 1, allowed)])).toContain(' 3s ');
    const failed = html([call('c', 1, { ...ran, exit: 2 })]);
    expect(failed).toContain('exit 2');
    expect(failed).not.toContain('aria-label="Done"');
    expect(words([call('c', 1, { ...ran, status: 'rejected' })])).not.toContain('8s');
  });
});

describe('changes', () => {
  const diff = (path: string, change: string, lines: readonly string[]) => ({
    path,
    change,
    added: lines.length,
    removed: 0,
    hunks: [{ old: 0, new: 1, lines: lines.map((line) => `+${line}`) }],
  });

  it('W2: every diff of a transcript is visible without a click', () => {
    const kind = fc.constantFrom('read', 'search', 'fetch', 'edit', 'delete', 'execute', 'other', undefined);
    const status = fc.constantFrom(...Array<string>(6).fill('completed'), 'failed', 'rejected', 'running', 'unknown');
    const one = fc.record({
      does: kind,
      status,
      sizes: fc.array(fc.constantFrom(1, 41, 200), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 4 }), (calls) => {
        const items = calls.map(({ does, status: state, sizes }, index) => {
          const diffs = sizes.map((size, n) =>
            diff(
              `f${index}.${n}`,
              'edit',
              Array.from({ length: size }, (_, line) => `line ${index}.${n}.${line}.`),
            ),
          );
          return call(`c${index}`, index, { does, status: state, diffs });
        });
        const memory = noMemory();
        for (let count = 1; count <= items.length; count += 1) rowsOf(items.slice(0, count), { memory, hasMore: true });
        for (const shown of [html(items, memory), html(items)])
          calls.forEach(({ sizes }, index) =>
            sizes.forEach((size, n) => {
              expect(shown).toContain(`Changes to f${index}.${n}"`);
              for (const line of [0, Math.min(size, 80) - 1]) expect(shown).toContain(`line ${index}.${n}.${line}.`);
              expect(shown.includes('Show 120 more changed lines')).toBe(
                calls.some((each) => each.sizes.includes(200)),
              );
            }),
          );
      }),
      { numRuns: 20, seed: 20261128 },
    );
  });

  it('W23: are named by the operation on the file', () => {
    const changed = (fields: Record<string, unknown>) =>
      words([call('c', 1, { title: 'a.ts', does: 'edit', ...fields })]);
    expect(changed({ diffs: [diff('a.ts', 'add', ['x'])] })).toContain('Created a.ts');
    expect(changed({ diffs: [diff('a.ts', 'edit', ['x'])] })).toContain('Edited a.ts');
    expect(changed({ diffs: [diff('a.ts', 'delete', ['x'])] })).toContain('Deleted a.ts');
    expect(changed({ does: 'delete' })).toContain('Deleted a.ts');
    expect(changed({ status: 'running', diffs: [diff('a.ts', 'add', ['x'])] })).toContain('Creating a.ts');
    const both = changed({ title: '2 files', diffs: [diff('a.ts', 'add', ['x']), diff('b.ts', 'delete', ['x'])] });
    expect(both).toMatch(/Edited 2 files.*Created a\.ts.*Deleted b\.ts/);
    const asked = { status: 'rejected', diffs: [diff('a.ts', 'add', ['x']), diff('b.ts', 'delete', ['x'])] };
    expect(changed(asked)).not.toMatch(/Created|Deleted/);
  });
});

it('W7: an answer with an image shows once, without a placeholder', () => {
  const image = item('i', 3, { kind: 'image', data: 'x', mime: 'image/png', bytes: 6000 });
  const before = item('t', 2, { kind: 'text' }, 'Here is the chart:');
  const all = 'Here is the chart:\n\n[image: image/png, 6 KiB]\n\nThe bars are requests per hour.';
  const list = (content: string, more: Item[] = []) => [
    item('u', 1, { kind: 'user' }, 'Draw'),
    before,
    image,
    ...more,
    item('r', 5, { kind: 'text' }, content),
  ];
  const shown = words(list(all));
  expect(shown.split('Here is the chart:')).toHaveLength(2);
  expect(shown).not.toContain('[image:');
  expect(shown).toContain('The bars are requests per hour.');
  const after = item('t2', 4, { kind: 'text' }, 'The bars are requests per hour.');
  expect(words(list(all, [after])).split('requests per hour')).toHaveLength(2);
  // Text of the agent that appears nowhere else.
  expect(words(list('Write this:\n[image: image/png, 6 KiB]\nas it is.'))).toContain('Write this:');
});

describe('the current work', () => {
  const session = (action: string, target = '') =>
    ({
      id: 's',
      status: 'active',
      runningSince: at(0),
      lastTask: { id: 't', state: 'running' },
      progress: { action, target },
    }) as unknown as Session;
  const now = (items: readonly Item[], known = session('Running', 'npm test')) => doing(known, undefined, items);
  const ran = (status: string, more = {}) => call('c', 1, { does: 'execute', command: 'npm test', status, ...more });
  const writes = item('t', 2, { kind: 'text', open: true }, 'All tests');

  it('W15: is the open item, not the last call', () => {
    expect(now([ran('running')])).toBe('Running npm test');
    expect(now([ran('completed'), writes])).toBe('Writing');
    expect(now([ran('completed'), item('t', 2, { kind: 'thought', open: true }, 'Hm')])).toBe('Thinking');
    expect(now([ran('running'), item('t', 2, { kind: 'text' }, 'It runs.')])).toBe('Running npm test');
    expect(now([ran('completed')])).toBe('Working');
    const next = call('d', 2, { does: 'execute', command: 'npm run lint', status: 'pending' });
    expect(now([ran('running'), next])).toBe('Running npm test');
    expect(now([ran('completed'), next])).toBe('Waiting npm run lint');
    expect(now([ran('pending', { asked: { question: 'q' } })], session('Thinking'))).not.toContain('npm test');
  });

  it('W15: is the last progress if no item is open', () => {
    expect(now([])).toBe('Running npm test');
    expect(now([ran('completed')], session('Sending the message again'))).toBe('Sending the message again');
    expect(
      doing({ ...session('Running'), lastTask: undefined, status: 'idle' } as unknown as Session, undefined, []),
    ).toBe(undefined);
  });
});
