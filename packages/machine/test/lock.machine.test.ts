import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { type Lock, lockAddress, lockHolder, takeLock } from '../src/lock.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
const releases: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
  folders.remove();
});
const take = async (address: string): Promise<Lock> => {
  const lock = await takeLock(address);
  releases.push(() => lock.release());
  return lock;
};

/** Listens there until `kill -9`: the socket file stays. */
async function killedHolder(address: string) {
  const script = `require('net').createServer().listen(${JSON.stringify(address)}, () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', script]);
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const placeOf = (folder: string) => ({ name: `relay-test-${basename(folder)}`, elsewhere: '/tmp/relay-test' });

type Place = [name: string, addressOf: (folder: string) => string];
const file: Place = ['on a socket file', (folder) => join(folder, 'lock.sock')];
/** As long as the system allows. */
const longest: Place = [
  'on a socket file with the longest path',
  (folder) => join(folder, 'x.sock'.padStart((process.platform === 'linux' ? 107 : 103) - folder.length - 1, 'x')),
];
const native: Place = ['at the address of this platform', (folder) => lockAddress(folder, placeOf(folder))];

describe.each([native, file, longest])('the lock of a folder, %s', (_name, addressOf) => {
  it('has one holder; the second one gets an error with the pid of the first', async () => {
    const address = addressOf(folders.make());
    await take(address);
    await expect(take(address)).rejects.toMatchObject({ pid: process.pid });
    expect(await lockHolder(address)).toBe(process.pid);
  });

  it('is free after its release', async () => {
    const address = addressOf(folders.make());
    await (await takeLock(address)).release();
    expect(await lockHolder(address)).toBeUndefined();
    await take(address);
  });

  it('is free after `kill -9` of its holder', async () => {
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

describe('the lock of a folder', () => {
  it('counts as free when its address is too long for a socket', async () => {
    // Node.js 20 shortens it instead.
    const tooLong = (error: unknown) => void expect(error).toMatchObject({ code: 'EINVAL' });
    const address = join(folders.make(), `${'x'.repeat(120)}.sock`);
    expect(await lockHolder(address).catch(tooLong)).toBeUndefined();
  });

  it('has an address that is short enough for a socket everywhere', () => {
    const folder = folders.make();
    const place = placeOf(folder);
    expect(lockAddress(folder, place, 'linux')).toBe(`\0${place.name}`);
    expect(lockAddress(folder, place, 'win32')).toBe(`\\\\.\\pipe\\${place.name}`);
    expect(lockAddress(folder, place, 'darwin')).toBe(join(folder, 'lock.sock'));
    const long = join(folder, 'x'.repeat(100));
    mkdirSync(long);
    const file = lockAddress(long, place, 'darwin');
    expect(file).toBe(`/tmp/relay-test/${place.name}.sock`);
    expect(existsSync(file)).toBe(false);
  });

  it('belongs also to a process that does not answer', async () => {
    const folder = folders.make();
    const address = lockAddress(folder, placeOf(folder));
    const silent = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => silent.listen(address, resolve));
    releases.push(() => new Promise((resolve) => silent.close(() => resolve())));
    await expect(take(address)).rejects.toMatchObject({ pid: 0 });
  });
});
