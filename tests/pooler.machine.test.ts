/**
 * Promise: an api and a gateway become ready through a pooler with default settings, deliver messages, and keep the
 * timeouts of their database sessions.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Cluster, connectApp, connectDaemon, runProgram, startCluster } from '@relay/testing';
import { describeWith } from '@relay/testing/needs';

const setClocks =
  /ALTER ROLE relay SET statement_timeout = .*ALTER ROLE relay SET idle_in_transaction_session_timeout = .*ALTER ROLE relay SET jit = off.*ALTER ROLE relay SET enable_mergejoin = off/;

describeWith(['postgresql', 'redis-server', 'pgbouncer'], 'instances behind PgBouncer with its defaults', () => {
  describe.each(['session', 'transaction'] as const)('in %s mode', (pooler) => {
    let cluster: Cluster;
    const all = () => [...cluster.apis, ...cluster.gateways];
    const ready = async () => {
      for (const { url } of all()) expect((await fetch(`${url}/ready`)).status).toBe(200);
    };

    beforeAll(async () => {
      // PgBouncer 1.21 and newer keeps prepared statements in transaction mode, too; older ones do not.
      const env = { DATABASE_PREPARE: pooler === 'session' ? 'on' : 'off' };
      cluster = await startCluster({ apis: 1, gateways: 1, pooler, env });
    }, 120_000);
    afterAll(() => cluster.stop());

    it('become ready, and deliver a message and its answer', async () => {
      await ready();
      const daemon = await connectDaemon(cluster);
      const app = await connectApp(cluster);
      const { body } = await cluster.call('createSession', { body: { deviceId: daemon.deviceId, message: 'pooled' } });
      await daemon.next('task_start');
      daemon.event(body.taskId, 'SESSION_STARTED', { session_id: 'pooled' });
      daemon.event(body.taskId, 'TASK_COMPLETE', { result: 'done' });
      await app.next('new_message', ({ message }) => (message as { role: string }).role === 'AGENT');
      await app.close();
      await daemon.close();
    });

    const told = () => all().map((instance) => instance.logged().some((line) => setClocks.test(line)));

    if (pooler === 'session')
      it('set the timeouts of their database sessions', () => expect(told()).toEqual([false, false]));
    else
      it('log how to set the timeouts of the role, once the pooler lends a session without them', async () => {
        const { bin, port } = cluster.postgres.address;
        const database = new URL(cluster.databaseUrl).pathname.slice(1);
        runProgram(`${bin}/psql`, [
          ...['--host=127.0.0.1', `--port=${port}`, '--username=postgres', '--no-psqlrc', '--dbname=postgres'],
          `--command=SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
        ]);
        while (told().includes(false)) for (const { url } of all()) await fetch(`${url}/ready`);
      });
  });
});
