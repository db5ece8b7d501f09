import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { itWith } from '@relay/testing/needs';
import { formerLockAddress, lockAddress, lockHolder, takeLock } from '../src/lock.ts';
import { temporaryFolders } from './folders.ts';

const folders = temporaryFolders();
const releases: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
  folders.remove();
});
const take = async (address: string, former?: string) => {
  const lock = await takeLock(address, former);
  releases.push(() => lock.release());
  return lock;
};

/** Listens there and is killed with -9: the socket file stays. */
async function killedHolder(address: string) {
  const script = `require('net').createServer().listen(${JSON.stringify(address)}, () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', script]);
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

type Place = [name: string, addressOf: (folder: string) => string];
const file: Place = ['on a socket file', (folder) => join(folder, 'lock.sock')];
/** As long as the system allows. */
const longest: Place = [
  'on a socket file with the longest path',
  (folder) => join(folder, 'x.sock'.padStart((process.platform === 'linux' ? 107 : 103) - folder.length - 1, 'x')),
];
const native: Place = ['at the address of this platform', (folder) => lockAddress(folder)];

describe.each([native, file, longest])('the lock of a home, %s', (_name, addressOf) => {
  it('has one holder; the second one gets an error with the pid of the first', async () => {
    const address = addressOf(folders.make());
    await take(address);
    await expect(take(address)).rejects.toMatchObject({
      code: 'ALREADY_RUNNING',
      exitCode: 75,
      message: expect.stringContaining(`pid ${process.pid}`),
    });
    expect(await lockHolder(address)).toBe(process.pid);
  });

  it('is free after its release', async () => {
    const address = addressOf(folders.make());
    const lock = await takeLock(address);
    await lock.release();
    expect(await lockHolder(address)).toBeUndefined();
    await take(address);
  });

  it('is free after its holder was killed with -9', async () => {
    const address = addressOf(folders.make());
    await killedHolder(address);
    await take(address);
    expect(await lockHolder(address)).toBe(process.pid);
  });

  it('goes to exactly one of many simultaneous callers', async () => {
    const address = addressOf(folders.make());
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => take(address)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('the address of a lock', () => {
  it('counts as free when it is too long for a socket', async () => {
    // Node.js 20 shortens it instead.
    const tooLong = (error: unknown) => void expect(error).toMatchObject({ code: 'EINVAL' });
    const address = join(folders.make(), `${'x'.repeat(120)}.sock`);
    expect(await lockHolder(address).catch(tooLong)).toBeUndefined();
  });

  it('is the same for every path to a folder, and different for another folder', () => {
    const folder = folders.make();
    const other = folders.make();
    const link = join(other, 'link');
    symlinkSync(folder, link);
    expect(lockAddress(link)).toBe(lockAddress(folder));
    expect(lockAddress(other)).not.toBe(lockAddress(folder));
  });

  it('is short enough for a socket everywhere', () => {
    expect(lockAddress(folders.make(), 'win32')).toMatch(/^\\\\\.\\pipe\\/);
    const folder = folders.make();
    const long = join(folder, 'x'.repeat(100));
    mkdirSync(long);
    expect(lockAddress(folder, 'darwin')).toBe(join(folder, 'lock.sock'));
    const file = lockAddress(long, 'darwin');
    expect(file).toMatch(/^\/tmp\/relay-daemon-\d+\/.*\.sock$/);
    expect(file.length).toBeLessThanOrEqual(100);
    expect(existsSync(file)).toBe(false);
  });

  it('does not depend on environment variables', () => {
    const folder = folders.make();
    const script = `
      import { lockAddress } from ${JSON.stringify(new URL('../dist/lock.js', import.meta.url).href)};
      console.log(lockAddress(process.argv[1], 'darwin'));`;
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
    await expect(takeLock(join(folder, 'lock.sock'), former)).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
    await releases.pop()!();
    await take(join(folder, 'lock.sock'), former);
    expect(formerLockAddress(folder, 'darwin')).toMatch(/relay-daemon-[0-9a-f]{32}\.sock$/);
    expect(formerLockAddress(folder, 'linux')).toBeUndefined();
  });

  it('is in a folder that only its owner can access', async () => {
    const made = join(folders.make(), 'new');
    await take(join(made, 'lock.sock'));
    expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  itWith(['root'], "cannot be taken in another user's folder", async () => {
    const folder = folders.make();
    chownSync(folder, 4711, 4711);
    await expect(takeLock(join(folder, 'lock.sock'))).rejects.toMatchObject({ code: 'LOCK_UNSAFE', exitCode: 78 });
  });

  it('is held also by a process that does not answer', async () => {
    const address = lockAddress(folders.make());
    const silent = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => silent.listen(address, resolve));
    releases.push(() => new Promise((resolve) => silent.close(() => resolve())));
    await expect(take(address)).rejects.toMatchObject({ code: 'ALREADY_RUNNING' });
  });
});
