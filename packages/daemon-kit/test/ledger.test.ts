/**
 * The ledger of a session, update by update: the call of an id, its state and output, and the point where a text is
 * complete.
 */
import { describe, expect, it } from '@jest/globals';
import { type Item, applyOperations } from '@relay/protocol';
import { type Mapper, createMapper } from '../src/transcript/mapper.ts';
import type { StoreChange } from '../src/store.ts';

type Fields = Record<string, unknown>;

function account() {
  let items: Item[] = [];
  let seq = 0;
  const dropped: string[] = [];
  const mapper: Mapper = createMapper({
    sessionId: 's',
    cwd: '/p',
    detail: 'full',
    thoughts: true,
    now: () => 0,
    turn: 'turn-1',
    dropped: (why) => dropped.push(why),
  });
  const take = (changes: StoreChange[]) => {
    for (const change of changes) {
      const op = change.op === 'put' ? { op: change.op, item: { timestamp: 't', seq: ++seq, ...change.item } } : change;
      items = applyOperations(items, [op]);
    }
  };
  return {
    mapper,
    dropped,
    emit: (sessionUpdate: string, more: Fields = {}) => take(mapper.update({ sessionUpdate, ...more })),
    take,
    items: () => items,
    tools: () => items.filter(({ part }) => part.kind === 'tool').map(({ part }) => part),
    texts: () => items.filter(({ part }) => part.kind === 'text').map(({ content }) => content),
  };
}
const text = (words: string) => [{ type: 'content', content: { type: 'text', text: words } }];
const says = (words: string, messageId?: string) => ({ messageId, content: { type: 'text', text: words } });
const ls = { toolCallId: 'c', title: 'ls', kind: 'execute', rawInput: { command: 'ls' } };
const pwd = { ...ls, title: 'pwd', rawInput: { command: 'pwd' } };

describe('an id of a call', () => {
  it('B3: means another call once its own has completed, and the same one before', () => {
    const { emit, tools } = account();
    emit('tool_call', { ...ls, status: 'pending' });
    emit('tool_call', { ...ls, status: 'in_progress' });
    emit('tool_call_update', { toolCallId: 'c', status: 'completed' });
    emit('tool_call', { ...pwd, status: 'pending' });
    expect(tools()).toMatchObject([
      { command: 'ls', status: 'completed' },
      { command: 'pwd', status: 'pending' },
    ]);
  });

  it('B3: means another call in the next turn, although late updates still belong to the earlier one until then', () => {
    const { emit, tools, mapper, take } = account();
    emit('tool_call', { ...ls, status: 'in_progress' });
    take(mapper.close('ended'));
    expect(tools()).toMatchObject([{ status: 'unknown' }]);
    mapper.begin('turn-2');
    emit('tool_call_update', { toolCallId: 'c', status: 'completed' });
    expect(tools()).toMatchObject([{ status: 'completed' }]);
    emit('tool_call', { ...pwd, status: 'pending' });
    expect(tools()).toMatchObject([{ command: 'ls' }, { command: 'pwd' }]);
  });

  it('B4: can be foreign in a permission, which belongs to the newest open call with the same command', () => {
    const { emit, tools, mapper, take } = account();
    emit('tool_call', { ...ls, toolCallId: 'c1', status: 'pending' });
    take(mapper.call({ ...ls, toolCallId: 'shell-permission' }, 'q1'));
    emit('tool_call_update', { toolCallId: 'c1', status: 'completed' });
    emit('tool_call', { ...pwd, toolCallId: 'c2', status: 'pending' });
    take(mapper.call({ ...pwd, toolCallId: 'shell-permission' }, 'q2'));
    expect(tools()).toMatchObject([
      { id: 'c1', asked: { question: 'q1' } },
      { id: 'c2', asked: { question: 'q2' } },
    ]);
  });

  it('B4: can differ in an announcement that follows its permission', () => {
    const { emit, tools, mapper, take } = account();
    take(mapper.call({ ...ls, toolCallId: 'shell-permission' }, 'q1'));
    take(mapper.answered({ question: 'q1' }, { allowed: true }));
    emit('tool_call', { ...ls, toolCallId: 'c1', status: 'in_progress' });
    emit('tool_call_update', { toolCallId: 'c1', status: 'completed' });
    expect(tools()).toMatchObject([{ id: 'c1', status: 'completed', asked: { answer: 'allowed' } }]);
  });
});

describe('the state of a call', () => {
  it.each([
    ['nothing', []],
    ['a failure', [['tool_call_update', 'failed']]],
    ['a success', [['tool_call_update', 'completed']]],
    [
      'a start and a success',
      [
        ['tool_call_update', 'in_progress'],
        ['tool_call_update', 'completed'],
      ],
    ],
    ['the call again as failed', [['tool_call', 'failed']]],
  ] as [string, [string, string][]][])('W1: a rejected call never appears as run, even after %s', (_name, updates) => {
    const { emit, tools, mapper, take } = account();
    emit('tool_call', { ...ls, status: 'pending' });
    take(mapper.call(ls, 'q'));
    take(mapper.answered({ question: 'q' }, { allowed: false, by: 'phone', at: '2026-01-01T00:00:00.000Z' }));
    for (const [kind, status] of updates) emit(kind, { ...ls, status });
    take(mapper.close('ended'));
    expect(tools()).toMatchObject([
      {
        status: 'rejected',
        asked: { question: 'q', answer: 'rejected', by: 'phone', at: '2026-01-01T00:00:00.000Z' },
      },
    ]);
  });

  it('W1: a call without a reported outcome is unknown after its turn, and cancelled with it', () => {
    for (const [how, status] of [
      ['ended', 'unknown'],
      ['cancelled', 'cancelled'],
    ] as const) {
      const { emit, tools, mapper, take } = account();
      emit('tool_call', { ...ls, status: 'in_progress' });
      take(mapper.close(how));
      expect(tools()).toMatchObject([{ status }]);
    }
  });
});

describe('output', () => {
  it('A3: is never taken from a description: of an announcement, of a waiting call, or of a permission', () => {
    const { emit, tools, mapper, take } = account();
    emit('tool_call', { ...ls, status: 'pending', content: text('List the files') });
    emit('tool_call_update', { toolCallId: 'c', content: text('List all files') });
    take(mapper.call({ ...ls, content: text('May I list?') }, 'q'));
    emit('tool_call_update', { toolCallId: 'c', status: 'completed' });
    expect(tools()[0]).toMatchObject({ about: 'May I list?', status: 'completed' });
    expect(tools()[0]).not.toHaveProperty('output');
  });

  it('A3: is replaced by the content of an update, even by an empty one', () => {
    const { emit, tools } = account();
    emit('tool_call', { ...ls, status: 'pending', content: text('List the files') });
    const output = (content: unknown[], status = 'in_progress') => {
      emit('tool_call_update', { toolCallId: 'c', status, content });
      return tools()[0]?.output;
    };
    expect(output(text('a'))).toBe('a');
    expect(output(text('a\nb'))).toBe('a\nb');
    expect(output(text('other'))).toBe('other');
    expect(output([], 'completed')).toBe('');
  });

  it.each([
    ['terminal_output', { terminal_output: { terminal_id: 't', data: 'out\n' } }],
    ['terminal_output_delta', { terminal_output_delta: { data: 'out\n' } }],
    ['terminal_output_delta as a text', { terminal_output_delta: 'out\n' }],
  ])('A2: arrives as %s, with the exit code beside it', (_name, meta) => {
    const { emit, tools } = account();
    emit('tool_call', { ...ls, status: 'pending', content: [{ type: 'terminal', terminalId: 't' }] });
    emit('tool_call_update', { toolCallId: 'c', status: 'in_progress', _meta: meta });
    emit('tool_call_update', { toolCallId: 'c', status: 'in_progress', _meta: meta });
    emit('tool_call_update', { toolCallId: 'c', status: 'failed', _meta: { terminal_exit: { exit_code: 3 } } });
    expect(tools()).toMatchObject([{ output: 'out\nout\n', exit: 3, status: 'failed' }]);
  });

  it('A9: of OpenCode: a failed command has its exit code, a new file counts as added, and its plan is a plan', () => {
    const { emit, tools, items } = account();
    emit('tool_call', { ...ls, status: 'in_progress' });
    emit('tool_call_update', { toolCallId: 'c', status: 'failed', rawOutput: { metadata: { exit: 2 } } });
    const diff = [{ type: 'diff', path: '/p/notes.txt', oldText: '', newText: 'x' }];
    emit('tool_call', { toolCallId: 'e', title: 'edit', kind: 'edit', status: 'in_progress', content: diff });
    emit('tool_call', { toolCallId: 'p', title: 'todowrite', status: 'pending', rawInput: {} });
    const todos = [{ content: 'First', status: 'pending', priority: 'high' }];
    emit('tool_call_update', { toolCallId: 'p', status: 'completed', rawInput: { todos }, content: text('[{}]') });
    expect(tools()).toMatchObject([{ exit: 2 }, { diffs: [{ change: 'add' }] }]);
    expect(items().at(-1)).toMatchObject({ part: { kind: 'plan', entries: [{ text: 'First' }] } });
  });

  it('A9: of OpenCode: a replayed plan, which has another title, is a plan', () => {
    const { emit, tools, items } = account();
    const todos = [{ content: 'First', status: 'pending', priority: 'high' }];
    emit('tool_call', { toolCallId: 'p', title: '1 todos', kind: 'other', status: 'pending', rawInput: { todos } });
    emit('tool_call_update', { toolCallId: 'p', status: 'completed', title: '1 todos', content: text('[{}]') });
    expect(tools()).toEqual([]);
    expect(items()).toMatchObject([{ part: { kind: 'plan', entries: [{ text: 'First' }] } }]);
  });
});

describe('texts', () => {
  it('B5: continue after an echo, a plan, usage and updates of a call', () => {
    const { emit, texts, mapper, dropped } = account();
    emit('tool_call', { ...ls, status: 'pending' });
    emit('agent_message_chunk', says('Hello ', 'm'));
    emit('user_message_chunk', says('what the person said', 'u'));
    emit('plan', { entries: [{ content: 'Step', status: 'pending' }] });
    emit('usage_update', { used: 1, size: 2 });
    emit('tool_call_update', { toolCallId: 'c', status: 'in_progress' });
    emit('agent_message_chunk', says('there', 'm'));
    expect(texts()).toEqual(['Hello there']);
    expect(mapper.last()?.content).toBe('Hello there');
    expect(dropped).toEqual(['an echo of the words of the user']);
  });

  it('D9: are complete before a notice, a thought, an image and a new call', () => {
    for (const [kind, more] of [
      ['notice', { title: 'Careful' }],
      ['agent_thought_chunk', says('Hm')],
      ['agent_message_chunk', { content: { type: 'image', data: '', mimeType: 'image/png' } }],
      ['tool_call', { ...ls, status: 'pending' }],
    ] as [string, Fields][]) {
      const { emit, texts, mapper } = account();
      emit('agent_message_chunk', says('Before', 'm'));
      emit(kind, more);
      expect(mapper.effect().ended).toBe(true);
      emit('agent_message_chunk', says('Behind', 'm'));
      expect(texts()).toEqual(['Before', 'Behind']);
      expect(mapper.last()?.content).toBe('Behind');
    }
  });

  it('A12: usage is one item per turn, and keeps the earlier reported size', () => {
    const { emit, items, mapper } = account();
    emit('usage_update', { used: 1, size: 200 });
    emit('usage_update', { used: 2 });
    mapper.begin('turn-2');
    emit('usage_update', { used: 3 });
    expect(items().map(({ part }) => part)).toEqual([
      { kind: 'usage', used: 2, size: 200 },
      { kind: 'usage', used: 3, size: 200 },
    ]);
  });
});
