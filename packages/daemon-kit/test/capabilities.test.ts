import { afterEach, describe, expect, it } from '@jest/globals';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Agent, type DaemonOptions, type Turn, createLog } from '../src/index.ts';
import { echo, house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const begin = async (agent: Agent, options: Partial<DaemonOptions> = {}) => {
  const relay = await home.relay();
  const daemon = home.daemon(relay, agent, options);
  const connection = await relay.connection();
  await daemon.connected();
  return { relay, daemon, connection };
};
const images = ['data:image/png;base64,aGk='];
type Listener = Parameters<NonNullable<Agent['onCommands']>>[0];

/** An agent with every capability, and a record of its calls. */
function able() {
  const turns: Turn[] = [];
  let tell: Listener = () => undefined;
  const agent: Agent = {
    capabilities: ['images', 'usage'],
    context: (sessionId) =>
      turns.some((turn) => turn.sessionId === sessionId && turn.message === 'fail')
        ? Promise.reject(new Error('no idea'))
        : Promise.resolve({ used_tokens: 1, max_tokens: 2 }),
    onCommands: (listener) => void (tell = listener),
    start(turn, report) {
      turns.push(turn);
      report.complete('done');
      return { ended: Promise.resolve(), cancel: () => Promise.resolve() };
    },
  };
  return { agent, turns, tell: (...told: Parameters<Listener>) => tell(...told) };
}

describe('the additional capabilities of an agent', () => {
  it('are declared, in addition to the capabilities of every daemon', async () => {
    const { connection } = await begin(able().agent);
    expect(connection.headers['x-daemon-capabilities']).toBe(
      'receipts, images, usage, spending, transcript, prompts, content, search',
    );
    const plain = await begin(echo());
    expect(plain.connection.headers['x-daemon-capabilities']).toBe('receipts, transcript, prompts, content, search');
  });

  it('include the images of a turn, and no images of other turns', async () => {
    const { agent, turns } = able();
    const { connection } = await begin(agent);
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'look', images });
    const { session_id: sessionId = '' } = await connection.event('TASK_COMPLETE', 't1');
    connection.send({ type: 'task_resume', task_id: 't2', session_id: sessionId ?? '', message: 'again', images });
    await connection.event('TASK_COMPLETE', 't2');
    connection.send({ type: 'task_resume', task_id: 't3', session_id: sessionId ?? '', message: 'without' });
    await connection.event('TASK_COMPLETE', 't3');
    expect(turns.map((turn) => turn.images)).toEqual([images, images, undefined]);
  });

  it('must be declared: otherwise images fail the task with one sentence', async () => {
    const { connection } = await begin(echo());
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'look', images });
    expect((await connection.event('ERROR', 't1')).error).toBe(
      'This agent does not accept images. Send the message without them.',
    );
    await connection.settle();
    expect(connection.ends('t1')).toHaveLength(1);
    connection.send({ type: 'usage_request', request_id: 'r1', session_id: 'nobody' });
    expect(await connection.frame('usage_response')).toMatchObject({
      request_id: 'r1',
      error: expect.stringContaining('no such session'),
    });
  });

  it('include the context of a session, or the reason for its absence', async () => {
    const { connection } = await begin(able().agent);
    for (const [taskId, instruction, answer] of [
      ['t1', 'hello', { usage: { used_tokens: 1, max_tokens: 2 } }],
      ['t2', 'fail', { error: 'no idea' }],
    ] as const) {
      connection.send({ type: 'task_start', task_id: taskId, instruction });
      const { session_id: sessionId = '' } = await connection.event('TASK_COMPLETE', taskId);
      connection.send({ type: 'usage_request', request_id: taskId, session_id: sessionId ?? '' });
      expect(await connection.frame('usage_response')).toEqual({
        type: 'usage_response',
        request_id: taskId,
        session_id: sessionId,
        ...answer,
      });
    }
  });

  it('F13: include the subject of a session, from its history', async () => {
    const { connection } = await begin(able().agent);
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'water the plants', project_path: '/garden' });
    const { session_id: sessionId = '' } = await connection.event('TASK_COMPLETE', 't1');
    await connection.status();
    const include = { initial_prompt: true, recent_messages: 1, last_tool_use: true };
    connection.send({ type: 'context_request', request_id: 'r1', session_id: sessionId ?? '', include });
    expect(await connection.frame('context_response')).toMatchObject({
      request_id: 'r1',
      context: {
        title: 'water the plants',
        project_path: '/garden',
        initial_prompt: 'water the plants',
        recent_messages: [{ role: 'AGENT', content: 'done' }],
        message_count: 2,
      },
    });
    connection.send({ type: 'context_request', request_id: 'r2', session_id: 'nobody', include });
    expect(await connection.frame('context_response')).toMatchObject({
      request_id: 'r2',
      error: expect.stringContaining('no such session'),
    });
  });

  it('F13: report a session whose file cannot be read, and the daemon continues', async () => {
    const storeDir = home.folder();
    const { connection } = await begin(able().agent, { storeDir });
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    const { session_id: sessionId = '' } = await connection.event('TASK_COMPLETE', 't1');
    rmSync(join(storeDir, 'sessions'), { recursive: true });
    connection.send({ type: 'context_request', request_id: 'r1', session_id: sessionId ?? '' });
    expect(await connection.frame('context_response')).toEqual({
      type: 'context_response',
      request_id: 'r1',
      session_id: sessionId,
      error: 'the history of this session cannot be read',
    });
    connection.send({ type: 'ping' });
    await connection.frame('pong');
  });

  it('survive an agent that throws: only the request fails', async () => {
    const lines: string[] = [];
    const log = createLog({ write: (line) => void lines.push(line), json: true, verbose: false });
    const context = () => {
      throw new Error('broken');
    };
    const { connection } = await begin({ ...able().agent, context }, { log });
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    const { session_id: sessionId = '' } = await connection.event('TASK_COMPLETE', 't1');
    connection.send({ type: 'usage_request', request_id: 'r1', session_id: sessionId ?? '' });
    connection.send({ type: 'ping' });
    await connection.frame('pong');
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ event: 'frame failed', frame: 'usage_request', why: 'broken' }),
    );
  });

  it('F15: do not include the release of a session: the request is refused', async () => {
    const { connection } = await begin(able().agent);
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    const { session_id: sessionId = '' } = await connection.event('TASK_COMPLETE', 't1');
    connection.send({ type: 'force_quit_session', request_id: 'r1', session_id: 'nobody' });
    expect(await connection.frame('force_quit_result')).toMatchObject({ request_id: 'r1', status: 'unknown_session' });
    connection.send({ type: 'force_quit_session', request_id: 'r2', session_id: sessionId ?? '' });
    expect((await connection.frame('force_quit_result')).status).toMatch(/^(busy|failed)$/);
  });

  it('include slash commands, sent at once, and the newest ones again after a reconnect', async () => {
    const { agent, tell } = able();
    const { connection, relay } = await begin(agent);
    tell('s1', [{ name: 'old' }]);
    expect(await connection.frame('report_slash_commands')).toMatchObject({ commands: [{ name: 'old' }] });
    tell('s1', [{ name: 'compact', description: 'Summarise' }]);
    await connection.frame('report_slash_commands');
    connection.terminate();
    const next = await relay.connection();
    expect(await next.frame('report_slash_commands')).toEqual({
      type: 'report_slash_commands',
      session_id: 's1',
      commands: [{ name: 'compact', description: 'Summarise' }],
    });
    await next.settle();
    expect(next.frames.filter(({ type }) => type === 'report_slash_commands')).toHaveLength(1);
  });
});
