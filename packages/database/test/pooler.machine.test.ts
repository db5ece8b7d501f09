import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PgBouncer, type TestPostgres, startPgBouncer, startPostgres } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import pg from 'pg';
import { type Database, migratePostgres, openDatabase } from '../src/open.ts';
import { device } from './databases.ts';

/** The operator's setup for a pooler in transaction mode: our connections cannot configure its sessions. */
async function setRole(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  const role = `ALTER ROLE postgres IN DATABASE ${admin.database} SET`;
  await admin.query(
    `${role} statement_timeout = '2s'; ${role} idle_in_transaction_session_timeout = '20s'; ${role} jit = off`,
  );
  await admin.end();
}

describeWith(['postgresql', 'pgbouncer'], 'behind PgBouncer with its defaults', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres.stop());

  describe.each(['session', 'transaction'] as const)('in %s mode', (mode) => {
    const name = `pooled_${mode}`;
    let pooler: PgBouncer;
    let database: Database;
    const warnings: string[] = [];
    beforeAll(async () => {
      pooler = await startPgBouncer(postgres.address.port, mode);
      const url = await postgres.createDatabase({ name });
      await migratePostgres(url);
      if (mode === 'transaction') await setRole(url);
      database = await openDatabase({
        url: pooler.url(name),
        // PgBouncer 1.21 and newer keeps prepared statements in this mode too; older ones do not.
        prepare: mode === 'session',
        statementTimeoutMs: 2_000,
        onWarning: (message) => warnings.push(message),
      });
    }, 60_000);
    afterAll(async () => {
      await database.close();
      await pooler.stop();
    });

    it('is ready, and reads and writes in transactions side by side', async () => {
      expect(await database.health()).toMatchObject({ ok: true });
      const ids = Array.from({ length: 30 }, (_, n) => `${mode}${n}`);
      await Promise.all(
        ids.map((id) =>
          database.sql.transaction(async (tx) => {
            await tx.sql.execute`
              INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash) VALUES (${id}, 'o', 'n', 'h', 'a', ${id})`;
            const [own] = await tx.sql.query<{ found: bigint }>`SELECT count(*) AS found FROM devices WHERE id = ${id}`;
            expect(own?.found).toBe(1n);
          }),
        ),
      );
      await database.models.device.create({ data: device(`${mode}-model`) });
      expect(await database.models.device.count()).toBe(31);
    });

    it('compiles no statement on any session that it is lent', async () => {
      const sessions = await Promise.all(
        Array.from({ length: 10 }, () => database.sql.query`SELECT current_setting('jit') AS jit`),
      );
      expect(sessions.flat()).toEqual(Array(10).fill({ jit: 'off' }));
    });

    it('cancels a statement that takes too long, without any warning', async () => {
      await expect(database.sql.query`SELECT pg_sleep(600)::text`).rejects.toMatchObject({ code: '57014' });
      expect(warnings).toEqual([]);
    });
  });

  it('warns of sessions without our settings, and no longer once the role has them', async () => {
    const url = await postgres.createDatabase({ name: 'unclocked' });
    await migratePostgres(url);
    const pooler = await startPgBouncer(postgres.address.port, 'transaction');
    const warnings: string[] = [];
    const aboutRole = () => warnings.filter((text) => text.includes('ALTER ROLE'));
    /** PgBouncer refuses a client whose session it just lost. */
    const open = (): Promise<Database> =>
      openDatabase({ url: pooler.url('unclocked'), prepare: false, onWarning: (text) => warnings.push(text) }).catch(
        open,
      );
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    /** Closes the pooler's connections, so that its next session is new and lacks our settings. */
    const renew = () =>
      admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'unclocked' AND pid <> pg_backend_pid()`,
      );
    try {
      const database = await open();
      await database.health();
      expect(warnings).toEqual([]);
      // A probe warns of it. A new connection gives its session the settings.
      while (aboutRole().length === 0) {
        await renew();
        await database.health();
      }
      await database.close();
      warnings.length = 0;
      await setRole(url);
      await renew();
      const again = await open();
      await renew();
      while (!(await again.health()).ok);
      expect(aboutRole()).toEqual([]);
      await again.close();
    } finally {
      await admin.end();
      await pooler.stop();
    }
  });
});
