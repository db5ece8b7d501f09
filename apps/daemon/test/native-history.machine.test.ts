import { afterEach, describe, expect, it } from '@jest/globals';
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { presetOf } from '../src/agents/acp/presets.ts';
import { claudeFormat } from '../src/agents/history/claude.ts';
import { nativeHistory } from '../src/agents/history/native.ts';
import { historyOf } from '../src/agents/history/readers.ts';
import { demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const lines = (rows: readonly unknown[]) =>
  rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('');
const put = (path: string, rows: readonly unknown[]) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines(rows));
};
const claudeFile = (root: string) => join(root, '.claude/projects/-my-project/c1.jsonl');
const qwenFile = (root: string) => join(root, '.qwen/projects/-my-project/chats/q1.jsonl');
const geminiFile = (root: string) => join(root, '.gemini/tmp/project/chats/session-1.jsonl');
const time = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

const claudeUser = (uuid: string, text: unknown, second: number, more = {}) => ({
  type: 'user',
  uuid,
  cwd: '/my/project',
  timestamp: time(second),
  message: { role: 'user', content: text },
  ...more,
});
const claudeAgent = (id: string, content: unknown[], second: number, more = {}) => ({
  type: 'assistant',
  uuid: `row-${second}`,
  timestamp: time(second),
  message: { id, role: 'assistant', content, stop_reason: 'end_turn' },
  ...more,
});
const text = (words: string) => ({ type: 'text', text: words });

const geminiUser = (id: string, words: string, second: number) => ({
  id,
  type: 'user',
  timestamp: time(second),
  content: [{ text: words }],
});
const geminiAgent = (id: string, content: string, second: number, more = {}) => ({
  id,
  type: 'gemini',
  timestamp: time(second),
  content,
  ...more,
});

/** Files of each agent in a fresh home, in its own format; all contain "hello" and "agent: hello". */
const kept: Record<string, (root: string) => string> = {
  claude_code(root) {
    put(claudeFile(root), [
      { type: 'summary', summary: 'Saying hello' },
      claudeUser('u0', '<command-name>/model</command-name>', 0),
      claudeUser('u1', 'hello', 1),
      claudeUser('u2', 'side', 1, { isSidechain: true }),
      claudeUser('u3', 'meta', 1, { isMeta: true }),
      claudeAgent('m1', [text('agent: ')], 2),
      claudeAgent('m1', [{ type: 'tool_use', id: 'c1', name: 'x' }], 3),
      claudeUser('u4', [{ type: 'tool_result', tool_use_id: 'c1', content: 'result' }], 3),
      claudeAgent('m1', [text('hello')], 4),
      claudeAgent('m2', [text('API Error')], 5, { isApiErrorMessage: true }),
      '{"type":"user","torn',
    ]);
    return 'c1';
  },
  codex(root) {
    const path = join(root, '.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-x1.jsonl');
    const event = (payload: object, second: number) => ({ type: 'event_msg', timestamp: time(second), payload });
    put(path, [
      { type: 'session_meta', payload: { id: 'x1', cwd: '/my/project', source: 'exec' } },
      event({ type: 'task_started' }, 0),
      event({ type: 'user_message', message: 'hello' }, 1),
      event({ type: 'item_completed', item: { type: 'UserMessage', id: 'i1', content: [text('hello')] } }, 1),
      event({ type: 'item_completed', item: { type: 'Reasoning', id: 'i2', text: 'thought' } }, 1),
      event({ type: 'item_completed', item: { type: 'AgentMessage', id: 'i3', content: [text('agent: hello')] } }, 4),
      event({ type: 'agent_message', message: 'agent: hello' }, 4),
      event({ type: 'task_complete' }, 4),
    ]);
    return 'x1';
  },
  qwen(root) {
    put(qwenFile(root), [
      {
        type: 'user',
        uuid: 'a',
        sessionId: 'q1',
        cwd: '/my/project',
        timestamp: time(1),
        message: { parts: [{ text: 'hello' }] },
      },
      {
        type: 'assistant',
        uuid: 'b',
        sessionId: 'q1',
        timestamp: time(4),
        message: { parts: [{ text: 'thinking', thought: true }, { text: 'agent: hello' }] },
      },
    ]);
    return 'q1';
  },
  gemini(root) {
    put(join(root, '.gemini/tmp/project/.project_root'), ['/my/project']);
    put(geminiFile(root), [
      { sessionId: 'g1', projectHash: 'f0', startTime: time(0), lastUpdated: time(0), kind: 'main' },
      { $set: { messages: [geminiUser('s', '<session_context>\nThis is the Gemini CLI.', 0)] } },
      geminiUser('a', 'hello', 1),
      { $set: { lastUpdated: time(1) } },
      geminiAgent('b', 'agent: hello', 4, { tokens: null }),
      geminiAgent('b', 'agent: hello', 4, { tokens: { input: 1, output: 1, total: 2 } }),
      geminiUser('c', 'rewound', 5),
      geminiAgent('d', 'agent: rewound', 6),
      { $rewindTo: 'c' },
      { $rewindTo: 'unknown' },
      { id: 'i', type: 'info', timestamp: time(7), content: 'Chat history compressed from 9000 to 1200 tokens.' },
      {
        $set: {
          messages: [
            geminiUser('x1', '<state_snapshot>hello was said</state_snapshot>', 7),
            geminiAgent('x2', 'Got it. Thanks for the additional context!', 7),
            geminiUser('x3', 'hello', 7),
            geminiAgent('x4', 'agent: hello', 7),
          ],
        },
      },
    ]);
    return 'g1';
  },
};

const reader = (agent: string, root: string) => {
  const outside = historyOf(presetOf(agent), { HOME: root });
  if (!outside) throw new Error(`no reader for ${agent}`);
  return outside;
};

describe('the files of an agent', () => {
  it.each(Object.keys(kept))('of %s become sessions with project, times and messages', (agent) => {
    const root = home.folder();
    const sessionId = kept[agent]!(root);
    const outside = reader(agent, root);
    // After a tool call the same message continues as another item.
    const isCut = agent === 'claude_code';
    expect(outside.sessions()).toEqual([
      {
        sessionId,
        title: agent === 'claude_code' ? 'Saying hello' : 'hello',
        projectPath: '/my/project',
        lastMessage: isCut ? 'hello' : 'agent: hello',
        lastActivity: time(4),
        messageCount: isCut ? 3 : 2,
        isActive: false,
      },
    ]);
    const read = outside.read(sessionId);
    expect(read).toMatchObject({ projectPath: '/my/project', open: false, start: 0 });
    const kinds = ['user_message_chunk', 'agent_message_chunk'];
    const said = (read?.updates ?? []).filter(({ update }) => kinds.includes(update.sessionUpdate as string));
    expect(said.map(({ update, at }) => [update.sessionUpdate, (update.content as { text: string }).text, at])).toEqual(
      [
        ['user_message_chunk', 'hello', time(1)],
        ...(isCut ? [['agent_message_chunk', 'agent: ', time(2)]] : []),
        ['agent_message_chunk', isCut ? 'hello' : 'agent: hello', time(4)],
      ],
    );
  });

  it('of Gemini contain a resumed chat, which is in no other file', () => {
    const root = home.folder();
    kept.gemini!(root);
    put(geminiFile(root), [
      { sessionId: 'g1', projectHash: 'f0', startTime: time(0) },
      { $set: { messages: [geminiUser('x1', 'hello', 1), geminiAgent('x2', 'agent: hello', 2)] } },
      geminiUser('a', 'and now', 3),
    ]);
    expect(reader('gemini', root).sessions()).toMatchObject([{ title: 'hello', messageCount: 3 }]);
  });

  it('can be missing, empty, foreign or damaged', () => {
    const root = home.folder();
    expect(reader('codex', root).sessions()).toEqual([]);
    put(join(root, '.claude/projects/p/a.jsonl'), []);
    put(join(root, '.claude/projects/p/b.jsonl'), [
      'not JSON',
      '[1]',
      '{"type":"user"}',
      '{"type":"user","message":7}',
    ]);
    mkdirSync(join(root, '.claude/projects/p/c.jsonl'), { recursive: true });
    const outside = reader('claude_code', root);
    expect(outside.sessions()).toEqual([]);
    expect(outside.read('b')).toBeUndefined();
    expect(outside.stamp('nobody')).toBeUndefined();
  });

  it('are all reported and read before the next regular report, although they exceed one scan', async () => {
    const root = home.folder();
    const ids = ['c1', 'c2', 'c3', 'c4'];
    for (const id of ids)
      put(join(dirname(claudeFile(root)), `${id}.jsonl`), [claudeUser(`u-${id}`, `hello ${id}`, 1)]);
    // One scan of this format reads a single file.
    const outside = nativeHistory(claudeFormat, { HOME: root }, -1);
    const relay = await home.relay();
    home.daemon(relay, demoAgent(home).agent, { outside, timings: { watchIntervalMs: 20 } });
    const connection = await relay.connection();
    expect((await connection.frame('report_sessions')).sessions).toHaveLength(1);
    const { sessions } = await connection.frame('report_sessions');
    expect(sessions.map(({ session_id: id }) => id).sort()).toEqual(ids);
    connection.send({ type: 'get_messages', request_id: 'r', session_id: 'c1', limit: 10 });
    expect((await connection.frame('messages')).messages).toMatchObject([{ content: 'hello c1' }]);
  });

  it('stay unchanged by reading', () => {
    const root = home.folder();
    kept.claude_code!(root);
    const path = claudeFile(root);
    const [before, stat] = [readFileSync(path), statSync(path)];
    const outside = reader('claude_code', root);
    outside.sessions();
    outside.read('c1');
    expect(readFileSync(path)).toEqual(before);
    expect(statSync(path).mtimeMs).toBe(stat.mtimeMs);
  });

  const claudePart = (id: string, second: number) =>
    claudeAgent(id, [text('looking')], second, {
      message: { id, role: 'assistant', content: [text('looking')], stop_reason: null },
    });
  const older = [
    claudeUser('u1', 'hello', 1),
    claudePart('m1', 2),
    claudeUser('u2', 'and now', 3),
    claudePart('m2', 4),
  ];
  const qwenCall = {
    type: 'assistant',
    uuid: 'c',
    message: { parts: [{ text: 'looking' }, { functionCall: { name: 'ls' } }] },
  };
  const geminiCall = { id: 'd', type: 'gemini', content: [{ text: 'looking' }, { functionCall: { name: 'ls' } }] };
  const geminiTool = { id: 'd', type: 'gemini', content: 'looking', toolCalls: [{ name: 'ls', status: 'success' }] };
  it.each([
    ['runs after the first block of its answer', 'claude_code', older.slice(0, 2), true],
    ['runs, in a version that records reasons', 'claude_code', [claudeAgent('m0', [text('done')], 0), ...older], true],
    ['is complete, in an older version without reasons', 'claude_code', older, false],
    ['is complete, according to the agent', 'claude_code', [...older.slice(0, 2), { type: 'system', subtype: 'turn_duration' }], false], // prettier-ignore
    ['runs while a tool of Qwen runs', 'qwen', [qwenCall, { type: 'tool_result', uuid: 'd' }], true],
    ['runs while a tool of Gemini runs', 'gemini', [geminiCall], true],
    ['runs after a tool of Gemini', 'gemini', [geminiTool], true],
  ])('show that a turn %s', (_, agent, rows, open) => {
    const root = home.folder();
    const sessionId = kept[agent]!(root);
    const file = { claude_code: claudeFile(root), qwen: qwenFile(root), gemini: geminiFile(root) }[agent]!;
    if (agent === 'claude_code') put(file, rows);
    else appendFileSync(file, lines(rows));
    expect(reader(agent, root).read(sessionId)?.open).toBe(open);
  });
});

describe('a local session of Claude Code', () => {
  it('is complete after a terminal command closed it, and shows its last answer', async () => {
    const root = home.folder();
    kept.claude_code!(root);
    const said = (words: string, second: number) => claudeUser(`u${second}`, words, second);
    const rows = [
      said('<bash-input>ls</bash-input>', 5),
      said('<bash-stdout>a.ts</bash-stdout><bash-stderr></bash-stderr>', 5),
      said('<command-name>/exit</command-name>\n<command-message>exit</command-message>', 6),
      said('<local-command-stdout>Bye!</local-command-stdout>', 6),
    ];
    appendFileSync(claudeFile(root), lines(rows));
    const outside = reader('claude_code', root);
    expect(outside.read('c1')?.open).toBe(false);
    const relay = await home.relay();
    home.daemon(relay, demoAgent(home).agent, { outside });
    const connection = await relay.connection();
    connection.send({ type: 'get_messages', request_id: 'r', session_id: 'c1', limit: 10 });
    expect((await connection.frame('messages')).messages?.map(({ content }) => content)).toEqual([
      'hello',
      'agent: ',
      'hello',
    ]);
  });

  it('appears at the relay, and sends its changes when it is watched and continues', async () => {
    const root = home.folder();
    kept.claude_code!(root);
    const relay = await home.relay();
    const { agent } = demoAgent(home);
    home.daemon(relay, agent, {
      outside: reader('claude_code', root),
      timings: { watchIntervalMs: 20, reportIntervalMs: 50 },
    });
    const connection = await relay.connection();
    expect((await connection.frame('report_sessions')).sessions).toMatchObject([
      { session_id: 'c1', title: 'Saying hello', project: '/my/project', message_count: 3 },
    ]);
    connection.send({ type: 'watch_session', session_id: 'c1' });
    await connection.settle();
    connection.send({ type: 'get_messages', request_id: 'r', session_id: 'c1', limit: 10 });
    expect((await connection.frame('messages')).messages).toHaveLength(3);
    const rows = [claudeUser('u9', 'and now', 8), claudeAgent('m9', [text('done')], 9)];
    appendFileSync(claudeFile(root), lines(rows));
    expect(await connection.frame('session_activity')).toEqual({
      type: 'session_activity',
      session_id: 'c1',
      last_message: 'done',
      message_count: 5,
      is_completion: true,
      last_activity: time(9),
    });
  });
});
