/** A daemon with several agents: sessions carry the type of theirs, and reach no other (rules, 7.11). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestApp, type TestDaemon, type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { until } from './conversation.ts';

const header = {
  'X-Agents': 'scripted;name=The%20first;version=1, codex;name=Codex;version=2.6.0, Bad!;x, codex;name=Twice',
};

describe('a daemon that declares agents', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  beforeAll(async () => {
    relay = await startRelay();
    app = await connectApp(relay);
    daemon = await connectDaemon(relay, { headers: header });
  });
  afterAll(() => relay.stop());

  const create = (agentType?: string) =>
    relay.call('createSession', {
      body: { deviceId: daemon.deviceId, message: 'hello', ...(agentType === undefined ? {} : { agentType }) },
    });
  const device = async () => (await relay.call('listDevices')).body.devices.find(({ id }) => id === daemon.deviceId);
  const idOf = (type: string, native: string) => `${daemon.deviceId}:${type}:${native}`;

  it('is listed with them, that of the registration first', async () => {
    // They are saved a moment after the connection was accepted.
    await until(async () => ((await device())?.agents?.length ?? 0) > 1);
    expect((await device())?.agents).toEqual([
      { agentType: 'scripted', name: 'The first', version: '1' },
      { agentType: 'codex', name: 'Codex', version: '2.6.0' },
    ]);
  });

  it('gets the agent of a session with its start, and the session has it in its id from then on', async () => {
    const created = await create('codex');
    expect(created).toMatchObject({
      status: 201,
      body: { agentType: 'codex', id: expect.stringContaining(':codex:') },
    });
    expect(await daemon.next('task_start')).toMatchObject({ task_id: created.body.taskId, agent_type: 'codex' });
    daemon.event(created.body.taskId, 'SESSION_STARTED', { session_id: 'one' });
    daemon.event(created.body.taskId, 'TASK_COMPLETE', { session_id: 'one', result: 'done' });
    await app.next('session_update', ({ session }) => (session as { id: string }).id === idOf('codex', 'one'));
    const again = await relay.call('sendMessage', { params: { id: idOf('codex', 'one') }, body: { content: 'and' } });
    expect(again.status).toBe(202);
    expect(await daemon.next('task_resume')).toMatchObject({ session_id: 'one' });
    daemon.event(again.body.taskId, 'TASK_COMPLETE', { session_id: 'one', result: 'done' });
  });

  it('reports sessions of each without doubling them, and one of the registration needs no type', async () => {
    const entry = (session_id: string, fields = {}) => ({
      session_id,
      last_message: 'hi',
      title: session_id,
      ...fields,
    });
    daemon.send({
      type: 'report_sessions',
      sessions: [
        entry('one', { agent_type: 'codex', title: 'Known' }),
        entry('two', { agent_type: 'codex' }),
        entry('three'),
      ],
    });
    await app.next('session_update', ({ session }) => (session as { title: string }).title === 'three');
    const { sessions } = (await relay.call('listSessions', { query: { limit: 100 } })).body;
    expect(sessions.map(({ id }) => id).sort()).toEqual([
      idOf('codex', 'one'),
      idOf('codex', 'two'),
      idOf('scripted', 'three'),
    ]);
  });

  it('starts nothing with another agent, neither at once nor when the daemon that comes back has it no longer', async () => {
    expect(await create('magic')).toMatchObject({ status: 409, body: { code: 'AGENT_NOT_OFFERED' } });
    const { registration } = daemon;
    await daemon.close();
    const { body } = await create('codex');
    const plain = await connectDaemon(relay, { registration });
    await until(async () => (await relay.call('readTask', { params: { id: body.taskId } })).body.state === 'failed');
    expect((await relay.call('readTask', { params: { id: body.taskId } })).body.error?.code).toBe('AGENT_NOT_OFFERED');
    expect(plain.inbox.count('task_start')).toBe(0);
    expect((await device())?.agents).toEqual([{ agentType: 'scripted' }]);
  });
});
