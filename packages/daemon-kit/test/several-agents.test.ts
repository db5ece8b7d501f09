/** Several agents on one connection: each session goes to its chosen agent, even after a restart. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { FurtherAgent } from '../src/index.ts';
import { house, playing } from './house.ts';

const home = house();
afterEach(() => home.clear());

const answering = (words: string) => playing([{ type: 'complete', text: words }], [{ type: 'complete', text: words }]);
const codex = (): FurtherAgent => ({ agentType: 'codex', name: 'Codex', version: '2.6.0', agent: answering('codex') });

const begin = async (storeDir: string, further: readonly FurtherAgent[]) => {
  const relay = await home.relay();
  const daemon = home.daemon(relay, answering('own'), { storeDir, further, product: { name: 'The first' } });
  const connection = await relay.connection();
  await daemon.connected();
  const resume = (taskId: string, sessionId: string) =>
    connection.send({ type: 'task_resume', task_id: taskId, session_id: sessionId, message: 'again' });
  return { daemon, connection, resume };
};

describe('a daemon with several agents', () => {
  it('declares them, and starts a session with the chosen one', async () => {
    const { connection } = await begin(home.folder(), [codex()]);
    expect(connection.headers['x-agents']).toBe('scripted;name=The%20first, codex;name=Codex;version=2.6.0');
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello' });
    expect((await connection.event('TASK_COMPLETE', 't1')).result).toBe('own');
    connection.send({ type: 'task_start', task_id: 't2', instruction: 'hello', agent_type: 'codex' });
    expect((await connection.event('TASK_COMPLETE', 't2')).result).toBe('codex');
    connection.send({ type: 'task_start', task_id: 't3', instruction: 'hello', agent_type: 'magic' });
    expect((await connection.event('ERROR', 't3')).error).toContain('“magic” is not set up');
  });

  it('keeps to it after a restart, reports it, and reports its absence', async () => {
    const storeDir = home.folder();
    const first = await begin(storeDir, [codex()]);
    first.connection.send({ type: 'task_start', task_id: 't1', instruction: 'hello', agent_type: 'codex' });
    const { session_id: sessionId = '' } = await first.connection.event('TASK_COMPLETE', 't1');
    await first.daemon.stop();
    const second = await begin(storeDir, [codex()]);
    const report = await second.connection.frame('report_sessions');
    expect(report.sessions).toMatchObject([{ session_id: sessionId, agent_type: 'codex' }]);
    second.resume('t2', sessionId ?? '');
    expect((await second.connection.event('TASK_COMPLETE', 't2')).result).toBe('codex');
    await second.daemon.stop();
    const third = await begin(storeDir, []);
    expect(third.connection.headers['x-agents']).toBe('scripted;name=The%20first');
    third.resume('t3', sessionId ?? '');
    expect((await third.connection.event('ERROR', 't3')).error).toContain('“codex” is not set up');
  });
});
