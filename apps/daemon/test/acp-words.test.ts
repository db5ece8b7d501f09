/** What single agents say in a way of their own, and how it is understood: pure functions, without a process. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { outputStream, systemClock } from '@relay/daemon-kit';
import { type Fields, createNarrator, describeCall } from '../src/agents/acp/narrator.ts';
import { presetOf } from '../src/agents/acp/presets.ts';
import { askForm, askPermission, chosen } from '../src/agents/acp/questions.ts';
import { verdictOf } from '../src/agents/acp/verdict.ts';
import { lineSplitter, messageOf } from '../src/agents/acp/wire.ts';

function narrate(...updates: Fields[]) {
  const emitted: string[] = [];
  const told: string[] = [];
  const output = outputStream((text) => emitted.push(text), systemClock);
  const narrator = createNarrator(
    { progress: (action, target) => told.push(`${action} ${target}`), output },
    '/my/project',
  );
  for (const update of updates) narrator.update(update);
  output.flush();
  return { narrator, told, output: emitted.join('') };
}
const says = (text: string, more: Fields = {}) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
  ...more,
});
const call = (more: Fields) => ({ sessionUpdate: 'tool_call', toolCallId: 'c', ...more });

describe('an update', () => {
  it.each<[Fields, string]>([
    [{ kind: 'execute', rawInput: { command: ['git', 'status'] }, title: 'x' }, 'Running git status'],
    [{ kind: 'edit', locations: [{ path: '/my/project/src/a.ts' }], title: 'x' }, 'Editing src/a.ts'],
    [{ kind: 'read', rawInput: { file_path: '/etc/hosts' }, title: 'x' }, 'Reading /etc/hosts'],
    [{ kind: 'brand_new', title: 'Something' }, 'Working Something'],
    [{}, 'Working '],
  ])('of a tool call %j is told as "%s"', (fields, words) => {
    expect(describeCall(fields, '/my/project').join(' ')).toBe(words);
  });

  it('of a call is told when its input is known, and again only when it says something else', () => {
    const { told } = narrate(
      call({ kind: 'execute', title: 'Terminal', status: 'pending' }),
      call({ rawInput: { command: 'ls' } }),
      call({ status: 'completed' }),
      call({ toolCallId: 'd', kind: 'read', title: 'a.ts', status: 'in_progress' }),
    );
    expect(told).toEqual(['Running ls', 'Reading a.ts']);
  });

  it('with the output of a command as a side note, or a changed file, is output', () => {
    const { output } = narrate(
      call({ kind: 'execute', title: 'x', _meta: { terminal_output_delta: { data: 'total 0\n' } } }),
      call({ toolCallId: 'd', status: 'completed', content: [{ type: 'diff', path: '/my/project/a', newText: 'b' }] }),
    );
    expect(output).toBe('total 0\nchanged a\n');
  });

  it('marks the turn as failed when Codex says that its system has failed', () => {
    const meta = { codex: { threadStatus: { type: 'systemError' } } };
    const { narrator } = narrate(says('{"error":"bad model"}'), { sessionUpdate: 'session_info_update', _meta: meta });
    expect(verdictOf({ stopReason: 'end_turn' }, narrator.told(), { rejected: false })).toEqual({
      kind: 'error',
      error: '{"error":"bad model"}',
    });
  });

  it('of any shape says at most nothing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('agent_message_chunk', 'tool_call', 'plan', 'notice', 'session_info_update', 'x'),
        fc.object(),
        (kind, fields) => {
          narrate({ ...(fields as Fields), sessionUpdate: kind });
        },
      ),
    );
  });
});

describe('the end of a turn', () => {
  const told = { answer: 'so far', acted: true, failed: false };
  it.each<[string, Fields, Parameters<typeof verdictOf>[2], string]>([
    [
      'cancelled after a no is complete for Codex',
      { stopReason: 'cancelled' },
      { quirks: presetOf('codex')?.quirks, rejected: true },
      'complete',
    ],
    ['cancelled after a no is an error for others', { stopReason: 'cancelled' }, { rejected: true }, 'error'],
    [
      'cancelled without a no is an error for Codex',
      { stopReason: 'cancelled' },
      { quirks: presetOf('codex')?.quirks, rejected: false },
      'error',
    ],
    ['at a limit is complete', { stopReason: 'max_turn_requests' }, { rejected: false }, 'complete'],
    [
      'for a reason that nobody knows yet is complete when something was said',
      { stopReason: 'tired' },
      { rejected: false },
      'complete',
    ],
  ])('%s', (_name, response, options, kind) => {
    expect(verdictOf(response, told, options).kind).toBe(kind);
  });

  it('is an error when Copilot says so in words, and complete when others use the same words', () => {
    const words = { ...told, answer: 'Error: 400 no such model' };
    const quirks = presetOf('copilot')?.quirks;
    expect(verdictOf({ stopReason: 'end_turn' }, words, { quirks, rejected: false }).kind).toBe('error');
    expect(verdictOf({ stopReason: 'end_turn' }, words, { rejected: false }).kind).toBe('complete');
  });
});

describe('an answer', () => {
  it('is a label in any case, or its number', () => {
    const labels = ['Yes', 'No', '3'];
    expect(['yes', ' NO ', '1', '2', '3', '4', '0', 'y', ''].map((words) => chosen(words, labels))).toEqual([
      0, 1, 0, 1, 2, -1, -1, -1, -1,
    ]);
  });

  it('to a question that Qwen asks as a permission goes beside the outcome', () => {
    const request = {
      toolCall: { title: 'Ask' },
      options: [{ optionId: 'ok', name: 'Submit', kind: 'allow_once' }],
      _meta: { qwenQuestions: [{ question: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }] }] },
    };
    const asking = askPermission(request, '/');
    expect(asking.question('')).toMatchObject({ prompt: 'Which?', options: ['Red', 'Blue'] });
    expect(asking.reply('2')).toEqual({
      kind: 'answer',
      response: { outcome: { outcome: 'selected', optionId: 'ok' }, answers: { '0': 'Blue' } },
    });
  });

  it('in a form may be several of a list, a number, or words', () => {
    const form = (property: object) =>
      askForm({ message: 'm', requestedSchema: { properties: { f: property }, required: ['f'] } });
    const list = {
      type: 'array',
      items: {
        anyOf: [
          { const: 'a', title: 'A' },
          { const: 'b', title: 'B' },
        ],
      },
    };
    expect(form(list).reply('A, 2')).toMatchObject({ response: { content: { f: ['a', 'b'] } } });
    expect(form({ type: 'integer' }).reply('7')).toMatchObject({ response: { content: { f: 7 } } });
    expect(form({ type: 'integer' }).reply('7.5')).toMatchObject({ kind: 'decline' });
    expect(form({ type: 'string' }).reply('any words')).toMatchObject({ response: { content: { f: 'any words' } } });
  });
});

describe('the wire', () => {
  it('cuts bytes into the same lines however they arrive, and keeps the torn rest to itself', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' '))),
        fc.array(fc.nat(20)),
        (lines, cuts) => {
          const bytes = Buffer.from(`${lines.map((line) => `${line}\n`).join('')}torn`);
          const split = lineSplitter(1 << 20);
          const found: string[] = [];
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            found.push(...split(bytes.subarray(at, at + cut)));
            at += cut;
          }
          expect(found).toEqual(lines);
        },
      ),
    );
  });

  it('ends at a line that is too long', () => {
    const split = lineSplitter(100);
    split(Buffer.alloc(90, 'x'));
    expect(() => split(Buffer.alloc(20, 'x'))).toThrow('more than 100 bytes');
  });

  it('takes only JSON-RPC for messages', () => {
    const lines = [
      '{"jsonrpc":"2.0","method":"x"}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
      '{"jsonrpc":"2.0"}',
      '{"method":"x"}',
      '[]',
      'Warning',
      '{',
    ];
    expect(lines.map((line) => messageOf(line) !== undefined)).toEqual([true, true, false, false, false, false, false]);
  });
});
