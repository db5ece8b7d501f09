import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { describeWith } from '../src/skipping.ts';
import { openTestDatabase, startPostgres, wantsPostgres } from '../src/database.ts';
import { closeIdleDatabases } from '../src/template.ts';

const device = { id: 'd', ownerId: 'u', name: 'n', hostname: 'h', agentType: 'a', tokenHash: 't' };

describe('openTestDatabase', () => {
  it('gives every test a migrated database of its own, of the kind that the run wants', async () => {
    const [one, other] = await Promise.all([openTestDatabase(), openTestDatabase()]);
    try {
      expect(one.kind).toBe(wantsPostgres() ? 'postgres' : 'embedded');
      await one.models.device.create({ data: device });
      expect(await other.models.device.count()).toBe(0);
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  }, 60_000);
});

(wantsPostgres() ? describe.skip : describe)('an embedded test database', () => {
  afterEach(closeIdleDatabases);

  type Database = Awaited<ReturnType<typeof openTestDatabase>>;
  const startOf = async ({ sql }: Database) => sql.query`SELECT pg_postmaster_start_time()::text AS start`;
  const statisticsOf = async ({ sql }: Database) => sql.query`
    SELECT tablename AS name FROM pg_stats WHERE schemaname = 'public' UNION ALL
    SELECT relname FROM pg_class WHERE relname IN ('devices', 'sessions') AND reltuples >= 0`;

  it('returns after its upkeep, without rows and statistics', async () => {
    const first = await openTestDatabase();
    const start = await startOf(first);
    await first.models.device.create({ data: device });
    await first.sql.execute`VACUUM ANALYZE`;
    expect(await statisticsOf(first)).not.toEqual([]);
    await first.close();
    const second = await openTestDatabase();
    expect(await startOf(second)).toEqual(start);
    expect(await second.models.device.count()).toBe(0);
    expect(await statisticsOf(second)).toEqual([]);
    await second.close();
  }, 60_000);

  it('never returns after a change of its schema', async () => {
    const first = await openTestDatabase();
    const start = await startOf(first);
    await first.sql.execute`ALTER TABLE devices ADD COLUMN left_over text`;
    await first.close();
    const second = await openTestDatabase();
    expect(await startOf(second)).not.toEqual(start);
    await second.close();
  }, 60_000);
});

describeWith('postgresql', 'startPostgres', () => {
  const accepts = async (port: number): Promise<boolean> => {
    const socket = net.connect(port, '127.0.0.1');
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    }).finally(() => socket.destroy()) as Promise<boolean>;
  };

  it('stops with the process that started it, also on kill -9', async () => {
    const file = fileURLToPath(new URL('./programs/postgres.mjs', import.meta.url));
    const starter = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [said] = (await once(starter.stdout, 'data')) as [Buffer];
    const port = Number(said.toString('utf8'));
    expect(await accepts(port)).toBe(true);
    starter.kill('SIGKILL');
    while (await accepts(port));
  }, 60_000);

  it('copies a template, and keeps its data through a restart', async () => {
    const postgres = await startPostgres();
    try {
      await postgres.createDatabase({ name: 'original' });
      const copy = await postgres.createDatabase({ template: 'original' });
      expect(new URL(copy).port).toBe(String(postgres.address.port));
      await postgres.halt();
      expect(await accepts(postgres.address.port)).toBe(false);
      await postgres.resume();
      await postgres.createDatabase({ template: new URL(copy).pathname.slice(1) });
    } finally {
      await postgres.stop();
    }
    expect(await accepts(postgres.address.port)).toBe(false);
  }, 60_000);
});
