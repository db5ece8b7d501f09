import { describe, expect, it } from '@jest/globals';
import { existsSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { lockFolder } from '../src/lock.ts';
import { openDatabase } from '../src/open.ts';
import { device, temporaryFolders, template } from './databases.ts';

describe('the data folder', () => {
  const folder = temporaryFolders();

  it('is private to its owner, and keeps its data', async () => {
    const dataDir = path.join(folder(), 'deep', 'data');
    const first = await openDatabase({ dataDir, template: await template() });
    await first.models.device.create({ data: device('kept') });
    await first.close();
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    const second = await openDatabase({ dataDir });
    expect(await second.models.device.count()).toBe(1);
    await second.close();
  });

  it('can hold foreign files beside the database', async () => {
    const dataDir = folder();
    writeFileSync(path.join(dataDir, 'secret'), 'x');
    await (await openDatabase({ dataDir, template: await template() })).close();
    expect(existsSync(path.join(dataDir, 'secret'))).toBe(true);
  });

  it('that is a file is refused with advice', async () => {
    const dataDir = path.join(folder(), 'file');
    writeFileSync(dataDir, '');
    await expect(openDatabase({ dataDir })).rejects.toMatchObject({
      code: 'DATA_DIR_UNUSABLE',
      message: expect.stringContaining('choose another folder'),
    });
  });

  it('with a damaged database is refused, untouched and unlocked', async () => {
    const dataDir = folder();
    const cluster = path.join(dataDir, 'pgdata');
    await (await openDatabase({ dataDir, template: await template() })).close();
    const refused = { code: 'DATA_DIR_UNUSABLE', message: expect.stringContaining('Restore it from a backup') };
    truncateSync(path.join(cluster, 'global', 'pg_control'), 10);
    await expect(openDatabase({ dataDir })).rejects.toMatchObject(refused);
    rmSync(path.join(cluster, 'PG_VERSION'));
    await expect(openDatabase({ dataDir })).rejects.toMatchObject(refused);
    expect(existsSync(path.join(cluster, 'base'))).toBe(true);
    await (await lockFolder(dataDir)).release();
  });
});
