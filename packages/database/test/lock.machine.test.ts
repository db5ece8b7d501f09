import { describe, expect, it } from '@jest/globals';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { lockFolder } from '../src/lock.ts';
import { openDatabase } from '../src/open.ts';
import { runProgram, temporaryFolders, template } from './databases.ts';

describe('the lock of the data folder', () => {
  const folder = temporaryFolders();

  it('refuses a second process and names the first', async () => {
    const dataDir = folder();
    const database = await openDatabase({ dataDir, template: await template() });
    try {
      const second = runProgram('open', dataDir);
      expect(await second.line()).toMatch(
        `DATA_DIR_IN_USE The data folder ${dataDir} is in use by another process (pid ${process.pid})`,
      );
      expect(await database.models.device.count()).toBe(0);
    } finally {
      await database.close();
    }
  });

  it('is free after the process that held it was killed, and after a close', async () => {
    const dataDir = folder();
    await (await openDatabase({ dataDir, template: await template() })).close();
    const holder = runProgram('open', dataDir);
    expect(await holder.line()).toBe(`open ${holder.process.pid}`);
    await expect(openDatabase({ dataDir })).rejects.toMatchObject({
      code: 'DATA_DIR_IN_USE',
      message: expect.stringContaining(`(pid ${holder.process.pid})`),
    });
    await holder.crash();
    await (await openDatabase({ dataDir })).close();
  });

  it('refuses a second use in the same process, by another path too', async () => {
    const dataDir = folder();
    const link = path.join(folder(), 'link');
    symlinkSync(dataDir, link);
    const lock = await lockFolder(dataDir);
    const refused = { code: 'DATA_DIR_IN_USE', message: expect.stringContaining('this process') };
    await expect(lockFolder(dataDir)).rejects.toMatchObject(refused);
    await expect(lockFolder(link)).rejects.toMatchObject(refused);
    await lock.release();
    await (await lockFolder(link)).release();
  });

  it.each([
    ['a short path', 'data'],
    ['a path too long for a socket', 'x'.repeat(100)],
  ])('holds on macOS for any folder of temporary files: %s', async (_, name) => {
    const dataDir = path.join(folder(), name);
    mkdirSync(dataDir);
    const before = process.env.TMPDIR;
    try {
      const lock = await lockFolder(dataDir, 'darwin');
      process.env.TMPDIR = folder();
      await expect(lockFolder(dataDir, 'darwin')).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE' });
      await lock.release();
      await (await lockFolder(dataDir, 'darwin')).release();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });
});
