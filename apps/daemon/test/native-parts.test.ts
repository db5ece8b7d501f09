/** The files of Claude Code and Codex as items, in the formats of their real versions: the same as the live turn. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { appendFileSync, closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, readdirSync, statSync, writeSync } from 'node:fs'; // prettier-ignore
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type { Item } from '@relay/protocol';
import { type Agent, type TranscriptSettings, type TurnReport, createMapper } from '@relay/daemon-kit';
import type { DoubleConnection } from '@relay/daemon-kit/conformance';
import { presetOf } from '../src/agents/acp/presets.ts';
import { claudeFormat } from '../src/agents/history/claude.ts';
import { historyOf } from '../src/agents/history/readers.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

type Row = Record<string, unknown>;
const start = Date.UTC(2026, 0, 1);
const time = (second: number) => new Date(start + second * 1000).toISOString();
const lines = (rows: readonly unknown[]) =>
  rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');

const claudeFile = (root: string) => join(root, '.claude/projects/-my-project/c1.jsonl');
const codexFile = (root: string) => join(root, '.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-x1.jsonl');
const put = (path: string, rows: readonly unknown[]) => {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, lines(rows));
};

let seconds = 0;
const user = (uuid: string, content: unknown, more: Row = {}): Row => ({
  type: 'user',
  uuid,
  cwd: '/my/project',
  timestamp: time(seconds++),
  message: { role: 'user', content },
  ...more,
});
const agent = (id: string, block: Row, more: Row = {}): Row => ({
  type: 'assistant',
  uuid: `row-${seconds}`,
  cwd: '/my/project',
  timestamp: time(seconds++),
  message: { id, role: 'assistant', content: [block], stop_reason: block.type === 'tool_use' ? 'tool_use' : 'end_turn', usage: { input_tokens: 100, output_tokens: 20 } }, // prettier-ignore
  ...more,
});
const text = (words: string) => ({ type: 'text', text: words });
const use = (id: string, name: string, input: Row) => ({ type: 'tool_use', id, name, input });
const result = (id: string, content: unknown, more: Row = {}) => ({ type: 'tool_result', tool_use_id: id, content, ...more }); // prettier-ignore
const patch = [{ oldStart: 7, newStart: 7, lines: [' same', '-made', '+changed'] }];

/** A turn of Claude Code, as its file has it and as its adapter sent it. */
const claudeTurn = (): Row[] => [
  user('u1', [text('Fix it')]),
  { type: 'attachment', attachment: { type: 'date' } },
  agent('m1', { type: 'thinking', thinking: 'Hmm.' }),
  agent('m1', text('I look.')),
  agent('m1', use('c1', 'Bash', { command: 'npm test', description: 'tests' })),
  user('r1', [result('c1', '42 passed')], { toolUseResult: { stdout: '42 passed', stderr: '' } }),
  agent('m2', use('c2', 'Edit', { file_path: '/my/project/a.ts', old_string: 'made', new_string: 'changed' })),
  user('r2', [result('c2', 'updated')], { toolUseResult: { filePath: '/my/project/a.ts', structuredPatch: patch } }),
  agent('m3', use('c3', 'TodoWrite', { todos: [{ content: 'first', status: 'completed' }, { content: 'second', status: 'in_progress', activeForm: 'Doing' }] })), // prettier-ignore
  user('r3', [result('c3', 'ok')]),
  // Newer versions keep a list of tasks instead.
  agent('m3', use('c3a', 'TaskCreate', { subject: 'look', description: 'at the code' })),
  user('r3a', [result('c3a', 'Task #1 created successfully: look')], { toolUseResult: { task: { id: '1', subject: 'look' } } }), // prettier-ignore
  agent('m3', use('c3b', 'TaskCreate', { subject: 'leap', description: 'over it', activeForm: 'Leaping' })),
  user('r3b', [result('c3b', 'Task #2 created successfully: leap')]),
  agent('m3', use('c3c', 'TaskUpdate', { taskId: '2', status: 'in_progress' })),
  user('r3c', [result('c3c', 'Updated task #2 status')], { toolUseResult: { success: true, taskId: '2', updatedFields: ['status'] } }), // prettier-ignore
  agent('m3', use('c3d', 'TaskUpdate', { taskId: '9', status: 'completed' })),
  user('r3d', [result('c3d', 'Task #9 not found')]),
  agent('m4', use('c4', 'Bash', { command: 'rm -r x' })),
  user('r4', [result('c4', 'User refused permission to run tool', { is_error: true })]),
  agent('m5', use('c5', 'Read', { file_path: '/my/project/a.png' })),
  user('r5', [
    result('c5', [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' } }]),
  ]),
  agent('m6', text('All done.')),
];
const claude = (toolName: string, more: Row = {}) => ({ _meta: { claudeCode: { toolName, ...more } } });
const call = (toolCallId: string, more: Row) => ({
  sessionUpdate: 'tool_call',
  toolCallId,
  status: 'pending',
  ...more,
});
const done = (toolCallId: string, more: Row) => ({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', ...more }); // prettier-ignore
const shown = (words: string) => [{ type: 'content', content: text(words) }];
const claudeLive: Row[] = [
  { sessionUpdate: 'agent_thought_chunk', messageId: 'm1', content: text('Hmm.') },
  { sessionUpdate: 'agent_message_chunk', messageId: 'm1', content: text('I ') },
  { sessionUpdate: 'agent_message_chunk', messageId: 'm1', content: text('look.') },
  call('c1', { name: 'Bash', title: 'Terminal', kind: 'execute', rawInput: {}, content: [], ...claude('Bash') }),
  { sessionUpdate: 'tool_call_update', toolCallId: 'c1', title: 'npm test', rawInput: { command: 'npm test', description: 'tests' }, content: shown('tests'), ...claude('Bash') }, // prettier-ignore
  { sessionUpdate: 'tool_call_update', toolCallId: 'c1', ...claude('Bash', { toolResponse: { stdout: '42 passed' } }) },
  done('c1', { rawOutput: '42 passed', content: shown('```console\n42 passed\n```'), ...claude('Bash') }),
  call('c2', { name: 'Edit', title: 'Edit a.ts', kind: 'edit', rawInput: { file_path: '/my/project/a.ts', old_string: 'made', new_string: 'changed' }, locations: [{ path: '/my/project/a.ts' }], content: [{ type: 'diff', path: '/my/project/a.ts', oldText: 'made', newText: 'changed' }], ...claude('Edit') }), // prettier-ignore
  { sessionUpdate: 'tool_call_update', toolCallId: 'c2', ...claude('Edit', { toolResponse: { filePath: '/my/project/a.ts', structuredPatch: patch } }) }, // prettier-ignore
  done('c2', claude('Edit')),
  { sessionUpdate: 'plan', entries: [{ content: 'first', status: 'completed', priority: 'medium' }, { content: 'Doing', status: 'in_progress', priority: 'medium' }] }, // prettier-ignore
  { sessionUpdate: 'plan', entries: [{ content: 'look', status: 'pending', priority: 'medium' }] },
  { sessionUpdate: 'plan', entries: [{ content: 'look', status: 'pending', priority: 'medium' }, { content: 'Leaping', status: 'in_progress', priority: 'medium' }] }, // prettier-ignore
  call('c4', { name: 'Bash', title: 'rm -r x', kind: 'execute', rawInput: { command: 'rm -r x' }, content: [], ...claude('Bash') }), // prettier-ignore
  // The result of the user's rejection.
  { ...done('c4', { content: shown('```\nUser refused permission to run tool\n```') }), status: 'rejected' },
  call('c5', { name: 'Read', title: 'Read a.png', kind: 'read', rawInput: { file_path: '/my/project/a.png' }, locations: [{ path: '/my/project/a.png', line: 1 }], ...claude('Read') }), // prettier-ignore
  done('c5', { content: [{ type: 'content', content: { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' } }] }),
  { sessionUpdate: 'agent_message_chunk', messageId: 'm6', content: text('All done.') },
];

const event = (payload: Row): Row => ({ type: 'event_msg', timestamp: time(seconds++), payload });
const item = (of: Row) => event({ type: 'item_completed', item: of });
const response = (payload: Row): Row => ({ type: 'response_item', timestamp: time(seconds++), payload });
const codexMeta = (): Row => ({
  type: 'session_meta',
  timestamp: time(seconds++),
  payload: { id: 'x1', cwd: '/my/project' },
});
const codexTurn = (): Row[] => [
  event({ type: 'task_started' }),
  item({ type: 'UserMessage', id: 'i1', content: [text('Fix it')] }),
  item({ type: 'Reasoning', id: 'rs1', summary_text: ['Hmm.'], raw_content: [] }),
  item({ type: 'AgentMessage', id: 'm1', content: [{ type: 'Text', text: 'I look.' }] }),
  { type: 'response_item', timestamp: time(seconds), payload: { type: 'message', role: 'assistant', content: [] } },
  response({ type: 'function_call', id: 'fc', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"npm test"}' }),
  item({ type: 'CommandExecution', id: 'c1', command: ['/bin/bash', '-lc', 'npm test'], cwd: 'file:///my/project', status: 'completed', aggregated_output: '42 passed', exit_code: 0 }), // prettier-ignore
  item({ type: 'FileChange', id: 'c2', changes: { '/my/project/a.ts': { type: 'update', unified_diff: '--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n--- made\n+++ changed\n', move_path: null } }, status: 'completed' }), // prettier-ignore
  event({ type: 'plan_update', plan: [{ step: 'first', status: 'in_progress' }] }),
  response({ type: 'function_call', id: 'fc', call_id: 'c3', name: 'exec_command', arguments: '{"cmd":"rm -r x"}' }),
  response({ type: 'function_call_output', id: 'fco', call_id: 'c3', output: 'aborted by user' }),
  event({ type: 'token_count', info: { last_token_usage: { total_tokens: 120 }, model_context_window: 258400 } }),
  item({ type: 'AgentMessage', id: 'm2', content: [{ type: 'Text', text: 'All done.' }] }),
  event({ type: 'task_complete' }),
];
const codexLive: Row[] = [
  { sessionUpdate: 'agent_thought_chunk', messageId: 'rs1', content: text('\n\n') },
  { sessionUpdate: 'agent_thought_chunk', messageId: 'rs1', content: text('Hmm.') },
  { sessionUpdate: 'agent_message_chunk', messageId: 'm1', content: text('I look.') },
  call('c1', { status: 'in_progress', kind: 'execute', title: 'npm test', rawInput: { command: 'npm test', cwd: '/my/project' } }), // prettier-ignore
  done('c1', { _meta: { terminal_output_delta: { data: '42 passed' }, terminal_exit: { exit_code: 0 } } }),
  call('c2', { kind: 'edit', title: 'Editing files', locations: [{ path: '/my/project/a.ts' }], content: [{ type: 'diff', path: '/my/project/a.ts', oldText: '-- made\n', newText: '++ changed\n' }] }), // prettier-ignore
  done('c2', {}),
  { sessionUpdate: 'plan', entries: [{ content: 'first', status: 'in_progress' }] },
  call('c3', { kind: 'execute', title: 'rm -r x', rawInput: { command: 'rm -r x' } }),
  { ...done('c3', { _meta: { terminal_exit: { exit_code: null } } }), status: 'failed' },
  { sessionUpdate: 'usage_update', used: 120, size: 258400 },
  { sessionUpdate: 'agent_message_chunk', messageId: 'm2', content: text('All done.') },
];

it.each([
  ['through the adapter', 'User refused permission to run tool'],
  [
    'in the terminal',
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).",
  ],
  [
    'in the terminal, as a block',
    [text("The user doesn't want to take this action right now. STOP what you are doing.")],
  ],
])('W1: a call refused %s is rejected in the files of Claude Code, and a failed one is failed', (_, words) => {
  const rows = [
    user('r1', [text('Go')]),
    agent('m1', use('c1', 'Bash', { command: 'rm -r x' })),
    user('r2', [result('c1', words, { is_error: true })]),
    agent('m2', use('c2', 'Bash', { command: 'false' })),
    user('r3', [result('c2', 'Exit code 1', { is_error: true })]),
    agent('m3', text('Done.')),
  ];
  const mapper = createMapper({ sessionId: 's', cwd: '/', detail: 'full', thoughts: true, replay: true, now: () => 0 });
  const changes = claudeFormat
    .updates(rows.map((row, place) => ({ row, place })))
    .flatMap(({ update }) => mapper.update(update));
  const states = changes.flatMap((change) => (change.op === 'set' && change.part.status ? [change.part.status] : []));
  expect(states).toEqual(['rejected', 'failed']);
});

it('44: marks messages that a person typed in a terminal of Claude Code, and no message of its adapter', () => {
  const attachment = { type: 'queued_command', prompt: 'And the tests?', commandMode: 'prompt' };
  const rows = [
    user('u1', [text('Go')], { entrypoint: 'sdk-ts' }),
    agent('m1', text('Done.'), { entrypoint: 'sdk-ts' }),
    user('u2', [text('Go on')], { entrypoint: 'cli' }),
    { type: 'attachment', uuid: 'u3', timestamp: time(seconds++), attachment, entrypoint: 'cli' },
    agent('m2', text('Done.'), { entrypoint: 'cli' }),
  ];
  const mapper = createMapper({ sessionId: 's', cwd: '/', detail: 'full', thoughts: true, replay: true, now: () => 0 });
  const changes = claudeFormat
    .updates(rows.map((row, place) => ({ row, place })))
    .flatMap(({ update }) => mapper.update(update));
  const parts = changes.flatMap((change) => (change.op === 'put' ? [change.item.part] : []));
  expect(parts.filter(({ kind }) => kind === 'user')).toEqual([
    { kind: 'user' },
    { kind: 'user', at: 'desk' },
    { kind: 'user', at: 'desk' },
  ]);
});

/** An agent with scripted output. */
function puppet(
  sessionId: string,
  updates: readonly Row[],
  onTurn: (report: TurnReport) => void = () => undefined,
): Agent {
  return {
    tellsUpdates: true,
    open: () => Promise.resolve({ sessionId, projectPath: '/my/project' }),
    start(_turn, report) {
      for (const update of updates) report.update?.(update);
      onTurn(report);
      report.complete('All done.');
      return { ended: Promise.resolve(), cancel: () => Promise.resolve() };
    },
  };
}

interface WorldOptions {
  agent?: Agent;
  transcript?: Partial<TranscriptSettings>;
  storeDir?: string;
}
/** A daemon beside the files of an agent below `root`. */
async function world(
  preset: string,
  root: string,
  { agent = puppet('other', []), transcript, storeDir = home.folder() }: WorldOptions = {},
) {
  // prettier-ignore
  const relay = await home.relay({ declares: ['transcript', 'prompts'] });
  const outside = historyOf(presetOf(preset), { HOME: root })!;
  const timings = { watchIntervalMs: 20, reportIntervalMs: 50 };
  const daemon = home.daemon(relay, agent, { outside, storeDir, timings, ...(transcript ? { transcript } : {}) });
  return { daemon, connection: await relay.connection(), storeDir };
}
async function page(connection: DoubleConnection, sessionId: string, more: Row = {}) {
  connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 200, parts: true, ...more }); // prettier-ignore
  const frame = await connection.frame('messages');
  return { items: (frame.messages ?? []) as Item[], hasMore: frame.has_more, error: frame.error };
}
const agents = [
  { preset: 'claude_code', sessionId: 'c1', file: claudeFile, rows: claudeTurn, live: claudeLive },
  { preset: 'codex', sessionId: 'x1', file: codexFile, rows: () => [codexMeta(), ...codexTurn()], live: codexLive },
];
/**
 * The parts that every source shares: everything except places, times, the user's text, and details of a single source.
 */
const essence = (items: readonly Item[]) =>
  items
    .filter(({ role, part }) => role === 'AGENT' && part.kind !== 'usage')
    .map(({ uuid, content, part: { name: _name, left: _left, ended: _ended, about: _about, ...part } }) => ({
      uuid,
      content,
      part,
    }));

describe.each(agents)('a turn in the files of $preset', ({ preset, sessionId, file, rows, live }) => {
  it('has the same items, uuids and order as the same turn live', async () => {
    const root = home.folder();
    put(file(root), rows());
    const read = await page((await world(preset, root)).connection, sessionId);
    const { connection } = await world(preset, home.folder(), { agent: puppet(sessionId, live) });
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'Fix it' });
    await connection.event('TASK_COMPLETE', 't1');
    const told = await page(connection, sessionId);
    expect(essence(read.items)).toEqual(essence(told.items));
    expect(read.items.map(({ part }) => part.kind)).toEqual(
      expect.arrayContaining(['user', 'thought', 'text', 'tool', 'plan', 'usage']),
    );
    const edit = read.items.find(({ part }) => part.id === 'c2')!.part;
    expect(edit).toMatchObject({ status: 'completed', diffs: [{ path: 'a.ts', added: 1, removed: 1 }] });
    expect(read.items[0]).toMatchObject({ role: 'USER', content: 'Fix it', turn: read.items[0]!.uuid });
  });

  it('is the same after a restart of the daemon, and for another daemon', async () => {
    const root = home.folder();
    put(file(root), rows());
    const { daemon, connection, storeDir } = await world(preset, root);
    const before = await page(connection, sessionId);
    await daemon.stop();
    const { items } = await page((await world(preset, root, { storeDir })).connection, sessionId);
    expect(items).toEqual(before.items);
    const other = await page((await world(preset, root)).connection, sessionId);
    expect(other.items.map(({ uuid, seq, content }) => [uuid, seq, content])).toEqual(
      items.map(({ uuid, seq, content }) => [uuid, seq, content]),
    );
  });

  it('appears once if the daemon itself ran it, like later local messages', async () => {
    const root = home.folder();
    seconds = (Date.now() - start) / 1000;
    const write = () => put(file(root), rows());
    const { connection } = await world(preset, root, { agent: puppet(sessionId, live, write) });
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'Fix it' });
    await connection.event('TASK_COMPLETE', 't1');
    await connection.frame('report_sessions');
    const { items } = await page(connection, sessionId);
    expect(items.filter(({ part }) => part.kind === 'user')).toHaveLength(1);
    expect(items.at(-1)).toMatchObject({ content: 'All done.' });
    seconds += 60;
    const more = preset === 'codex' ? [event({ type: 'task_started' }), item({ type: 'UserMessage', id: 'i9', content: [text('And now?')] }), item({ type: 'AgentMessage', id: 'm9', content: [text('Now too.')] }), event({ type: 'task_complete' })] : [user('u9', 'And now?'), agent('m9', text('Now too.'))]; // prettier-ignore
    put(file(root), more);
    const after = await page(connection, sessionId);
    expect(after.items.slice(0, items.length)).toEqual(items);
    const added = after.items.slice(items.length).filter(({ part }) => part.kind !== 'usage');
    expect(added.map(({ content }) => content)).toEqual(['And now?', 'Now too.']);
  });

  it('has no thoughts and no details if the user turned them off', async () => {
    const root = home.folder();
    put(file(root), rows());
    const { connection } = await world(preset, root, { transcript: { detail: 'outline', thoughts: false } });
    const { items } = await page(connection, sessionId);
    expect(items.map(({ part }) => part.kind)).not.toContain('thought');
    for (const { part } of items.filter(({ part: { kind } }) => kind === 'tool'))
      expect(Object.keys(part)).not.toEqual(expect.arrayContaining(['command', 'output', 'diffs']));
  });

  it('is readable with any damage to single lines', async () => {
    const good = rows();
    const path = file(home.folder());
    const outside = historyOf(presetOf(preset), { HOME: path.slice(0, path.indexOf('/.')) })!;
    const odd = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
    );
    const broken = fc.record({ at: fc.nat(good.length - 1), how: fc.constantFrom('cut', 'odd', 'twist'), with: odd, name: fc.nat(5) }); // prettier-ignore
    mkdirSync(dirname(path), { recursive: true });
    await fc.assert(
      fc.asyncProperty(fc.array(broken, { maxLength: 4 }), async (faults) => {
        const texts: string[] = good.map((row) => JSON.stringify(row));
        for (const { at, how, with: what, name } of faults) {
          // The first row of Codex names the session.
          if (at === 0) continue;
          if (how === 'cut') texts[at] = texts[at]!.slice(0, Math.floor(texts[at]!.length / 2));
          else if (how === 'odd') texts[at] = what.replaceAll('\n', ' ');
          else {
            const row = good[at]!;
            const key = Object.keys(row)[name % Object.keys(row).length]!;
            texts[at] = JSON.stringify({ ...row, [key]: what });
          }
        }
        const file = openSync(path, 'w');
        writeSync(file, texts.join('\n'));
        closeSync(file);
        outside.sessions();
        const read = outside.read(sessionId);
        const whole = new Set(faults.map(({ at }) => at));
        if (whole.has(good.length - 1) || whole.has(good.length - 2)) return;
        expect(JSON.stringify(read?.updates)).toContain('All done.');
        await Promise.resolve();
      }),
      { numRuns: 200 },
    );
  });
});

describe('a turn in the files of an agent', () => {
  it('keeps its text when interrupted, closes its tool, and has a mark', async () => {
    const root = home.folder();
    const interrupted = '[Request interrupted by user for tool use]';
    put(claudeFile(root), [
      ...claudeTurn().slice(0, 5),
      user('r1', [result('c1', 'stopped', { is_error: true })]),
      user('x', [text(interrupted)]),
    ]);
    const { items } = await page((await world('claude_code', root)).connection, 'c1');
    expect(JSON.stringify(items)).not.toContain(interrupted);
    expect(items.slice(-2).map(({ part }) => [part.kind, part.status ?? part.what])).toEqual([
      ['tool', 'failed'],
      ['mark', 'cancelled'],
    ]);
  });

  it('has one mark after a cancel from an app, live and in the file', async () => {
    const root = home.folder();
    let end = (): void => undefined;
    const slow: Agent = {
      tellsUpdates: true,
      open: () => Promise.resolve({ sessionId: 'c1', projectPath: '/my/project' }),
      start(_turn, report) {
        for (const update of claudeLive.slice(0, 3)) report.update?.(update);
        const ended = new Promise<void>((resolve) => (end = resolve));
        return { ended, cancel: () => Promise.resolve(end()) };
      },
    };
    const { connection } = await world('claude_code', root, { agent: slow });
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'Fix it' });
    await connection.event('SESSION_STARTED', 't1');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    await connection.settle();
    seconds = (Date.now() - start) / 1000 + 5;
    put(claudeFile(root), [...claudeTurn().slice(0, 4), user('x', [text('[Request interrupted by user]')])]);
    await connection.frame('report_sessions');
    await connection.frame('report_sessions');
    const { items } = await page(connection, 'c1');
    expect(items.filter(({ part }) => part.kind === 'mark')).toHaveLength(1);
    expect(items.filter(({ role }) => role === 'USER')).toHaveLength(1);
  });

  it('that still runs shows only parts that can no longer change', async () => {
    const root = home.folder();
    put(claudeFile(root), claudeTurn().slice(0, 5));
    const { connection } = await world('claude_code', root);
    const before = await page(connection, 'c1');
    expect(before.items.map(({ part }) => part.kind)).toEqual(['user', 'thought', 'usage', 'text']);
    seconds += 10;
    put(claudeFile(root), claudeTurn().slice(5));
    const { items } = await page(connection, 'c1');
    expect(items.slice(0, 4)).toEqual(before.items);
    expect(items.find(({ part }) => part.id === 'c1')?.part).toMatchObject({
      status: 'completed',
      output: '42 passed',
    });
  });

  it('of Claude Code completes with the last block of its answer, and no earlier one', async () => {
    const root = home.folder();
    /** The first blocks of an answer have no stop reason. */
    const part = (id: string, block: Row): Row => ({
      ...agent(id, block),
      message: { id, role: 'assistant', content: [block], stop_reason: null },
    });
    put(claudeFile(root), [user('u0', 'Hello'), agent('m0', text('Hello too.'))]);
    const { connection } = await world('claude_code', root);
    connection.send({ type: 'watch_session', session_id: 'c1' });
    await page(connection, 'c1');
    put(claudeFile(root), [user('u1', 'Look'), part('m1', text('I look.'))]);
    expect(await connection.frame('session_activity')).toMatchObject({
      last_message: 'I look.',
      is_completion: false,
    });
    put(claudeFile(root), [part('m1', use('a', 'Bash', { command: 'ls' }))]);
    expect((await page(connection, 'c1')).items.at(-1)).toMatchObject({ content: 'I look.' });
    put(claudeFile(root), [
      agent('m1', use('b', 'Bash', { command: 'pwd' })),
      user('r1', [result('a', 'a.ts')]),
      user('r2', [result('b', '/my/project')]),
      part('m2', { type: 'thinking', thinking: 'Hmm.' }),
      agent('m2', text('Done.')),
    ]);
    expect(await connection.frame('session_activity')).toMatchObject({ last_message: 'Done.', is_completion: true });
    const { items } = await page(connection, 'c1');
    expect(items.find(({ part: { id } }) => id === 'a')?.part).toMatchObject({ status: 'completed', output: 'a.ts' });
  });

  it('has messages that the user typed during the turn, and no notes to the agent', async () => {
    const root = home.folder();
    let queue = 0;
    const queued = (commandMode: string, prompt: unknown, more: Row = {}): Row => ({
      type: 'attachment',
      uuid: `q${queue++}`,
      timestamp: time(seconds++),
      attachment: { type: 'queued_command', prompt, commandMode, ...more },
    });
    const note = '<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>';
    put(claudeFile(root), [
      ...claudeTurn().slice(0, 6),
      { type: 'queue-operation', operation: 'enqueue', timestamp: time(seconds), content: 'And the tests?' },
      { type: 'queue-operation', operation: 'remove', timestamp: time(seconds) },
      queued('prompt', 'And the tests?', { origin: { kind: 'human' } }),
      queued('prompt', [text('And these: '), text('all.')]),
      queued('task-notification', note),
      queued('prompt', 'continue', { isMeta: true }),
      agent('m2', text('Those too.')),
      user('n1', note),
      agent('m3', text('Noted.')),
    ]);
    const { connection } = await world('claude_code', root);
    const { items } = await page(connection, 'c1');
    const shown = items.filter(({ part: { kind } }) => ['user', 'tool', 'text'].includes(kind));
    expect(shown.map(({ role, part: { kind }, content }) => (kind === 'tool' ? kind : `${role} ${content}`))).toEqual([
      'USER Fix it',
      'AGENT I look.',
      'tool',
      'USER And the tests?',
      'USER And these: all.',
      'AGENT Those too.',
      'AGENT Noted.',
    ]);
    expect(shown[2]?.part).toMatchObject({ status: 'completed', output: '42 passed' });
    const again = await page((await world('claude_code', root)).connection, 'c1');
    expect(again.items.map(({ uuid }) => uuid)).toEqual(items.map(({ uuid }) => uuid));
  });

  it('names the call that started another agent', async () => {
    const root = home.folder();
    const side = { isSidechain: true };
    put(claudeFile(root), [
      user('u1', 'Look'),
      agent('m1', use('a1', 'Task', { description: 'Looking around' })),
      agent('s1', text('inside'), side),
      agent('s1', use('a2', 'Bash', { command: 'ls' }), side),
      user('s2', [result('a2', 'a.ts')], side),
      user('r1', [result('a1', 'found')]),
      agent('m2', text('Found.')),
    ]);
    const { items } = await page((await world('claude_code', root)).connection, 'c1');
    expect(
      items.filter(({ part }) => part.kind === 'tool').map(({ part }) => [part.id, part.title, part.parent]),
    ).toEqual([
      ['a1', 'Looking around', undefined],
      ['a2', 'ls', 'a1'],
    ]);
    expect(JSON.stringify(items)).not.toContain('inside');
  });
});

/** Writes these turns, each followed by a line of a megabyte; holes use no disk space. */
const putLarge = (path: string, turns: readonly (readonly Row[])[]) => {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, 'w');
  let size = 0;
  for (const turn of turns) {
    const rows = Buffer.from(lines(turn));
    size += writeSync(file, rows, 0, rows.length, size);
    ftruncateSync(file, (size += 1024 * 1024));
    size += writeSync(file, '\n', size);
  }
  closeSync(file);
  return path;
};
/** Every item of a session, a page at a time. */
const allOf = async (connection: DoubleConnection, sessionId: string) => {
  const first = await page(connection, sessionId, { limit: 6 });
  const all = [...first.items];
  for (let more = first.hasMore; more;) {
    const older = await page(connection, sessionId, { limit: 50, before_uuid: all[0]!.uuid });
    expect(older.error).toBeUndefined();
    all.unshift(...older.items);
    more = older.hasMore;
  }
  return all;
};

it('a large file of an older Codex without message ids has each message once, and new ones', async () => {
  const root = home.folder();
  const turn = (number: number) => [
    event({ type: 'user_message', message: `question ${number}` }),
    event({ type: 'agent_message', message: `answer ${number}` }),
  ];
  const turns = Array.from({ length: 10 }, (_, number) => turn(number));
  putLarge(codexFile(root), [[codexMeta()], ...turns]);
  const { connection } = await world('codex', root);
  const words = async () => {
    const items = await allOf(connection, 'x1');
    expect(new Set(items.map(({ uuid }) => uuid)).size).toBe(items.length);
    return items.map(({ content }) => content);
  };
  const expected = turns.flatMap((_, number) => [`question ${number}`, `answer ${number}`]);
  expect(await words()).toEqual(expected);
  // The section that the reader loads starts later now.
  put(codexFile(root), [' '.repeat(1024 * 1024), ...turn(10)]);
  expect(await words()).toEqual([...expected, 'question 10', 'answer 10']);
});

it('a turn of Codex that is longer than a section stays open after a remark', async () => {
  const root = home.folder();
  const said = (id: string, words: string) => item({ type: 'AgentMessage', id, content: [text(words)] });
  putLarge(codexFile(root), [
    [codexMeta(), event({ type: 'task_started' }), item({ type: 'UserMessage', id: 'i1', content: [text('Fix it')] })],
    ...Array.from({ length: 5 }, (_, number) => [said(`m${number}`, `Remark ${number}.`)]),
  ]);
  const { connection } = await world('codex', root);
  connection.send({ type: 'watch_session', session_id: 'x1' });
  expect((await page(connection, 'x1')).items.at(-1)).toMatchObject({ content: 'Remark 4.' });
  put(codexFile(root), [said('m5', 'Remark 5.')]);
  expect(await connection.frame('session_activity')).toMatchObject({ last_message: 'Remark 5.', is_completion: false });
  put(codexFile(root), [said('m6', 'Done.'), event({ type: 'task_complete' })]);
  expect(await connection.frame('session_activity')).toMatchObject({ last_message: 'Done.', is_completion: true });
});

describe('a file of 200 MB', () => {
  const turns = 200;
  const large = (root: string) =>
    putLarge(
      claudeFile(root),
      Array.from({ length: turns }, (_, turn) => [
        user(`u${turn}`, `question ${turn}`),
        agent(`m${turn}`, text(`answer ${turn}`)),
      ]),
    );
  const readBytes = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

  it('costs one page to open, and can be paged to its start, once and in order', async () => {
    const root = home.folder();
    expect(statSync(large(root)).size).toBeGreaterThan(200 * 1024 * 1024);
    const { connection, storeDir } = await world('claude_code', root);
    await connection.frame('report_sessions');
    const before = readBytes();
    const first = await page(connection, 'c1', { limit: 6 });
    expect(readBytes() - before).toBeLessThan(32 * 1024 * 1024);
    expect(first.items.at(-2)).toMatchObject({ content: `answer ${turns - 1}` });
    const all = await allOf(connection, 'c1');
    const said = all.filter(({ part }) => part.kind !== 'usage').map(({ content }) => content);
    expect(said).toEqual(Array.from({ length: turns }, (_, turn) => [`question ${turn}`, `answer ${turn}`]).flat());
    expect(all.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq).toSorted((one, other) => one - other));
    expect(new Set(all.map(({ uuid }) => uuid)).size).toBe(all.length);
    const folder = join(storeDir, 'sessions');
    expect(statSync(join(folder, readdirSync(folder)[0]!)).size).toBeLessThan(1024 * 1024);
  }, 60_000);

  it('accepts a cursor of an earlier process, and an unknown one', async () => {
    const root = home.folder();
    large(root);
    const { connection } = await world('claude_code', root);
    const newest = await page(connection, 'c1', { limit: 20 });
    const older = await page(connection, 'c1', { limit: 2, before_uuid: newest.items[0]!.uuid });
    const other = await world('claude_code', root);
    expect((await page(other.connection, 'c1', { limit: 2, before_uuid: newest.items[0]!.uuid })).items).toEqual(older.items); // prettier-ignore
    expect((await page(other.connection, 'c1', { limit: 2, before_uuid: 'nobody' })).error).toContain('before_uuid');
  }, 60_000);
});
