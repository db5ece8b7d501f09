import { afterEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DoubleConnection } from '@relay/daemon-kit/conformance';
import { type DemoOptions, demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const declares = ['transcript', 'prompts', 'steer'];

async function begin({ autoPong = true, ...options }: DemoOptions & { autoPong?: boolean } = {}) {
  const relay = await home.relay({ declares, autoPong });
  const calls = join(home.folder(), 'calls');
  const { agent } = demoAgent(home, {
    ...options,
    env: { DEMO_AGENT_CALLS: calls, ...options.env },
    // A busy agent takes its message within `steerMs`, and a mute one never.
    timings: { steeredQuietMs: 100, steerMs: 3000, ...options.timings },
  });
  const storeDir = home.folder();
  const daemon = home.daemon(relay, agent, { storeDir });
  const connection = await relay.connection();
  await daemon.connected();
  return { relay, daemon, connection, storeDir, called: () => readFileSync(calls, 'utf8').trim().split('\n') };
}

/** A running turn, once its agent has sent a message. */
async function running(connection: DoubleConnection, instruction: string, taskId = 't1') {
  connection.send({ type: 'task_start', task_id: taskId, instruction, message_uuid: `uuid-${taskId}` });
  const { session_id: sessionId } = await connection.event('SESSION_STARTED', taskId);
  await connection.event('TRANSCRIPT', taskId);
  await connection.event('TRANSCRIPT', taskId);
  return sessionId ?? '';
}

const steer = (connection: DoubleConnection, sessionId: string, message: string, taskId = 's1', into = 't1') =>
  connection.send({
    type: 'task_steer',
    task_id: taskId,
    into,
    session_id: sessionId,
    message,
    message_uuid: `uuid-${taskId}`,
  });

async function itemsOf(connection: DoubleConnection, sessionId: string) {
  connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 100, parts: true });
  const { messages = [] } = await connection.frame('messages');
  return (messages ?? []).map(({ uuid, role, content, turn, part }) => ({ uuid, role, content, turn, part }));
}

describe('a message into a running turn', () => {
  it("changes the agent's next step, and is an item of the turn at the place where the agent got it", async () => {
    const { connection } = await begin();
    const sessionId = await running(connection, 'steerable');
    steer(connection, sessionId, 'only 20');
    expect(await connection.event('STEERED', 's1')).toMatchObject({ outcome: 'injected', session_id: sessionId });
    expect(await connection.event('TASK_COMPLETE', 't1')).toMatchObject({ result: 'Changed to: only 20' });
    const items = (await itemsOf(connection, sessionId)).filter(
      ({ role, part }) => role === 'USER' || part?.kind === 'text',
    );
    expect(items).toMatchObject([
      { uuid: 'uuid-t1', content: 'steerable', turn: 'uuid-t1' },
      { content: 'Running 50 times.', turn: 'uuid-t1' },
      { uuid: 'uuid-s1', content: 'only 20', turn: 'uuid-t1', part: { kind: 'user', steer: 'now' } },
      { content: 'Changed to: only 20', turn: 'uuid-t1' },
    ]);
  });

  it('S1: refuses a command that can change when the agent asks', async () => {
    const { connection } = await begin();
    const sessionId = await running(connection, 'steerable');
    steer(connection, sessionId, '/yolo');
    expect(await connection.event('STEERED', 's1')).toMatchObject({ outcome: 'refused' });
  });

  it('has the same items after a restart of the daemon', async () => {
    const { relay, daemon, connection, storeDir } = await begin();
    const sessionId = await running(connection, 'steerable');
    steer(connection, sessionId, 'only 20');
    await connection.event('TASK_COMPLETE', 't1');
    const before = await itemsOf(connection, sessionId);
    await daemon.stop();
    const again = home.daemon(relay, demoAgent(home).agent, { storeDir });
    const next = await relay.connection();
    await again.connected();
    expect(await itemsOf(next, sessionId)).toEqual(before);
  });

  it('stays in the status until its turn completes', async () => {
    const { connection } = await begin();
    const sessionId = await running(connection, 'steerable');
    steer(connection, sessionId, 'only 20');
    await connection.status('t1', 's1');
    await connection.event('TASK_COMPLETE', 't1');
    await connection.status();
  });

  it('keeps the turn running when the agent answers its prompt early and continues; one completion', async () => {
    // Its steps are 20 ms apart, and all of them take longer than the silence that would complete the turn.
    const { connection } = await begin({ timings: { steeredQuietMs: 1500 } });
    const sessionId = await running(connection, 'steeredearly 100');
    steer(connection, sessionId, 'go on');
    await connection.event('STEERED', 's1');
    const end = await connection.event('TASK_COMPLETE', 't1');
    expect(end.result).toBe('At last: go on');
    const completions = connection.frames.filter(
      (frame) =>
        (frame.type === 'event' && frame.event_type === 'TASK_COMPLETE') ||
        (frame.type === 'session_activity' && frame.is_completion === true),
    );
    expect(completions).toHaveLength(1);
    const statuses = connection.frames.flatMap((frame) => (frame.type === 'status' ? [frame.running_tasks] : []));
    // Every status during the turn lists it.
    expect(
      statuses
        .slice(
          statuses.findIndex((tasks) => tasks.includes('t1')),
          -1,
        )
        .every((tasks) => tasks.includes('t1')),
    ).toBe(true);
  });

  it('lets Stop reach an agent that continues after its prompt', async () => {
    const { connection } = await begin({ timings: { steeredQuietMs: 2000 } });
    const sessionId = await running(connection, 'steeredearly 1000000');
    steer(connection, sessionId, 'go on');
    await connection.event('STEERED', 's1');
    await connection.event('TRANSCRIPT', 't1');
    connection.send({ type: 'task_cancel', task_id: 't1' });
    await connection.status();
    connection.send({
      type: 'task_resume',
      task_id: 't2',
      session_id: sessionId,
      message: 'and now',
      message_uuid: 'uuid-t2',
    });
    expect(await connection.event('TASK_COMPLETE', 't2')).toMatchObject({ session_id: sessionId });
  });

  it('is not_running after its turn, and no byte reaches the agent', async () => {
    const { connection, called } = await begin();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello', message_uuid: 'uuid-t1' });
    const sessionId = (await connection.event('TASK_COMPLETE', 't1')).session_id ?? '';
    steer(connection, sessionId, 'too late');
    expect(await connection.event('STEERED', 's1')).toMatchObject({ outcome: 'not_running' });
    expect(called().some((line) => line.startsWith('steer'))).toBe(false);
    // The same task arrives again as an ordinary message.
    connection.send({
      type: 'task_resume',
      task_id: 's1',
      session_id: sessionId,
      message: 'too late',
      message_uuid: 'uuid-s1',
      steer: 'next',
    });
    await connection.event('TASK_COMPLETE', 's1');
    const items = await itemsOf(connection, sessionId);
    expect(items.find(({ uuid }) => uuid === 'uuid-s1')).toMatchObject({
      turn: 'uuid-s1',
      part: { kind: 'user', steer: 'next' },
    });
  });

  it.each([
    ['idle', 'not_running'],
    ['refuse', 'refused'],
    ['mute', 'unknown'],
  ])('reports the answer of an agent that is set to %s as %s', async (how, outcome) => {
    const { connection, called } = await begin({ env: { DEMO_AGENT_STEER: how } });
    const sessionId = await running(connection, 'steerable');
    steer(connection, sessionId, 'words');
    expect(await connection.event('STEERED', 's1')).toMatchObject({ outcome });
    expect(called().filter((line) => line === 'steer words')).toHaveLength(1);
    expect((await itemsOf(connection, sessionId)).some(({ uuid }) => uuid === 'uuid-s1')).toBe(false);
  });

  it('is refused by an agent without support, which never gets a second prompt', async () => {
    const { connection, called } = await begin({ env: { DEMO_AGENT_WITHOUT: 'steer' } });
    const sessionId = await running(connection, 'steerable');
    steer(connection, sessionId, 'words');
    expect(await connection.event('STEERED', 's1')).toMatchObject({ outcome: 'refused' });
    expect(called().filter((line) => /^(?:prompt|steer)/.test(line))).toEqual(['prompt steerable']);
  });

  it('is refused while the agent asks', async () => {
    const { connection, called } = await begin();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'perm', message_uuid: 'uuid-t1' });
    const sessionId = (await connection.event('WAIT_FOR_USER', 't1')).session_id ?? '';
    steer(connection, sessionId, 'words');
    expect(await connection.event('STEERED', 's1')).toMatchObject({ outcome: 'not_running' });
    expect(called().some((line) => line.startsWith('steer'))).toBe(false);
  });

  it.each([
    ['is recorded', []],
    ['is recorded late', [undefined, undefined]],
  ])('is dropped when its turn completes before the agent read it, and the turn %s', async (_when, looks) => {
    const known: (boolean | undefined)[] = [...looks];
    const { connection } = await begin({ wasRead: () => (known.length > 0 ? known.pop() : false) });
    const sessionId = await running(connection, 'steerlate');
    steer(connection, sessionId, 'unread');
    expect(await connection.event('STEERED', 's1')).toMatchObject({ outcome: 'injected' });
    expect(await connection.event('STEERED', 's1')).toMatchObject({ outcome: 'dropped' });
    await connection.event('TASK_COMPLETE', 't1');
    const items = await itemsOf(connection, sessionId);
    expect(items.find(({ uuid }) => uuid === 'uuid-s1')).toMatchObject({ part: { steer: 'dropped' } });
  });

  it('repeats its outcome, before the first status, until the relay has it', async () => {
    const { relay, connection, called } = await begin({ env: { DEMO_AGENT_STEER: 'idle' }, autoPong: false });
    const sessionId = await running(connection, 'steerable');
    steer(connection, sessionId, 'words');
    await connection.event('STEERED', 's1');
    connection.terminate();
    const next = await relay.connection();
    await next.status('t1');
    expect(next.frames.slice(0, 2)).toMatchObject([
      { event_type: 'STEERED', task_id: 's1', outcome: 'not_running' },
      { type: 'status', running_tasks: ['t1'] },
    ]);
    expect(called().filter((line) => line === 'steer words')).toHaveLength(1);
  });
});
