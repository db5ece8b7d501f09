import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { itWith } from '@relay/testing/needs';
import { addressOf, formerAddress, runningOn, takeHome } from '../src/lock.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
const releases: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
  folders.remove();
});
const take = async (address: string, former?: string) => {
  const lock = await takeHome(address, former);
  releases.push(() => lock.release());
};

describe('the lock of a home', () => {
  it('has one holder; the second one gets an error with the pid of the first', async () => {
    const folder = folders.make();
    expect(await runningOn(folder)).toBeUndefined();
    await take(addressOf(folder));
    await expect(take(addressOf(folder))).rejects.toMatchObject({
      code: 'ALREADY_RUNNING',
      exitCode: 75,
      message: expect.stringContaining(`pid ${process.pid}`),
    });
    expect(await runningOn(folder)).toBe(process.pid);
  });

  it('has the same address for every path to a folder, and a different one for another folder', () => {
    const folder = folders.make();
    const other = folders.make();
    const link = join(other, 'link');
    symlinkSync(folder, link);
    expect(addressOf(link)).toBe(addressOf(folder));
    expect(addressOf(other)).not.toBe(addressOf(folder));
  });

  it('has an address that is short enough for a socket everywhere', () => {
    expect(addressOf(folders.make(), 'win32')).toMatch(/^\\\\\.\\pipe\\/);
    const folder = folders.make();
    const long = join(folder, 'x'.repeat(100));
    mkdirSync(long);
    expect(addressOf(folder, 'darwin')).toBe(join(folder, 'lock.sock'));
    const file = addressOf(long, 'darwin');
    expect(file).toMatch(/^\/tmp\/relay-daemon-\d+\/.*\.sock$/);
    expect(file.length).toBeLessThanOrEqual(100);
    expect(existsSync(file)).toBe(false);
  });

  it('has an address that depends on no environment variable', () => {
    const folder = folders.make();
    const script = `
      import { addressOf } from ${JSON.stringify(new URL('../dist/lock.js', import.meta.url).href)};
      console.log(addressOf(process.argv[1], 'darwin'));`;
    const words = ['--input-type=module', '--eval', script, folder];
    const addresses = ['/tmp', '/var/tmp'].map((TMPDIR) => {
      const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8', env: { ...process.env, TMPDIR } });
      return stdout.trim();
    });
    expect(addresses).toEqual([join(folder, 'lock.sock'), join(folder, 'lock.sock')]);
  });

  it('cannot be taken while a daemon holds the former one', async () => {
    const folder = folders.make();
    const former = join(folders.make(), 'former.sock');
    await take(former);
    await expect(takeHome(join(folder, 'lock.sock'), former)).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
    await releases.pop()!();
    await take(join(folder, 'lock.sock'), former);
    expect(formerAddress(folder, 'darwin')).toMatch(/relay-daemon-[0-9a-f]{32}\.sock$/);
    expect(formerAddress(folder, 'linux')).toBeUndefined();
  });

  it('is in a folder that only its owner can access', async () => {
    const made = join(folders.make(), 'new');
    await take(join(made, 'lock.sock'));
    expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  itWith(['root'], "cannot be taken in another user's folder", async () => {
    const folder = folders.make();
    chownSync(folder, 4711, 4711);
    await expect(takeHome(join(folder, 'lock.sock'))).rejects.toMatchObject({ code: 'LOCK_UNSAFE', exitCode: 78 });
  });
});
