import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '@relay/protocol';
import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { loadWords } from '../src/catalogue.ts';
import { RowView } from '../src/transcript/item-view.tsx';
import { type LogItem, itemOf } from '../src/transcript/items.ts';
import { changedWords } from '../src/transcript/parts/changed-words.ts';
import { linesOf, diffsOf } from '../src/transcript/parts/patch.ts';
import { colouredLines } from '../src/transcript/parts/terminal-colours.ts';
import { plainOutput } from '../src/transcript/parts/terminal-text.ts';
import { noMemory, rowsOf } from '../src/transcript/rows.ts';
import { createTexts } from '../src/transcript/texts.ts';
import { settled } from '../src/transcript/use-items.ts';

/** The types of the pages exclude Node. */
declare const process: { env: { STORIES?: string } };
const runs = process.env.STORIES ? 6000 : 750;

beforeAll(async () => {
  await loadWords('frame', 'session', 'errors');
});

const at = '2026-11-20T10:00:00.000Z';
const texts = createTexts((work) => work());
const item = (uuid: string, part: LogItem['part'], content = '', timestamp = at): LogItem => ({
  uuid,
  role: part.kind === 'user' ? 'USER' : 'AGENT',
  content,
  timestamp,
  seq: 0,
  part,
});
const tool = (uuid: string, fields: Record<string, unknown> = {}, timestamp = at) =>
  item(uuid, { kind: 'tool', id: uuid, title: uuid, does: 'read', status: 'completed', ...fields }, '', timestamp);
const rows = (items: readonly LogItem[], memory = noMemory()) => rowsOf(items, { memory, hasMore: true });
const html = (items: readonly LogItem[]) =>
  rows(items)
    .map((row) => renderToStaticMarkup(createElement(RowView, { row, texts, onEarlier: () => {} })))
    .join('\n');

describe('items', () => {
  const message: Message = { uuid: 'm', role: 'AGENT', content: 'Hello', timestamp: at };

  it('are plain messages in the shape of items, one object each', () => {
    expect(itemOf(message)).toMatchObject({ uuid: 'm', content: 'Hello', part: { kind: 'text' } });
    expect(itemOf(message)).toBe(itemOf(message));
    expect(itemOf({ ...message, role: 'USER' }).part.kind).toBe('user');
    expect(itemOf({ ...message, role: 'SYSTEM' }).part.kind).toBe('error');
    expect(itemOf({ ...message, part: { kind: 'thought' } }).part.kind).toBe('thought');
  });

  it('that only grow do not change the list', () => {
    const store = createTexts((work) => work());
    const before = settled([], [item('a', { kind: 'text', open: true }, 'Hel')], store);
    const after = settled(before, [item('a', { kind: 'text', open: true }, 'Hello')], store);
    expect(after).toBe(before);
    expect(store.get('a')).toBe('Hello');
    const ended = settled(after, [item('a', { kind: 'text' }, 'Hello!')], store);
    expect(ended).not.toBe(after);
    expect(store.get('a')).toBeUndefined();
  });
});

describe('rows', () => {
  const kinds = (items: readonly LogItem[]) => rows(items).map(({ kind }) => kind);

  it('fold consecutive completed reads and searches, and nothing else', () => {
    expect(kinds([tool('a')])).toEqual(['tools']);
    expect(html([tool('a'), tool('b'), tool('d', { does: 'search' })])).toContain('Read 2 files, searched');
    const asked = { answer: 'allowed' };
    const others: Record<string, unknown>[] = [
      ...['edit', 'delete', 'move', 'execute', 'other', 'new'].map((does) => ({ does })),
      ...['pending', 'running', 'failed', 'rejected', 'cancelled', 'unknown', 'interrupted'].map((status) => ({
        status,
      })),
      { asked },
      { exit: 1 },
      { diffs: [{ path: 'a', change: 'add' }] },
    ];
    for (const fields of others)
      expect(kinds([tool('a'), tool('b', { does: 'search' }), tool('c', fields), tool('d', fields)])).toEqual([
        'folded',
        'tools',
      ]);
  });

  it('take a call out of its fold when it has changed a file or failed', () => {
    for (const fields of [{ diffs: [{ path: 'a', change: 'edit' }] }, { status: 'failed' }]) {
      const memory = noMemory();
      const seen = (list: readonly LogItem[]) => rows(list, memory).map(({ key, kind }) => `${kind} ${key}`);
      expect(seen([tool('a'), tool('b'), tool('c')])).toEqual(['folded a']);
      expect(seen([tool('a'), tool('b'), tool('c', fields)])).toEqual(['folded a', 'tools c']);
    }
  });

  it('stay unchanged when a call completes, when more arrive, and when older ones load', () => {
    const memory = noMemory();
    const running = [tool('x', { status: 'running' }), tool('y', { status: 'running' })];
    const keys = (items: readonly LogItem[]) => rows(items, memory).map(({ key, kind }) => `${kind} ${key}`);
    expect(keys(running)).toEqual(['tools x']);
    expect(keys([tool('x'), tool('y')])).toEqual(['tools x']);
    expect(keys([tool('v'), tool('w'), tool('x'), tool('y')])).toEqual(['folded v', 'tools x']);
  });

  it('start a day with its line, but not above the first item while older ones can follow', () => {
    const list = [item('a', { kind: 'text' }, 'A'), item('b', { kind: 'text' }, 'B', '2026-11-21T12:00:00.000Z')];
    expect(rows(list).map(({ key }) => key)).toEqual(['a', 'day b', 'b']);
    expect(rowsOf(list, { memory: noMemory(), hasMore: false })[0]).toMatchObject({ kind: 'day', key: 'day a' });
  });

  it('show the rejected call as rejected, and no other', () => {
    const call = (uuid: string) =>
      item(uuid, { kind: 'tool', status: 'failed', command: 'rm -rf build', does: 'execute' });
    const options = [{ id: 'n', label: 'No', kind: 'reject_once' }];
    const question = { title: 'Allow?', options, subject: { type: 'command', command: 'rm -rf build' } };
    const asked = (option: string) =>
      item('q', { kind: 'question', state: 'answered', question, answer: { option, at } });
    const list = [call('before'), call('asked'), asked('n'), call('after')];
    for (let time = 0; time < 2; time += 1) rows(list);
    const states = rows(list).flatMap((row) =>
      row.kind === 'tools' ? row.calls.map(({ tool: { status } }) => status) : [],
    );
    expect(states).toEqual(['failed', 'rejected', 'failed']);
    expect(html(list)).toContain('Rejected');
    expect(html([call('asked'), asked('another')])).not.toContain('Rejected');
  });

  it('omit open questions and items without visible content', () => {
    const question = { kind: 'question', state: 'open', question: { title: 'Go?' } };
    expect(kinds([item('q', question), item('u', { kind: 'usage' }), item('e', { kind: 'later' })])).toEqual([]);
    expect(html([item('q', { ...question, state: 'answered', answer: { text: 'Yes', at } })])).toContain('Yes:');
  });

  it('show a choice once, and a text in addition to the choices as a message', () => {
    const question = item('q', { kind: 'question', state: 'answered', answer: { text: 'Yes', at } });
    const message = (content: string, answers: string) => item('m', { kind: 'user', answers }, content);
    expect(rows([question, message('Yes', 'q')]).map(({ key }) => key)).toEqual(['q']);
    expect(rows([question, message('Yes', 'another')]).map(({ key }) => key)).toEqual(['q', 'm']);
    expect(rows([question, message('Yes, but tell me why', 'q')]).map(({ key }) => key)).toEqual(['q', 'm']);
  });
});

describe('parts', () => {
  it('show each state of a call with an icon and a word', () => {
    const statuses = [
      'pending',
      'running',
      'completed',
      'failed',
      'rejected',
      'cancelled',
      'unknown',
      'interrupted',
      'later',
    ];
    const shown = statuses.map((status) =>
      html([
        tool('npm test', { does: 'execute', command: 'npm test', status, output: status === 'failed' ? 'boom' : '' }),
      ]),
    );
    const verbs = ['Waiting', 'Running', 'Ran', 'Failed', 'Rejected', 'Cancelled', 'Unknown', 'Unknown', 'Unknown'];
    for (const [index, word] of verbs.entries()) expect(shown[index]).toContain(`>${word}<`);
    expect(shown.map((one) => one.includes('aria-label="Done"'))).toEqual(statuses.map((one) => one === 'completed'));
    expect(shown[3]).toContain('boom');
    expect(new Set(shown.map((one) => /class="lucide ([^"]*)"/.exec(one)?.[1])).size).toBeGreaterThanOrEqual(3);
  });

  it('show the diff of a call instead of its input', () => {
    const diffs = [{ path: 'a', change: 'edit', added: 1, removed: 0, hunks: [{ old: 1, new: 1, lines: ['+roses'] }] }];
    const input = '{"path":"a"}';
    expect(html([tool('a', { does: 'edit', input, diffs })])).not.toContain('path&quot;');
    expect(html([tool('a', { does: 'edit', input, status: 'failed' })])).toContain('path&quot;');
  });

  it('never break the page, for any content', () => {
    const kind = fc.constantFrom(
      'user',
      'text',
      'thought',
      'tool',
      'plan',
      'usage',
      'question',
      'image',
      'error',
      'mark',
      'later',
      'constructor',
    );
    const names = fc.constantFrom(
      'id',
      'name',
      'does',
      'title',
      'status',
      'input',
      'command',
      'output',
      'left',
      'exit',
      'places',
      'diffs',
      'entries',
      'images',
      'question',
      'state',
      'answer',
      'what',
      'text',
      'open',
      'data',
      'mime',
      'bytes',
      'hunks',
      'lines',
      'path',
      'options',
      'at',
      'by',
    );
    const nested = (levels: number): unknown =>
      JSON.parse(`${'{"hunks":['.repeat(levels)}1${']}'.repeat(levels)}`) as unknown;
    const { any } = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.anything({ maxDepth: 1 }),
        fc.string(),
        fc.constantFrom('constructor', '__proto__', '\ud800', '\u202e', '\u001b[2J', 'x'.repeat(50_000)),
        fc.constantFrom(100, 5000).map(nested),
        fc.integer(),
        tie('object'),
        fc.array(tie('any'), { maxLength: 4 }),
      ),
      object: fc.dictionary(names, tie('any'), { maxKeys: 8 }),
    }));
    fc.assert(
      fc.property(kind, fc.dictionary(names, any, { maxKeys: 10 }), fc.string(), (name, fields, content) => {
        const shown = html([
          item('a', { ...fields, kind: name }, content),
          item('b', { ...fields, kind: name }, content),
        ]);
        expect(shown.length).toBeLessThan(4_000_000);
        // The page shows an unknown kind by its content.
        if (/^\w+$/.test(content) && ['later', 'constructor'].includes(name) && fields['open'] !== true)
          expect(shown).toContain(content);
      }),
      { numRuns: runs, seed: 20261123 },
    );
  });
});

describe('a diff', () => {
  const patch =
    '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -11,2 +11,3 @@\n const router = Router();\n+const limit = 1;\n-post(signedIn, create);\n+post(signedIn, limit, create);\n';

  it('is parsed from text', () => {
    expect(diffsOf(patch)).toMatchObject([{ path: 'src/a.ts', change: 'edit', added: 2, removed: 1 }]);
    expect(diffsOf('no diff at all')).toEqual([]);
    expect(diffsOf('@@ -1,5 +1 @@\n+x')).toEqual([]);
  });

  it('numbers its lines and marks changed parts', () => {
    const hunk = { old: 14, new: 14, lines: [' a', '-post(x, create);', '+post(x, limit, create);', ' b'] };
    const lines = linesOf(hunk, changedWords);
    expect(lines.map(({ number }) => number)).toEqual([14, 15, 15, 16]);
    const [from, to] = lines[2]!.marks[0]!;
    expect(lines[2]!.text.slice(from, to)).toContain('limit');
  });
});

describe('output', () => {
  it('has its colours as classes, and copies without them', () => {
    const text =
      '\u001b[31merror\u001b[0m plain \u001b]8;;https://a.example\u0007link\u001b]8;;\u0007\n10%\r50%\r100%\n<b>';
    expect(colouredLines(text)).toEqual([
      [
        ['error', 'a-red'],
        [' plain link', ''],
      ],
      [['100%', '']],
      [['<b>', '']],
    ]);
    expect(plainOutput(text)).toBe('error plain link\n100%\n<b>');
  });
});
