/** A whole relay on a PostgreSQL that temporarily refuses every write. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type Database, openDatabase, sql } from '@relay/database';
import {
  type TestDaemon,
  type TestPostgres,
  type TestRelay,
  connectDaemon,
  startPostgres,
  startRelay,
} from '@relay/testing';
import { describeWith } from '@relay/testing/needs';

const headers = { 'X-Daemon-Capabilities': 'receipts' };

describeWith('postgresql', 'R1: PostgreSQL becomes read-only, as a standby after a failover', () => {
  let postgres: TestPostgres;
  let database: Database;
  let ruler: Database;
  let relay: TestRelay;
  let daemon: TestDaemon;
  let name: string;

  beforeAll(async () => {
    postgres = await startPostgres();
    const url = await postgres.createDatabase();
    name = new URL(url).pathname.slice(1);
    database = await openDatabase({ url });
    ruler = await openDatabase({ url: await postgres.createDatabase(), poolSize: 1 });
    relay = await startRelay({ database, config: { statusWaitMs: 60_000 } });
    daemon = await connectDaemon(relay, { headers });
  }, 60_000);
  afterAll(async () => {
    await relay.stop();
    await database.close();
    await ruler.close();
    await postgres.stop();
  });

  const setReadOnly = async (value: 'on' | 'off') => {
    await ruler.sql.execute(sql.raw(`ALTER DATABASE "${name}" SET default_transaction_read_only = ${value}`));
    // The setting applies to new connections, so this closes all existing ones first, like a failover.
    await ruler.sql.execute`
      SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = ${name}`;
  };
  const begin = async () => {
    const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'work' } });
    expect(created.status).toBe(201);
    await daemon.next('task_start', (frame) => frame.task_id === created.body.taskId);
    return created.body as { taskId: string; id: string };
  };
  const stateOf = async (taskId: string) =>
    (await database.models.task.findUniqueOrThrow({ where: { id: taskId }, select: { state: true } })).state;
  const ready = async () => (await relay.call('ready', { user: null })).status;

  it('writes get 503 with Retry-After, reads work, /ready is 503, and a result waits until it can be stored', async () => {
    const { taskId } = await begin();
    await setReadOnly('on');
    const refused = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'not now' } });
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await relay.call('listSessions')).status).toBe(200);
    while ((await ready()) !== 503);
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: 'native', result: 'done' });
    daemon.socket.ping('receipt');
    let receipt = false;
    const receipted = once(daemon.socket, 'pong').then(() => (receipt = true));
    // The relay answers, but has not stored the result.
    expect((await relay.call('listSessions')).status).toBe(200);
    expect({ receipt, state: await stateOf(taskId) }).toEqual({ receipt: false, state: 'sent' });
    await setReadOnly('off');
    await receipted;
    expect(await stateOf(taskId)).toBe('completed');
    while ((await ready()) !== 200);
  });

  it('a result that got lost with its connection is stored when the daemon repeats it', async () => {
    const { taskId } = await begin();
    await setReadOnly('on');
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: 'other', result: 'done' });
    const receipts: unknown[] = [];
    daemon.socket.on('pong', (payload) => receipts.push(payload));
    daemon.socket.ping('never');
    daemon.socket.terminate();
    await daemon.closed;
    expect(receipts).toEqual([]);
    await setReadOnly('off');
    daemon = await connectDaemon(relay, { registration: daemon.registration, headers, hello: [] });
    daemon.event(taskId, 'TASK_COMPLETE', { session_id: 'other', result: 'done' });
    daemon.socket.ping('now');
    await once(daemon.socket, 'pong');
    expect(await stateOf(taskId)).toBe('completed');
  });
});
