/** The folders through which files pass between people and agents, in a real project with git. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fileLimits } from '@relay/protocol';
import { safeFileName, silentLog } from '@relay/daemon-kit';
import { describeWith } from '@relay/testing/needs';
import { exchangeOf } from '../src/exchange/exchange.ts';
import { promptOf } from '../src/agents/acp/prompt.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());

function scene({ outside = false, sends = true, platform = process.platform } = {}) {
  const root = realpathSync(folders.make());
  const [project, keys, folder, arrived] = ['project', 'home/.ssh', 'state/files', 'arrived'].map((name) =>
    join(root, name),
  );
  for (const made of [project!, keys!, dirname(folder!), arrived!]) mkdirSync(made, { recursive: true });
  const rules = { defaultPath: project!, allowed: [project!], closed: [keys!] };
  const exchange = exchangeOf({ rules, folder: folder!, outside, sends, log: silentLog, platform });
  let count = 0;
  const placeAll = (given: readonly string[], texts: readonly string[]) =>
    exchange.place(
      { sessionId: 's', projectPath: project! },
      given.map((name, index) => {
        const path = join(arrived!, String((count += 1)));
        writeFileSync(path, texts[index]!, { mode: 0o600 });
        return { name: safeFileName(name), path };
      }),
    );
  const place = (name: string, text = 'text') => placeAll([name], [text])[0]!;
  return { root, project: project!, keys: keys!, folder: folder!, exchange, place, placeAll };
}
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));

describe('a file of a person', () => {
  it('lies below .relay in the project, is not executable, and git sees nothing', () => {
    const { project, place } = scene();
    execFileSync('git', ['init', '-q', project]);
    const path = place('report.pdf');
    expect(path).toMatch(new RegExp(`^${project}/\\.relay/files/[0-9a-f]{8}/report\\.pdf$`));
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    mkdirSync(join(project, '.relay/out'));
    writeFileSync(join(project, '.relay/out/answer.txt'), 'x');
    expect(execFileSync('git', ['-C', project, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
  });

  it('goes to the agent as a link after the text, with its name and size', () => {
    const { place } = scene();
    const path = place('a b.csv', 'a;b');
    const files = [{ path, name: 'a b.csv', mime: 'text/csv', bytes: 3 }];
    expect(promptOf({ message: 'Read it', files }, { images: false })).toEqual([
      { type: 'text', text: 'Read it' },
      {
        type: 'resource_link',
        uri: `file://${dirname(path)}/a%20b.csv`,
        name: 'a b.csv',
        mimeType: 'text/csv',
        size: 3,
      },
    ]);
  });

  it('never leaves its folder and replaces no file under 200 hostile names', () => {
    const { root, project, place } = scene();
    const names = [
      '..',
      '.',
      '',
      '/etc/passwd',
      '../../x',
      'NUL',
      'CON.txt',
      '-rf',
      '.git/config',
      '..\\..\\x',
      '\u202Egnp.exe',
      'a\u0000b',
    ];
    const hostile = Array.from({ length: 200 }, (_, n) => `${names[n % names.length]!}${'ß'.repeat(n)}`);
    const before = filesBelow(root);
    const placed = hostile.map((name, n) => place(name, `text ${n}`));
    expect(new Set(placed).size).toBe(200);
    for (const [n, path] of placed.entries()) {
      expect(dirname(dirname(path))).toBe(join(project, '.relay/files'));
      expect(readFileSync(path, 'utf8')).toBe(`text ${n}`);
    }
    const made = filesBelow(root).filter((path) => !before.includes(path) && !path.includes('/arrived/'));
    expect(made.length).toBe(200 + 1);
  });

  describe.each(['linux', 'darwin', 'win32'] as const)('on %s', (platform) => {
    it.each([[['.relay']], [['.relay', 'files']], [['.relay', 'files', '043a7187']]])(
      'stays beside the project if %j is a link',
      (parts) => {
        const { root, project, folder, place } = scene({ platform });
        const target = join(root, 'target');
        mkdirSync(target);
        mkdirSync(join(project, ...parts.slice(0, -1)), { recursive: true });
        symlinkSync(target, join(project, ...parts));
        expect(place('a.txt')).toBe(join(folder, '043a7187', 'a.txt'));
        expect(readdirSync(target)).toEqual([]);
      },
    );

    it('lies in the project, and files for people are found there', () => {
      const { project, exchange, place } = scene({ platform });
      expect([place('a.txt'), place('a.txt')]).toEqual(
        ['a.txt', 'a-2.txt'].map((name) => join(project, '.relay/files/043a7187', name)),
      );
      mkdirSync(join(project, '.relay/out'));
      const answer = join(project, '.relay/out/answer.txt');
      writeFileSync(answer, 'x');
      expect([...exchange.outgoing(project).keys()]).toEqual([answer]);
    });
  });

  it('stays beside the project with --files-outside, and where the project cannot be written', () => {
    const outside = scene({ outside: true });
    expect(outside.place('a.txt')).toBe(join(outside.folder, '043a7187', 'a.txt'));
    expect(existsSync(join(outside.project, '.relay'))).toBe(false);
    const other = scene();
    writeFileSync(join(other.project, '.relay'), 'a file');
    expect(other.place('a.txt')).toBe(join(other.folder, '043a7187', 'a.txt'));
  });
});

describe('a file of an agent', () => {
  it('is read as it is', () => {
    const { project, exchange } = scene();
    writeFileSync(join(project, 'a.bin'), Buffer.from([0, 1, 2]));
    symlinkSync('a.bin', join(project, 'link'));
    expect([...exchange.read(join(project, 'a.bin'))!]).toEqual([0, 1, 2]);
    expect([...exchange.read(join(project, 'link'))!]).toEqual([0, 1, 2]);
  });

  it('stays on the machine if it is a link out of the project, a pipe, a device, a folder, too large or missing', () => {
    const { root, project, keys, exchange } = scene();
    writeFileSync(join(keys, 'id_rsa'), 'key');
    writeFileSync(join(root, 'other'), 'x');
    mkdirSync(join(project, '.relay/out'), { recursive: true });
    const at = (name: string) => join(project, '.relay/out', name);
    symlinkSync(join(keys, 'id_rsa'), at('key'));
    symlinkSync(join(root, 'other'), at('outside'));
    symlinkSync('/dev/zero', at('device'));
    symlinkSync(root, at('folder'));
    execFileSync('mkfifo', [at('pipe')]);
    writeFileSync(at('large'), Buffer.alloc(fileLimits.fileBytes + 1));
    for (const name of ['key', 'outside', 'device', 'folder', 'pipe', 'large', 'missing', 'folder/other'])
      expect([name, exchange.read(at(name))]).toEqual([name, undefined]);
    expect(exchange.read(join(keys, 'id_rsa'))).toBeUndefined();
    expect(exchange.read('/proc/self/environ')).toBeUndefined();
    // This regular file has more bytes than its size, like a growing file.
    const everywhere = exchangeOf({
      rules: { defaultPath: project },
      folder: root,
      outside: false,
      sends: true,
      log: silentLog,
    });
    expect(everywhere.read('/proc/self/environ')).toBeUndefined();
    expect([...exchange.outgoing(project).keys()]).toEqual([at('large')]);
  });

  it('has another stamp in the folder for outgoing files once it changes', () => {
    const { project, exchange } = scene();
    const path = join(project, '.relay/out/a.txt');
    expect(exchange.outgoing(project).size).toBe(0);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'a');
    const before = exchange.outgoing(project).get(path);
    appendFileSync(path, 'b');
    expect(exchange.outgoing(project).get(path)).not.toBe(before);
    expect(readFileSync(join(project, '.relay/.gitignore'), 'utf8')).toBe('*\n');
  });

  it('stays on the machine with --no-files-out', () => {
    const { project, exchange } = scene({ sends: false });
    writeFileSync(join(project, 'a.txt'), 'a');
    expect(exchange.read(join(project, 'a.txt'))).toBeUndefined();
  });
});

describeWith(['root'], 'a full disk', () => {
  const mounts: string[] = [];
  afterEach(() => {
    for (const folder of mounts.splice(0)) spawnSync('umount', ['--lazy', folder]);
  });
  const small = (folder: string) => {
    mkdirSync(folder, { recursive: true });
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', folder])).toMatchObject({
      status: 0,
    });
    mounts.push(folder);
  };
  const large = 'x'.repeat(256 * 1024);

  it('5.6: of the project keeps a file beside it, and leaves no part of it there', () => {
    const { project, folder, place } = scene();
    small(project);
    expect(place('small.txt')).toBe(join(project, '.relay/files/043a7187/small.txt'));
    const path = place('large.txt', large);
    expect([path, readFileSync(path, 'utf8').length]).toEqual([join(folder, '043a7187/large.txt'), large.length]);
    expect(readdirSync(join(project, '.relay/files/043a7187'))).toEqual(['small.txt']);
  });

  it('5.6: of both places refuses the files of a message, and erases their copies', () => {
    const { project, folder, place, placeAll } = scene();
    for (const disk of [project, folder]) small(disk);
    expect(() => placeAll(['small.txt', 'large.txt'], ['text', large])).toThrow('ENOSPC');
    expect(filesBelow(join(project, '.relay/files'))).toEqual([]);
    expect(filesBelow(folder)).toEqual([]);
    expect(place('small.txt')).toBe(join(project, '.relay/files/043a7187/small.txt'));
  });
});
