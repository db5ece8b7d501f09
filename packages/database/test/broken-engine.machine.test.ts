import { describe, expect, it } from '@jest/globals';
import { renameSync } from 'node:fs';
import path from 'node:path';
import { openDatabase } from '../src/open.ts';
import { sql } from '../src/sql.ts';
import { isUnavailable } from '../src/unavailable.ts';
import { device, temporaryFolders, template } from './databases.ts';

describe('an embedded engine that breaks', () => {
  const folder = temporaryFolders();
  const endless = sql`SELECT count(*) FROM generate_series(1, 1000000000000)`;

  it('fails running statements like a dropped connection, and reopens the folder when possible', async () => {
    const dataDir = folder();
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const database = await openDatabase({ dataDir, template: await template(), onWarning });
    try {
      await database.models.device.create({ data: device('before') });
      const log = path.join(dataDir, 'pgdata', 'pg_wal');
      renameSync(log, `${log}.away`); // as a disk that fails: PostgreSQL panics at the next log file
      const panic: unknown = await database.sql
        .query`SELECT pg_switch_wal(), pg_logical_emit_message(true, '', repeat('x', 20000000))`.then(
        () => database.models.device.create({ data: device('lost') }).catch((error: unknown) => error),
        (error: unknown) => error,
      );
      expect(isUnavailable(panic)).toBe(true);
      expect(isUnavailable(await database.models.device.count().catch((error: unknown) => error))).toBe(true);
      expect(await database.health()).toMatchObject({ ok: false });
      expect(warnings[0]).toMatch(/The embedded database stopped: .* It is opened again\./);
      renameSync(`${log}.away`, log);
      while (!(await database.health()).ok) await new Promise((resolve) => setImmediate(resolve));
      expect(await database.models.device.findMany({ select: { id: true } })).toEqual([{ id: 'before' }]);
      await database.models.device.create({ data: device('after') });
    } finally {
      await database.close();
    }
  });

  it('is terminated when a statement exceeds its time; a folder is reopened', async () => {
    const database = await openDatabase({ dataDir: folder(), template: await template(), statementTimeoutMs: 2_000 });
    try {
      const error: unknown = await database.sql.query(endless).catch((reason: unknown) => reason);
      expect(isUnavailable(error)).toBe(true);
      expect(await database.sql.query`SELECT id FROM devices`).toEqual([]);
    } finally {
      await database.close();
    }
  });

  it('in memory stays broken, because its data is gone', async () => {
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const database = await openDatabase({ template: await template(), statementTimeoutMs: 2_000, onWarning });
    try {
      await expect(database.sql.query(endless)).rejects.toThrow();
      const error: unknown = await database.models.device.count().catch((reason: unknown) => reason);
      expect(isUnavailable(error)).toBe(true);
      expect(warnings).toEqual([expect.stringContaining('its data is lost')]);
    } finally {
      await database.close();
    }
  });

  it('does not keep a close waiting', async () => {
    const database = await openDatabase({ template: await template() });
    const running = database.sql.query(endless).catch((reason: unknown) => reason);
    await database.close();
    expect(await running).toBeInstanceOf(Error);
  });
});
