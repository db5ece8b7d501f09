/** Items, parts and operations: every reader must apply them alike. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Item,
  type Operation,
  applyOperations,
  decodeDaemonFrame,
  isItem,
  isOperation,
  isPlain,
  merged,
  mergeItems,
  parts,
  shownText,
  validator,
} from '../src/index.ts';
import { endItemUuid, foreignUuid, questionDigest, questionUuid, userItemUuid } from '../src/identity.ts';
import { registry } from '../src/registry.ts';
import { violations } from './violations.ts';

const item = (uuid: string, seq: number, more: Partial<Item> = {}): Item => ({
  uuid,
  role: 'AGENT',
  content: '',
  timestamp: '2026-03-14T09:10:00.000Z',
  seq,
  part: { kind: 'text', open: true },
  ...more,
});

describe('applyOperations', () => {
  it('appends to the content of a thought', () => {
    const thought = item('a', 1, { content: 'I could ', part: { kind: 'thought', open: true } });
    const [after] = applyOperations([thought], [{ op: 'add', uuid: 'a', to: 'thought', text: 'look' }]);
    expect(after).toEqual({ ...thought, content: 'I could look' });
  });

  it('puts, appends and merges, and stamps changed items with the version', () => {
    const [text, tool] = [item('a', 1), item('b', 2, { part: { kind: 'tool', status: 'running', title: 'x' } })];
    const after = applyOperations(
      [text],
      [
        { op: 'put', item: tool },
        { op: 'add', uuid: 'a', text: 'one ' },
        { op: 'add', uuid: 'a', text: 'two' },
        { op: 'add', uuid: 'b', to: 'output', text: 'ok\n' },
        { op: 'set', uuid: 'b', part: { status: 'completed', exit: 0, title: null } },
        { op: 'set', uuid: 'a', part: { open: null }, content: 'three' },
      ],
      7,
    );
    expect(after).toEqual([
      { ...text, content: 'three', part: { kind: 'text' }, v: 7 },
      { ...tool, part: { kind: 'tool', status: 'completed', output: 'ok\n', exit: 0 }, v: 7 },
    ]);
    expect(text.content).toBe('');
  });

  it('keeps the place of an item that is put again, and orders by place', () => {
    const after = applyOperations(
      [item('a', 3), item('b', 1)],
      [{ op: 'put', item: item('a', 9, { content: 'new' }) }],
    );
    expect(after.map(({ uuid, seq, content }) => [uuid, seq, content])).toEqual([
      ['b', 1, ''],
      ['a', 3, 'new'],
    ]);
  });

  it('passes over an item that is not there and an operation that it does not know', () => {
    const unknown = { op: 'fold', uuid: 'a' } as unknown as Operation;
    const items = [item('a', 1)];
    expect(
      applyOperations(items, [{ op: 'add', uuid: 'z', text: 'x' }, { op: 'set', uuid: 'z', part: {} }, unknown]),
    ).toEqual(items);
  });

  it('gives the same list however the operations are cut into frames', () => {
    const uuid = fc.constantFrom('a', 'b', 'c');
    const operation: fc.Arbitrary<Operation> = fc.oneof(
      fc.record({ op: fc.constant('put' as const), item: fc.tuple(uuid, fc.nat(9)).map(([id, seq]) => item(id, seq)) }),
      fc.record({ op: fc.constant('add' as const), uuid, text: fc.string() }),
      fc.record({
        op: fc.constant('set' as const),
        uuid,
        part: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })),
      }),
    );
    fc.assert(
      fc.property(fc.array(operation), fc.nat(), (ops, at) => {
        const cut = ops.length === 0 ? 0 : at % ops.length;
        const once = applyOperations([], ops);
        expect(applyOperations(applyOperations([], ops.slice(0, cut)), ops.slice(cut))).toEqual(once);
      }),
    );
  });
});

describe('the text that operations show a reader of no items', () => {
  const put = (kind: string, part: object = { open: true }, role = 'AGENT') => ({
    op: 'put',
    item: { uuid: 'u1', role, content: 'Look', part: { kind, ...part } },
  });
  const add = { op: 'add', uuid: 'u1', text: 'ing' };

  it('begins with the text that came with its item', () => {
    expect(shownText([put('text')])).toBe('Look');
    expect(shownText([put('text'), add, { ...add, to: 'output' }])).toBe('Lookinging');
  });

  it('excludes other items, complete texts and texts of the user', () => {
    for (const kind of ['thought', 'tool', 'question', 'plan']) expect(shownText([put(kind)])).toBe('');
    expect(shownText([put('text', {}), put('text', { open: true }, 'USER'), put('user')])).toBe('');
    expect(shownText([put('thought'), { ...add, to: 'thought' }])).toBe('');
  });

  it("prefers the frame's print operations to its added text", () => {
    expect(shownText([put('text'), { op: 'print', text: 'Look\n' }, add, { op: 'print', text: 'done' }])).toBe(
      'Look\ndone',
    );
    expect(shownText([put('text'), { op: 'print', text: '' }])).toBe('');
    expect(shownText([put('text'), { op: 'print' }])).toBe('Look');
    const before = [item('a', 1)];
    expect(applyOperations(before, [{ op: 'print', text: 'x' }], 7)).toEqual(before);
  });

  it('is nothing of wrong shapes', () => {
    const items = [undefined, null, 1, {}, { role: 'AGENT', part: null }, { ...put('text').item, content: 5 }];
    expect(shownText([1, null, 'x', { op: 'add', text: 5 }, ...items.map((item) => ({ op: 'put', item }))])).toBe('');
    expect(shownText('none')).toBe('');
  });
});

describe('merged', () => {
  // The cases of RFC 7396, appendix A, that begin with an object.
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j with %j is %j', (target, patch, result) => {
    expect(merged(target, patch)).toEqual(result);
  });

  it('stops at 32 levels, however deep a part is', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(12_000)}1${'}'.repeat(12_000)}`) as unknown;
    let levels = 0;
    for (let at = merged(deep, deep); typeof at === 'object'; at = (at as { a?: unknown }).a) levels += 1;
    expect(levels).toBe(12_000);
  });

  it('does not reach the prototype of an object', () => {
    merged({}, JSON.parse('{"__proto__":{"polluted":true}}'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

it('mergeItems replaces old items by changed ones', () => {
  expect(mergeItems([item('a', 1), item('b', 2)], [item('c', 3), item('a', 1, { content: 'x' })])).toEqual([
    item('a', 1, { content: 'x' }),
    item('b', 2),
    item('c', 3),
  ]);
});

describe('a part', () => {
  it('of an unknown kind passes', () => {
    const unknown = item('a', 1, { part: { kind: 'hologram', depth: 3 } });
    expect(validator(registry['transcript.Item']!.schema)(unknown).ok).toBe(true);
    expect(isItem(unknown)).toBe(true);
  });

  it('of each kind has its golden example as a valid item', () => {
    expect(
      violations(Object.entries(parts), (schema, kind) => {
        const { example } = registry[`transcript.${schema.title}`]!;
        expect(validator(schema)(example)).toMatchObject({ ok: true });
        expect(isItem(item('a', 1, { part: example as Item['part'] }))).toBe(true);
        expect(isPlain({ part: { kind } })).toBe(['user', 'text', 'question', 'error'].includes(kind));
      }),
    ).toEqual([]);
  });
});

it.each([
  {},
  { op: 'put' },
  { op: 'put', item: { uuid: 'a' } },
  { op: 'add', uuid: 'a' },
  { op: 'add', uuid: 'a', text: 'x', to: 'title' },
  { op: 'set', uuid: 'a', part: null },
  { op: 'set', uuid: '', part: {} },
  { op: 'fold', uuid: 'a' },
  null,
])('%j is not an operation', (value) => {
  expect(isOperation(value)).toBe(false);
});

describe('TRANSCRIPT', () => {
  const { example } = registry['from-daemon.event.TRANSCRIPT'] as { example: { ops: Operation[] } };

  it('has its members in the order that the relay forwards', () => {
    expect(Object.keys(example)).toEqual(['type', 'event_type', 'task_id', 'session_id', 'v', 'ops']);
    expect(example.ops.every(isOperation)).toBe(true);
  });

  it('is not checked inside of its operations', () => {
    const text = JSON.stringify({ ...example, ops: [{ op: 'put', item: 7 }, { op: 'fold' }] });
    expect(decodeDaemonFrame(text)).toMatchObject({
      kind: 'frame',
      frame: { ops: [{ op: 'put', item: 7 }, { op: 'fold' }] },
    });
  });
});

describe('a field that came later, with another meaning in the field', () => {
  it.each([
    [{ type: 'status', running_tasks: [] }, 'open_prompts', 'none'],
    [{ type: 'messages', request_id: 'r', messages: [] }, 'v', 'x'],
    [{ type: 'session_activity', session_id: 's' }, 'message_uuid', 7],
    [{ type: 'event', event_type: 'WAIT_FOR_USER', task_id: 't', prompt: 'p' }, 'question', 'p'],
    [{ type: 'event', event_type: 'WAIT_FOR_USER', task_id: 't', prompt: 'p' }, 'question', { title: 'p' }],
    [{ type: 'event', event_type: 'ERROR', task_id: 't', error: 'e' }, 'code', 500],
  ])('%j with %s %j is the frame without it', (frame, field, value) => {
    expect(decodeDaemonFrame(JSON.stringify({ ...frame, [field]: value }))).toMatchObject({
      kind: 'frame',
      frame: { ...frame, [field]: null },
    });
  });
});

describe('identities', () => {
  it('are stable, and differ by subject', () => {
    const made = () => [
      userItemUuid('t1'),
      userItemUuid('t2'),
      endItemUuid('t1', 'ERROR'),
      endItemUuid('t1', 'TASK_COMPLETE'),
      questionUuid('t1', { title: 'Yes?', options: [] }),
      questionUuid('t1', { title: 'No?', options: [] }),
      foreignUuid('s', 'm'),
      foreignUuid('s', 'm#2'),
    ];
    expect(made()).toEqual(made());
    expect(new Set(made()).size).toBe(made().length);
    for (const uuid of made())
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('a digest changes with the title, the subject and the options, and with nothing else', () => {
    const { question } = (
      registry['from-daemon.event.PROMPT_OPEN'] as {
        example: { question: Parameters<typeof questionDigest>[0] & { digest: string; uuid: string } };
      }
    ).example;
    expect(questionDigest(question)).toBe(question.digest);
    expect(questionDigest({ ...question, uuid: 'another' } as typeof question)).toBe(question.digest);
    expect(questionDigest({ ...question, title: 'Run it?' })).not.toBe(question.digest);
    expect(questionDigest({ ...question, options: question.options.slice(1) })).not.toBe(question.digest);
    expect(questionDigest({ title: question.title, options: question.options, subject: undefined })).not.toBe(
      question.digest,
    );
  });
});
