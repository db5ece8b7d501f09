import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, type Frame, connectApp, connectDaemon, registerDevice, startCluster } from '@relay/testing';
import { until } from './until.ts';

/** Promise: the relay detects a database that was set back in time, and writes no task to a daemon twice. */
describe('a relay whose database is restored from a backup while Redis and daemons live on', () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, env: { TEST_SWEEP_INTERVAL_MS: '500' } });
  }, 180_000);
  afterAll(() => cluster.stop());

  const program = (
    name: string,
    args: string[],
    input = '',
    database = new URL(cluster.databaseUrl).pathname.slice(1),
  ) => {
    const { port, bin } = cluster.postgres.address;
    const where = ['--host=127.0.0.1', `--port=${port}`, '--username=postgres', `--dbname=${database}`];
    const { status, stdout, stderr } = spawnSync(join(bin, name), [...where, ...args], {
      input,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (status !== 0) throw new Error(`${name}: ${stderr}`);
    return stdout;
  };
  const sql = (text: string, database?: string) =>
    program('psql', ['--no-psqlrc', '--quiet', '--tuples-only', '--set=ON_ERROR_STOP=1'], text, database).trim();
  const mark = () => Number(sql('SELECT value FROM timeline'));
  /** Waits until the fleet has completed at least one whole look. */
  const looked = async () => {
    const from = mark();
    await until('two looks', () => mark() >= from + 2);
  };
  const lines = () =>
    cluster.gateways.flatMap((each) => each.logged()).filter((line) => line.includes('set back in time'));
  const restore = (dump: string) => {
    const name = new URL(cluster.databaseUrl).pathname.slice(1);
    cluster.wires.database.set('refuse');
    sql(`DROP DATABASE "${name}" WITH (FORCE)`, 'postgres');
    sql(`CREATE DATABASE "${name}" TEMPLATE template0`, 'postgres');
    sql(dump);
    cluster.wires.database.set('pass');
  };

  const saying = (content: string) => (frame: Frame) => (frame.message as { content: string }).content === content;

  it('R10: sends a resync to apps, lets daemons start again, and warns the operator', async () => {
    const registration = await registerDevice(cluster);
    const away = await registerDevice(cluster, { hostname: 'away' });
    const daemon = await connectDaemon(cluster, { registration });
    const app = await connectApp(cluster, { api: 1, since: '' });
    const start = (deviceId: string, message: string) =>
      cluster.call('POST', '/api/sessions', { body: { deviceId, message, queueTtlSeconds: 3600 } });
    const waiting = await start(away.deviceId, 'from before the backup');
    await looked();
    const dump = program('pg_dump', []);

    // Events that the backup lacks: a task was written, a session began, an app disconnected.
    const written = await connectDaemon(cluster, { registration: away, gateway: 1 });
    expect(await written.next('task_start')).toMatchObject({ task_id: waiting.body.taskId });
    await written.close();
    const lost = await start(registration.deviceId, 'after the backup');
    await daemon.next('task_start');
    const { offset } = await app.next('new_message', saying('after the backup'));
    const gone = await connectApp(cluster, { api: 0, since: offset as string });
    gone.socket.close();
    await looked();
    restore(dump);

    await app.next('resync', undefined, 60_000);
    expect((await daemon.closed).code).toBe(1001);
    await until('the line for the operator', () => lines().length === 1);
    expect(JSON.parse(lines()[0]!)).toMatchObject({ seen: expect.any(Number), found: expect.any(Number) });
    const back = await connectApp(cluster, { api: 0, since: offset as string });
    await back.next('resync', undefined, 60_000);
    await until('the session is gone', async () => {
      const { status } = await cluster.call('GET', `/api/sessions/${encodeURIComponent(lost.body.id as string)}`);
      return status === 404;
    });

    // The delivery of the first task is unknown: the gateway writes the next one instead.
    const again = await connectDaemon(cluster, { registration: away, gateway: 1 });
    const next = await start(away.deviceId, 'from after the restore');
    expect(await again.next('task_start')).toMatchObject({ task_id: next.body.taskId });
    const { body } = await cluster.call('GET', `/api/tasks/${waiting.body.taskId}`);
    expect(body).toMatchObject({ state: 'unknown' });
    await looked();
    expect(lines()).toHaveLength(1);
  }, 180_000);

  it('R10: does not warn about a database that was down and lost nothing', async () => {
    const app = await connectApp(cluster, { since: '' });
    const before = lines().length;
    await cluster.postgres.halt();
    await cluster.postgres.resume();
    await until('the instances are back', async () => (await cluster.call('GET', '/api/devices')).status === 200);
    await looked();
    await looked();
    expect(lines()).toHaveLength(before);
    const device = await registerDevice(cluster);
    await cluster.call('POST', '/api/sessions', { body: { deviceId: device.deviceId, message: 'later' } });
    await app.next('new_message', saying('later'));
    expect(app.inbox.count('resync')).toBe(0);
  }, 180_000);
});
