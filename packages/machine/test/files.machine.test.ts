import { afterEach, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, readOwnerFile, replaceOwnerFile } from '../src/files.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());

describe('a file of its owner', () => {
  it('has mode 0600, with any earlier file and umask, and replaces the file as a whole', () => {
    const folder = folders.make();
    const file = join(folder, 'secret');
    writeFileSync(file, 'old', { mode: 0o666 });
    chmodSync(file, 0o666);
    const before = process.umask(0);
    try {
      replaceOwnerFile(file, 'new');
    } finally {
      process.umask(before);
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readOwnerFile(file, 'Write it again.')).toBe('new');
    expect(readdirSync(folder)).toEqual(['secret']);
  });

  it('keeps its text if the disk accepts only a part of the new one', () => {
    const file = join(folders.make(), 'full');
    // The limit for files is 8 blocks of 512 bytes: one write stores a part, and only its return value shows that.
    const script = `
      import { replaceOwnerFile } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
      replaceOwnerFile(process.argv[1], 'good');
      try { replaceOwnerFile(process.argv[1], 'x'.repeat(100_000)); } catch (error) { console.log(error.code); }`;
    const words = [process.execPath, '--input-type=module', '--eval', script, file];
    const { stdout } = spawnSync('sh', ['-c', `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`, ...words], {
      encoding: 'utf8',
    });
    expect(stdout.trim()).toBe('EFBIG');
    expect(readFileSync(file, 'utf8')).toBe('good');
  });

  it('is refused if other users can read it, or if it is a link or a folder', () => {
    const folder = folders.make();
    const read = (name: string) => readOwnerFile(join(folder, name), 'Write it again.', 78);
    expect(read('absent')).toBeUndefined();
    writeFileSync(join(folder, 'readable'), 'x', { mode: 0o640 });
    expect(() => read('readable')).toThrow(/can be read by other users. Run "chmod 600/);
    symlinkSync('elsewhere', join(folder, 'link'));
    expect(() => read('link')).toThrow(/is not a regular file. Write it again./);
    mkdirSync(join(folder, 'folder'));
    expect(() => read('folder')).toThrow(expect.objectContaining({ code: 'CREDENTIALS_UNSAFE', exitCode: 78 }));
  });
});

describe('a folder of its owner', () => {
  it('has mode 0700 if it is new, and is refused if other users can write to it', () => {
    const folder = join(folders.make(), 'a', 'b');
    makePrivateFolder(folder, '--home');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    chmodSync(folder, 0o777);
    expect(() => makePrivateFolder(folder, '--home')).toThrow(/chmod go-w .* with --home/);
  });

  it('appears in the error if the system refuses to create it', () => {
    const file = join(folders.make(), 'file');
    writeFileSync(file, '');
    const make = () => makePrivateFolder(join(file, 'x'), '--home', 78);
    expect(make).toThrow(expect.objectContaining({ code: 'HOME_UNUSABLE', exitCode: 78 }));
    expect(make).toThrow(/Cannot create the folder .*\/x \(ENOTDIR\)\. Choose another one with --home/);
  });
});
