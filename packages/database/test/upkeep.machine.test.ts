import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Embedded, openEmbedded } from '../src/embedded.ts';
import { openDatabase } from '../src/open.ts';
import { checkpoint, vacuum, vacuumChanged } from '../src/upkeep.ts';
import { device, template } from './databases.ts';

describe('the upkeep of an embedded database', () => {
  let embedded: Embedded;
  beforeAll(async () => {
    embedded = await openEmbedded({ statementTimeoutMs: 60_000, vacuumIntervalMs: 3_600_000, onWarning: () => {} });
  });
  afterAll(() => embedded.close());

  const number = async (sql: string): Promise<number> => {
    const { rows } = await embedded.pool.query<{ value: string }>(`SELECT (${sql})::text AS value`);
    return Number(rows[0]!.value);
  };

  it('makes the room of old row versions usable again', async () => {
    await embedded.pool.query('CREATE TABLE "Odd name" (id int, text text)');
    await embedded.pool.query(`INSERT INTO "Odd name" SELECT n, repeat('x', 200) FROM generate_series(1, 2000) n`);
    const rewrite = () => embedded.pool.query('UPDATE "Odd name" SET text = text || id');
    const size = () => number(`pg_relation_size('"Odd name"')`);
    await rewrite();
    await vacuum(embedded.pool);
    const before = await size();
    for (let n = 0; n < 3; n += 1) {
      await rewrite();
      await vacuum(embedded.pool);
    }
    expect(await size()).toBeLessThan(before * 1.5);
  });

  it('counts heavily changed tables, and leaves the rest alone', async () => {
    await embedded.pool.query('CREATE TABLE calm AS SELECT n FROM generate_series(1, 20) n');
    await embedded.pool.query('CREATE TABLE busy AS SELECT n FROM generate_series(1, 200) n');
    await embedded.pool.query('SELECT pg_stat_force_next_flush()');
    await vacuumChanged(embedded.pool);
    const rowsOf = (table: string) => number(`SELECT reltuples FROM pg_class WHERE relname = '${table}'`);
    expect([await rowsOf('busy'), await rowsOf('calm')]).toEqual([200, -1]);
  });

  it('makes a checkpoint after many writes, and only then', async () => {
    const begin = `SELECT redo_lsn - '0/0'::pg_lsn FROM pg_control_checkpoint()`;
    await embedded.pool.query('CHECKPOINT');
    const first = await number(begin);
    await embedded.pool.query(`SELECT pg_logical_emit_message(true, '', repeat('x', 1000000))`);
    await checkpoint(embedded.pool);
    expect(await number(begin)).toBe(first);
    await embedded.pool.query(`SELECT pg_logical_emit_message(true, '', repeat('x', 40000000))`);
    await checkpoint(embedded.pool);
    expect(await number(begin)).toBeGreaterThan(first + 40_000_000);
  });

  it('happens by itself', async () => {
    const database = await openDatabase({ template: await template(), vacuumIntervalMs: 20 });
    try {
      await database.models.device.createMany({ data: Array.from({ length: 100 }, (_, n) => device(`d-${n}`)) });
      const counted = () => database.sql.query<object>`
        SELECT 1 FROM pg_class WHERE relname = 'devices' AND reltuples = 100`;
      while ((await counted()).length === 0);
    } finally {
      await database.close();
    }
  });
});
