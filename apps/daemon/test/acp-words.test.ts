/** Agent-specific texts and how the daemon decodes them: pure functions, without a process. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PassThrough } from 'node:stream';
import { type Fields, chosen, createMapper, textOf } from '@relay/daemon-kit';
import { describeCall, intentOf } from '../src/agents/acp/calls.ts';
import { askForm } from '../src/agents/acp/form.ts';
import { type TurnSummary, createNarrator } from '../src/agents/acp/narrator.ts';
import { askPermission } from '../src/agents/acp/permission.ts';
import { presetOf } from '../src/agents/acp/presets.ts';
import { lastLines, sentenceIn } from '../src/agents/acp/sentence.ts';
import { verdictOf } from '../src/agents/acp/verdict.ts';
import { joinHalves, lineSplitter, messageOf, messageStream } from '../src/agents/acp/wire.ts';

function narrate(...updates: Fields[]) {
  const emitted: string[] = [];
  const told: string[] = [];
  const narrator = createNarrator(
    { progress: (action, target) => told.push(`${action} ${target}`), output: (text) => emitted.push(text) },
    '/my/project',
  );
  const mapper = createMapper({ sessionId: 's', cwd: '/my/project', detail: 'full', thoughts: true, now: () => 0 });
  const tell = (update: Fields) => {
    mapper.update(update);
    narrator.update(update, mapper.effect());
  };
  for (const update of updates) tell(update);
  return { narrator, told, tell, output: emitted.join('') };
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
    // A7: the folder of a command is not the command.
    [{ kind: 'execute', locations: [{ path: '/my/project' }], title: '`npm test`' }, 'Running npm test'],
    [{ kind: 'execute', locations: [{ path: '/my/project' }], rawInput: { command: 'npm test' } }, 'Running npm test'],
  ])('of a tool call %j reads "%s"', (fields, words) => {
    expect(describeCall(fields, '/my/project').join(' ')).toBe(words);
  });

  it('of a call is reported once its input is known, and again only when it changes', () => {
    const { told } = narrate(
      call({ kind: 'execute', title: 'Terminal', status: 'pending' }),
      call({ rawInput: { command: 'ls' } }),
      call({ status: 'completed' }),
      call({ toolCallId: 'd', kind: 'read', title: 'a.ts', status: 'in_progress' }),
    );
    expect(told).toEqual(['Running ls', 'Reading a.ts']);
  });

  it('with the output of a command as metadata, or with a changed file, is output', () => {
    const { output } = narrate(
      call({ kind: 'execute', title: 'x', _meta: { terminal_output_delta: { data: 'total 0\n' } } }),
      call({ toolCallId: 'd', status: 'completed', content: [{ type: 'diff', path: '/my/project/a', newText: 'b' }] }),
    );
    expect(output).toBe('total 0\nchanged a\n');
  });

  it('marks the turn as failed when Codex reports a system failure', () => {
    const meta = { codex: { threadStatus: { type: 'systemError' } } };
    const { narrator } = narrate(says('{"error":"bad model"}'), { sessionUpdate: 'session_info_update', _meta: meta });
    expect(verdictOf({ stopReason: 'end_turn' }, narrator.summary(), { rejected: false })).toEqual({
      kind: 'error',
      error: 'bad model',
    });
  });

  it('of any shape causes no exception', () => {
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

describe('a permission request', () => {
  const options = [
    { optionId: 'y', name: 'Allow', kind: 'allow_once' },
    { optionId: 'n', name: 'Reject', kind: 'reject_once' },
  ];
  const asked = (toolCall: Fields, more: Fields = { options }) =>
    askPermission({ toolCall, ...more }, '/my/project').question('I will.');
  const path = '/my/project/src/a.ts';
  const diff = (oldText: string | null) => ({ type: 'diff', path, oldText, newText: 'one\nTWO\nthree\n' });

  it.each<[Fields, string]>([
    [{ kind: 'execute', title: '`npm test`', locations: [{ path: '/my/project' }] }, 'Run npm test?'],
    [{ kind: 'execute', title: 'bash', rawInput: { command: 'npm test' } }, 'Run npm test?'],
    [{ kind: 'execute', title: 'Run the tests', rawInput: { command: 'npm test' } }, 'Run the tests?'],
    [{ kind: 'execute', title: 'x', rawInput: { command: 'cat <<E\nsecret\nE' } }, 'Run cat <<E …?'],
    [{ kind: 'edit', title: 'write', locations: [{ path }] }, 'Write src/a.ts?'],
    [{ kind: 'edit', title: path, content: [diff('one\ntwo\nthree\n')] }, 'Edit src/a.ts?'],
    [{ kind: 'edit', title: 'src/a.ts: one => two', locations: [{ path }] }, 'Edit src/a.ts?'],
    [{ kind: 'edit', title: 'Edit src/a.ts', content: [diff(null)] }, 'Edit src/a.ts?'],
    [{ title: 'a.ts', content: [diff(null)] }, 'Write src/a.ts?'],
    [{ kind: 'delete', rawInput: { path } }, 'Delete src/a.ts?'],
    [{ kind: 'other', title: 'mcp__garden__water' }, 'Use mcp__garden__water?'],
    [{ title: 'Allow access to the network' }, 'Allow access to the network?'],
    [{ title: 'Which colour?' }, 'Which colour?'],
    [{}, 'Use a tool?'],
  ])('A7, W25: for %j asks with verb and object: "%s"', (call, prompt) => {
    expect(asked(call).prompt).toBe(prompt);
  });

  it('A7: with a question of the agent is unchanged', () => {
    const choices = ['Red', 'Blue'].map((name) => ({ optionId: name, name, kind: 'choice' }));
    expect(asked({ title: 'Which colour' }, { options: choices })).toMatchObject({
      prompt: 'Which colour',
      options: ['Red', 'Blue'],
    });
  });

  it.each<[string, Fields, string]>([
    [
      'whole command',
      { kind: 'execute', title: 'x', rawInput: { command: 'cat <<E\nsecret\nE' } },
      'Run cat <<E …?\n\ncat <<E\nsecret\nE',
    ],
    [
      'changed lines',
      { kind: 'edit', title: path, content: [diff('one\ntwo\nthree\n')] },
      'Edit src/a.ts?\n\nsrc/a.ts (+1 −1)\n- two\n+ TWO',
    ],
    [
      'input of a tool',
      { kind: 'other', title: 'water', rawInput: { litres: 3, of: 'water' } },
      'Use water?\n\n{\n  "litres": 3\n}',
    ],
  ])("A1: has the %s after the agent's text", (_name, call, told) => {
    expect(asked(call).result).toBe(`I will.\n\n${told}`);
  });

  it('A1: of any size has a bound', () => {
    const result = asked({
      kind: 'edit',
      title: path,
      content: [{ ...diff(''), newText: 'x\n'.repeat(100_000) }],
    }).result;
    expect(result).toMatch(/^I will\.\n\nWrite src\/a\.ts\?\n\nsrc\/a\.ts \(\+100000 −0\)/);
    expect(result).toMatch(/characters more\]$/);
    expect(result?.length).toBeLessThan(10_000);
  });

  it('of any shape becomes a question', () => {
    fc.assert(
      fc.property(fc.object(), (fields) => {
        expect(intentOf(fields as Fields, '/')).not.toBe('');
        asked(fields);
      }),
    );
  });
});

describe('non-text content', () => {
  it.each<[unknown, string]>([
    [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(4096) }, '[image: image/png, 3 KiB]\n'],
    [{ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }, '[audio: audio/wav, 3 bytes]\n'],
    [{ type: 'image' }, '[image]\n'],
    [{ type: 'resource', resource: { uri: 'file:///a.pdf', blob: 'AAAA' } }, '[file: file:///a.pdf, 3 bytes]\n'],
    [{ type: 'resource', resource: { uri: 'file:///a.txt', text: 'its words' } }, 'its words'],
    [{ type: 'resource_link', uri: 'file:///tmp/plan.md', name: 'plan.md' }, 'file:///tmp/plan.md\n'],
    [{ type: 'resource_link', uri: 'https://a.example/7', title: 'The plan' }, 'The plan: https://a.example/7\n'],
    [['see', { type: 'resource_link', uri: 'x:y' }, 'there'], 'see\nx:y\nthere'],
    [{ type: 'hologram' }, ''],
  ])('A9: %j becomes %j', (content, text) => {
    expect(textOf(content)).toBe(text);
  });
});

describe('an error', () => {
  it.each([
    ['API Error: 404 {"type":"error","error":{"message":"no such model"}}', 'API Error: 404 no such model'],
    ['{"error":{"message":"{\\"error\\":{\\"message\\":\\"key missing\\"}}"}}', 'key missing'],
    ['[{"error":{"code":400,"message":"bad"}}]', 'bad'],
    ['{"detail":"too long"}', 'too long'],
    ['no {JSON} here', 'no {JSON} here'],
    ['{"code":7}', '{"code":7}'],
  ])('A8: %s reads "%s"', (text, sentence) => {
    expect(sentenceIn(text)).toBe(sentence);
  });

  it('A8: of a process contains the last lines of its output, without colours', () => {
    const printed = `${'old\n'.repeat(50)}\u001b[31mred\u001b[0m\n\n\nlast\n`;
    expect(lastLines(printed)).toBe(`${'old\n'.repeat(8)}red\nlast`);
    expect(lastLines('x'.repeat(100_000)).length).toBe(2048);
  });
});

describe('the outcome of a turn', () => {
  const told = { answer: 'so far', acted: true, worked: true, failed: false };
  it.each<[string, Fields, Parameters<typeof verdictOf>[2], string]>([
    [
      'A6: cancelled after a rejection is as the user chose, for every agent',
      { stopReason: 'cancelled' },
      { rejected: true },
      'complete',
    ],
    [
      'cancelled without a rejection is an error for Codex',
      { stopReason: 'cancelled' },
      { quirks: presetOf('codex')?.quirks, rejected: false },
      'error',
    ],
    ['at a limit is complete', { stopReason: 'max_turn_requests' }, { rejected: false }, 'complete'],
    ['with an unknown reason is complete if there was text', { stopReason: 'tired' }, { rejected: false }, 'complete'],
  ])('%s', (_name, response, options, kind) => {
    expect(verdictOf(response, told, options).kind).toBe(kind);
  });

  const silent = { answer: '', acted: false, worked: false, failed: false };
  it.each<[string, TurnSummary, Parameters<typeof verdictOf>[2], string]>([
    [
      'A9: without text is complete',
      silent,
      { rejected: false },
      'complete The agent ended its turn without saying anything.',
    ],
    [
      'after a tool is complete',
      { ...silent, acted: true },
      { rejected: true },
      'complete Done. The agent said nothing more.',
    ],
    [
      'A2: after a rejection reports it',
      silent,
      { rejected: true },
      'complete The agent stopped, because it was not allowed to continue.',
    ],
    [
      'without text is an error of Kimi',
      silent,
      { quirks: presetOf('kimi')?.quirks, rejected: false },
      'error The agent ended without an answer.',
    ],
  ])('%s', (_name, told, options, words) => {
    const verdict = verdictOf({ stopReason: 'end_turn' }, told, options);
    expect(`${verdict.kind} ${verdict.kind === 'complete' ? verdict.result : verdict.error}`).toBe(words);
  });

  it('A2: excludes text from before a question', () => {
    const { narrator, tell } = narrate(says('May I?'));
    expect(narrator.takeText()).toBe('May I?');
    tell({ ...call({ status: 'failed' }), sessionUpdate: 'tool_call_update' });
    expect(narrator.summary().answer).toBe('');
  });

  it('is an error if Copilot writes one as text, and complete if other agents do', () => {
    const words = { ...told, answer: 'Error: 400 no such model' };
    const quirks = presetOf('copilot')?.quirks;
    expect(verdictOf({ stopReason: 'end_turn' }, words, { quirks, rejected: false }).kind).toBe('error');
    expect(verdictOf({ stopReason: 'end_turn' }, words, { rejected: false }).kind).toBe('complete');
  });
});

describe('an answer', () => {
  it('can be a label in any case, or its number', () => {
    const labels = ['Yes', 'No', '3'];
    expect(['yes', ' NO ', '1', '2', '3', '4', '0', 'y', ''].map((words) => chosen(words, labels))).toEqual([
      0, 1, 0, 1, 2, -1, -1, -1, -1,
    ]);
  });

  it('to a question that Qwen asks as a permission is sent beside the outcome', () => {
    const request = {
      toolCall: { title: 'Ask' },
      options: [{ optionId: 'ok', name: 'Submit', kind: 'allow_once' }],
      _meta: { qwenQuestions: [{ question: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }] }] },
    };
    const asking = askPermission(request, '/');
    expect(asking.question('')).toMatchObject({ prompt: 'Which?', options: ['Red', 'Blue', 'Decline'] });
    expect(asking.reply('2')).toEqual({
      kind: 'answer',
      response: { outcome: { outcome: 'selected', optionId: 'ok' }, answers: { '0': 'Blue' } },
    });
  });

  it('in a form can be several of a list, a number, or text', () => {
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
    expect(form({ type: 'string' }).reply('any words')).toMatchObject({ response: { content: { f: 'any words' } } });
  });

  it.each<[Fields, string, string]>([
    [{ type: 'integer' }, '7.5', 'A whole number.'],
    [{ type: 'number', minimum: 1, maximum: 3 }, '4', 'A number from 1 to 3.'],
    [{ type: 'string', minLength: 3 }, 'ab', 'At least 3 characters.'],
    [{ type: 'string', format: 'email' }, 'ada', 'An e-mail address.'],
    [{ type: 'string', format: 'date' }, '2026-02-31T', 'A date like 2026-12-31.'],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'it is not one of the choices'],
    [{ type: 'boolean' }, 'perhaps', 'it is not one of the choices'],
    [{ type: 'array', items: { enum: ['a', 'b'] }, maxItems: 1 }, 'a, b', 'Choose at most 1, separated by commas.'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, 'a, c', 'part of it is not among the choices'],
  ])('A6: to a field %j that does not fit, "%s", is refused with the reason: %s', (property, words, why) => {
    const asking = askForm({
      message: 'm',
      requestedSchema: { properties: { f: property, free: { type: 'string' } } },
    });
    expect(asking.reply(words)).toEqual({ kind: 'ask', why: `“${words}” is not a valid answer: ${why}` });
    expect(asking.question('').prompt).toBe('m\nf');
  });

  it('A6: with free text is sent beside the choice only if the agent has a field for it', () => {
    const color = { type: 'string', oneOf: [{ const: 'r', title: 'Red' }] };
    const claude = { question_0: color, question_0_custom: { type: 'string', title: 'Other' } };
    const codex = { q: color, note: { type: 'string', _meta: { codex: { questionId: 'q', role: 'user_note' } } } };
    for (const [properties, place] of [
      [claude, 'question_0_custom'],
      [codex, 'note'],
    ] as const) {
      const asking = askForm({ message: 'Which?', requestedSchema: { properties } });
      expect(asking.question('').options).toEqual(['Red', 'Skip']);
      expect(asking.reply('a dark green')).toMatchObject({ response: { content: { [place]: 'a dark green' } } });
    }
  });

  it('A6: can skip one optional field, or all remaining ones', () => {
    const properties = { a: { type: 'string' }, b: { type: 'integer', default: 3 }, c: { type: 'boolean' } };
    const asking = askForm({ message: 'm', requestedSchema: { properties } });
    expect(asking.question('')).toMatchObject({ prompt: 'm\na', options: ['Skip', 'Skip the rest'] });
    expect(asking.reply('skip')).toEqual({ kind: 'ask' });
    expect(asking.question('')).toMatchObject({ prompt: 'm\nb', options: ['3', 'Skip', 'Skip the rest'] });
    expect(asking.reply('3')).toEqual({ kind: 'ask' });
    expect(asking.question('')).toMatchObject({ prompt: 'm\nc', options: ['Yes', 'No', 'Skip'] });
    expect(asking.reply('Skip')).toEqual({ kind: 'answer', response: { action: 'accept', content: { b: 3 } } });
    const other = askForm({ message: 'm', requestedSchema: { properties } });
    expect(other.reply('Skip the rest')).toEqual({ kind: 'answer', response: { action: 'accept', content: {} } });
  });

  it('A6: can decline the whole form although it has a required field', () => {
    const schema = { properties: { a: { type: 'string' } }, required: ['a'] };
    const refused = { kind: 'answer', response: { action: 'decline' }, rejected: true };
    expect(askForm({ message: 'm', requestedSchema: schema }).reply('decline')).toEqual(refused);
    expect(askForm({ message: 'm', requestedSchema: {} }).reply('Decline')).toEqual(refused);
    expect(askForm({ message: 'm', requestedSchema: {} }).reply('hm')).toMatchObject({ kind: 'ask' });
  });
});

describe('B11: a message after noise in its line', () => {
  const frame = '{"jsonrpc":"2.0","id":0,"result":{}}';
  it.each([['\u001b[?25l'], ['Ready. '], ['\u001b]0;{title}\u0007'], ['{ready} '], ['\ufeff']])(
    'is found after %j',
    (noise) => {
      expect(messageOf(noise + frame)).toEqual(JSON.parse(frame));
    },
  );
  it('is not extracted from a damaged message', () => {
    expect(messageOf(`{"jsonrpc":"2.0","method":"x","params":${frame}`)).toBeUndefined();
  });
});

describe('B12: lone surrogates', () => {
  it('in two chunks of one message become the original character', () => {
    const join = joinHalves();
    const chunk = (sessionUpdate: string, text: string) => ({ sessionUpdate, content: { type: 'text', text } });
    const texts = [
      join('s', chunk('agent_message_chunk', 'a fox \ud83e')),
      join('s', chunk('agent_thought_chunk', 'hm')),
      join('s', chunk('agent_message_chunk', '\udd8a.')),
    ].map(({ content }) => (content as { text: string }).text);
    expect(texts).toEqual(['a fox ', 'hm', '\u{1f98a}.']);
  });
});

describe('the wire', () => {
  it('S5: drops answers without a request, which the library would print', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const noise: string[] = [];
    const { readable, writable } = messageStream({ input, output, onNoise: (line) => noise.push(line) });
    const writer = writable.getWriter();
    await writer.write({ jsonrpc: '2.0', id: 7, method: 'session/new', params: {} });
    const stray = (id: string) => `{"jsonrpc":"2.0","id":${id},"result":{}}\n`;
    output.end([...['"\\u001b[2J"', '8', '7', '7', 'null'].map(stray), '{"jsonrpc":"2.0","method":"x"}\n'].join(''));
    const read: unknown[] = [];
    for await (const message of readable) read.push(message);
    expect(read).toMatchObject([{ id: 7 }, { method: 'x' }]);
    expect(noise).toHaveLength(4);
  });

  it('splits bytes into the same lines in any chunks, and holds an incomplete line back', () => {
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

  it('stops at an oversized line', () => {
    const split = lineSplitter(100);
    split(Buffer.alloc(90, 'x'));
    expect(() => split(Buffer.alloc(20, 'x'))).toThrow('more than 100 bytes');
  });

  it('accepts only JSON-RPC messages', () => {
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
