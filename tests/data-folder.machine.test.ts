/**
 * Promise: on a machine that cannot hold the relay's files, or allows too few open files, the start fails with a
 * sentence that explains the remedy.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import { itWith } from '@relay/testing/needs';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(import.meta.dirname, '..');
const main = fileURLToPath(new URL('../apps/standalone/dist/main.js', import.meta.url));
const folders: string[] = [];
const mounts: string[] = [];
afterAll(() => {
  for (const mount of mounts) spawnSync('umount', [mount]);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const isRoot = process.getuid?.() === 0;
/** Root can write everywhere, so the relay runs as another user if the tests run as root. */
const other = isRoot ? { uid: 65534, gid: 65534 } : {};

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'relay-data-folder-'));
  folders.push(folder);
  if (isRoot) chownSync(folder, 65534, 65534);
  return folder;
}

function run(command: string, args: readonly string[], env: Record<string, string> = {}, as: object = other) {
  const { status, stderr } = spawnSync(command, args, {
    cwd: tmpdir(),
    encoding: 'utf8',
    timeout: 110_000,
    killSignal: 'SIGKILL',
    env: { PATH: process.env.PATH ?? '', ...env },
    ...as,
  });
  return { status, output: stderr };
}

/** A start that must fail. */
const start = (dataDir: string, as?: object) =>
  run(
    process.execPath,
    [main],
    { PORT: '0', PUBLIC_URL: 'https://relay.test', METRICS_PORT: '0', DATA_DIR: dataDir },
    as,
  );

const aSentence = (folder: string, what: RegExp) => ({
  status: 1,
  output: expect.stringMatching(new RegExp(`^The data folder ${folder} cannot be used: ${what.source}\\n$`)) as unknown,
});

describe('M4: DATA_DIR', () => {
  it('M4: fails the start if it is not writable for this user', () => {
    const folder = join(makeFolder(), 'closed');
    mkdirSync(folder, { mode: 0o700 });
    if (isRoot) chownSync(folder, 0, 0);
    else chmodSync(folder, 0o500);
    expect(start(folder)).toEqual(aSentence(folder, /this user \(\d+\) may not write there\. .*DATA_DIR\./));
    expect(start(join(folder, 'below'))).toEqual(
      aSentence(join(folder, 'below'), /this user \(\d+\) may not write there\. .*/),
    );
  });

  it('M4: fails the start if it is a file or lies below one', () => {
    const file = join(makeFolder(), 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, 'below')]) {
      expect(start(path)).toEqual(
        aSentence(path, /it is a file, or lies below one, and must be a folder\. .*DATA_DIR\./),
      );
    }
  });

  itWith('root', 'M4: fails the start if its disk is full, or fills up while the start creates the database', () => {
    const folder = makeFolder();
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=777', 'tmpfs', folder])).toMatchObject({ status: 0 });
    mounts.push(folder);
    const full = aSentence(
      folder,
      /its disk is full\. Free at least 100 MB on it, or choose another folder with DATA_DIR\. .*/,
    );
    expect(start(folder)).toEqual(full);
    expect(existsSync(join(folder, 'pgdata'))).toBe(false);
    rmSync(join(folder, 'auth-secret'), { force: true });
    spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'ballast')}`, 'bs=64k']);
    expect(start(folder)).toEqual(full);
  });
});

describe('a checkout', () => {
  const turbo = ['scripts/turbo.mjs', 'run', 'build', '--quiet'];

  /** Has the build script and nothing else. */
  function checkout(): string {
    const folder = makeFolder();
    mkdirSync(join(folder, 'scripts'));
    copyFileSync(join(root, 'scripts/turbo.mjs'), join(folder, 'scripts/turbo.mjs'));
    return folder;
  }
  const close = (folder: string) => {
    chmodSync(folder, 0o555);
    if (isRoot) chownSync(folder, 0, 0);
  };

  it('M4: on a read-only folder reports that it cannot be built, or uses an existing build', () => {
    const folder = checkout();
    close(folder);
    const refused = run(process.execPath, turbo, {}, { ...other, cwd: folder });
    expect(refused).toEqual({
      status: 1,
      output: expect.stringMatching(/may not be written \(EACCES\), so it cannot be built\. Give .*copy/s),
    });
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'apps/standalone/dist'), { recursive: true });
    writeFileSync(join(folder, 'apps/standalone/dist/main.js'), '');
    close(folder);
    const used = run(process.execPath, turbo, {}, { ...other, cwd: folder });
    expect(used).toEqual({
      status: 0,
      output: expect.stringMatching(/may not be written \(EACCES\): what was built before is used\.\n$/),
    });
    chmodSync(folder, 0o755);
  });

  it('R7: names the required limit of open files if it is too low', () => {
    const words = ['-c', 'ulimit -n 256 && exec "$0" "$@"', process.execPath, ...turbo];
    expect(run('/bin/sh', words, {}, { cwd: checkout() })).toEqual({
      status: 1,
      output: expect.stringMatching(
        /^Only 256 files may be open at a time, and 1024 are needed to start .*ulimit -n 1024/s,
      ),
    });
  });
});
