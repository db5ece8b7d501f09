/** Items become updates, and each text is sent once, in any number of steps. */
import { describe, expect, it } from '@jest/globals';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Item } from '@relay/protocol';
import fc from 'fast-check';
import { readFileSync, readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createBudget } from '../src/budget.ts';
import { pathsOf } from '../src/paths.ts';
import { createUpdater } from '../src/updates.ts';

const cwd = '/home/ada/garden';
const options = { cwd, paths: pathsOf([{ local: '/Users/ada/garden', remote: cwd }]), notices: true };
const item = (uuid: string, part: Item['part'], content = ''): Item => ({
  uuid,
  seq: 1,
  role: 'AGENT',
  content,
  timestamp: '2026-01-01T00:00:00.000Z',
  part,
});
const textOf = (updates: readonly SessionUpdate[]) =>
  updates
    .map((update) =>
      update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '',
    )
    .join('');

/** The golden examples of the protocol, with the expected update of each. */
const expected: Readonly<Record<string, unknown>> = {
  TextPart: { sessionUpdate: 'agent_message_chunk', messageId: 'u-1', content: { type: 'text', text: 'Words.' } },
  ThoughtPart: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Words.' } },
  UserPart: { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Words.' } },
  QuestionPart: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Words.' } },
  ErrorPart: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Words.' } },
  FilePart: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Words.' } },
  ImagePart: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Words.' } },
  MarkPart: { sessionUpdate: 'notice', title: 'Cancelled', description: 'Cancelled by the user.' },
  UsagePart: { sessionUpdate: 'usage_update', used: 41_200, size: 200_000, cost: { amount: 0.12, currency: 'USD' } },
  PlanPart: {
    sessionUpdate: 'plan',
    entries: [
      { content: 'Write the schedule', status: 'completed', priority: 'high' },
      { content: 'Run the tests', status: 'in_progress', priority: 'medium' },
    ],
  },
  ToolPart: {
    sessionUpdate: 'tool_call',
    toolCallId: 'toolu_01',
    title: 'Edit src/schedule.ts',
    name: 'Edit',
    kind: 'edit',
    status: 'completed',
    locations: [{ path: '/Users/ada/garden/src/schedule.ts', line: 3 }],
    content: [
      {
        type: 'diff',
        path: '/Users/ada/garden/src/schedule.ts',
        oldText: "const zone = schedule.zone;\nconst at = '06:00';",
        newText: "const zone = schedule.zone;\nconst at = '06:30';",
      },
    ],
  },
};
const examples = new URL('../../../examples/', import.meta.url);
const names = readdirSync(examples).flatMap((name) => /^transcript\.(\w+Part)\.json$/.exec(name)?.[1] ?? []);

describe('the golden example of each part', () => {
  it('becomes one update, once', () => {
    const updates = names.map((name) => {
      const part = JSON.parse(readFileSync(new URL(`transcript.${name}.json`, examples), 'utf8')) as Item['part'];
      const updater = createUpdater(options);
      const one = item('u-1', part, 'Words.');
      return [name, { first: updater.updatesFor(one), again: updater.updatesFor(one) }];
    });
    expect(Object.fromEntries(updates)).toEqual(
      Object.fromEntries(
        names.map((name) => [name, { first: [expect.objectContaining(expected[name] as object)], again: [] }]),
      ),
    );
    expect(names).toHaveLength(Object.keys(expected).length);
  });
});

describe('an item that grows', () => {
  it('is sent in pieces that add up to the whole, for any split', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (pieces) => {
        const updater = createUpdater(options);
        let content = '';
        const told = pieces.flatMap((piece) =>
          updater.updatesFor(item('u', { kind: 'text', open: true }, (content += piece))),
        );
        expect(textOf([...told, ...updater.updatesFor(item('u', { kind: 'text' }, content))])).toBe(content);
      }),
    );
  });

  it('is another message when its text was replaced, and sends nothing when it only lost its last characters', () => {
    const updater = createUpdater(options);
    updater.updatesFor(item('u', { kind: 'text', open: true }, 'one '));
    expect(updater.updatesFor(item('u', { kind: 'text' }, 'one'))).toEqual([]);
    expect(updater.updatesFor(item('u', { kind: 'text' }, 'two'))).toEqual([
      { sessionUpdate: 'agent_message_chunk', messageId: 'u#2', content: { type: 'text', text: 'two' } },
    ]);
  });

  it('sends only the changes of a tool', () => {
    const updater = createUpdater(options);
    const tool = { kind: 'tool', id: 'c1', title: 'npm test', does: 'execute', status: 'running', command: 'npm test' };
    expect(updater.updatesFor(item('t', tool))).toEqual([
      {
        sessionUpdate: 'tool_call',
        toolCallId: 'c1',
        title: 'npm test',
        kind: 'execute',
        status: 'in_progress',
        rawInput: { command: 'npm test' },
      },
    ]);
    expect(updater.updatesFor(item('t', { ...tool, status: 'failed', exit: 1, output: 'no', left: 3 }))).toEqual([
      {
        sessionUpdate: 'tool_call_update',
        toolCallId: 'c1',
        status: 'failed',
        rawOutput: { exit: 1 },
        content: [{ type: 'content', content: { type: 'text', text: 'no\n[3 bytes of this output are left out]' } }],
      },
    ]);
  });

  it('is not sent if the client wrote it, and an open question is not a text', () => {
    const updater = createUpdater(options);
    updater.skip('own');
    expect(updater.updatesFor(item('own', { kind: 'user' }, 'hi'))).toEqual([]);
    const question = { kind: 'question', state: 'open' };
    expect(updater.updatesFor(item('q', question, 'Which one?'))).toEqual([]);
    expect(updater.updatesFor(item('q', { ...question, state: 'answered' }, 'Which one?'))).toEqual([]);
  });
});

describe('the memory of the converter', () => {
  /** The heap after a garbage collection. */
  const heapMiB = () => {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    return process.memoryUsage().heapUsed / 1024 / 1024;
  };
  const long = (seed: string) => Buffer.alloc(20_000, `${seed} line\n`).toString();

  it.each([
    ['texts', (n: string) => item(`t-${n}`, { kind: 'text' }, long(n))],
    ['outputs', (n: string) => item(`o-${n}`, { kind: 'tool', id: n, title: n, output: long(n) })],
    ['plans', (n: string) => item(`p-${n}`, { kind: 'plan', entries: [{ text: long(n), status: 'pending' }] })],
    ['titles and ids', (n: string) => item(`i-${n}`, { kind: 'tool', id: long(n), title: long(n) })],
  ])('S4: bounds the %s of many sessions of one person', (_name, entry) => {
    const budget = createBudget();
    const before = heapMiB();
    const updaters = Array.from({ length: 20 }, () => createUpdater({ ...options, budget }));
    for (const [index, updater] of updaters.entries())
      for (let n = 0; n < 150; n += 1) updater.updatesFor(entry(`${index}-${n}`));
    expect(heapMiB() - before).toBeLessThan(40);
    expect(budget.used).toBeLessThanOrEqual(budget.limit);
    // A session forgets its oldest entries only, and does not send a known entry again.
    for (const [index, updater] of updaters.entries()) expect(updater.updatesFor(entry(`${index}-149`))).toEqual([]);
    for (const updater of updaters) updater.end();
    expect(budget.used).toBe(0);
  });

  it('S4: stays below its limit with many small entries', () => {
    const budget = createBudget(1024 * 1024);
    const updaters = [createUpdater({ ...options, budget }), createUpdater({ ...options, budget })];
    for (let n = 0; n < 20_000; n += 1) updaters[n % 2]!.updatesFor(item(`u-${n}`, { kind: 'text' }, `${n}`));
    expect(budget.used).toBeLessThanOrEqual(budget.limit);
    expect([updaters[0]!.isSent('u-0'), updaters[1]!.isSent('u-19999')]).toEqual([false, true]);
  });

  it('S4: continues a text after it dropped the beginning', () => {
    const updater = createUpdater(options);
    const first = long('grows');
    updater.updatesFor(item('u', { kind: 'text', open: true }, first));
    for (let n = 0; n < 60; n += 1) updater.updatesFor(item(`other-${n}`, { kind: 'text' }, long(`${n}`)));
    expect(textOf(updater.updatesFor(item('u', { kind: 'text' }, `${first}end`)))).toBe('end');
    expect(updater.updatesFor(item('u', { kind: 'text' }, `${first}end`))).toEqual([]);
    expect(textOf(updater.updatesFor(item('u', { kind: 'text' }, `another ${first}end`)))).toBe(`another ${first}end`);
  });
});

describe('a part of any shape', () => {
  it('never throws, and is never sent twice', () => {
    const kinds = ['user', 'text', 'thought', 'tool', 'plan', 'usage', 'question', 'image', 'error', 'mark', 'new'];
    const part = fc
      .tuple(fc.constantFrom(...kinds), fc.dictionary(fc.constantFrom(...fields), fc.jsonValue({ maxDepth: 3 })))
      .map(([kind, rest]) => ({ ...rest, kind }));
    // Each object inherits a property of this name.
    const inherited: { kind: string } = Object.assign({ kind: 'tool' }, { status: 'toString' });
    fc.assert(
      fc.property(part, fc.string(), (shape, content) => {
        const updater = createUpdater(options);
        const one = item('u', shape, content);
        updater.updatesFor(one);
        expect(updater.updatesFor(one)).toEqual([]);
      }),
      { numRuns: process.env.STORIES ? 8000 : 500, examples: [[inherited, '']] },
    );
  });
});
const fields = [
  'id',
  'title',
  'status',
  'output',
  'left',
  'diffs',
  'places',
  'entries',
  'images',
  'text',
  'cwd',
  'used',
];
