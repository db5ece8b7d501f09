/** Changes in repositories of several kinds, and the number of git processes that a comparison takes. */
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { join } from 'node:path';
import { openStore } from '@relay/daemon-kit';
import { itWith } from '@relay/testing/needs';
import type { Item } from '@relay/protocol';
import { gitIn } from '../src/changes/git.ts';
import { type ChangesScene, changesScene } from './changes-scene.ts';
import { lives } from './terminals.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
let scene: ChangesScene;
beforeEach(() => {
  scene = changesScene(folders);
});
afterEach(() => folders.remove());

const named = ({ files }: { files: { path: string; change: string }[] }) =>
  files.map(({ path, change }) => [path, change]);
const local = ['-c', 'protocol.file.allow=always'];

it('lists a submodule by its commits alone, and takes it as the root of a session inside', async () => {
  const { git, write, commit, begin, list, diff, top, allowed, session } = scene;
  const source = join(allowed, 'source');
  mkdirSync(source);
  git(['init', '-q'], source);
  write('lib.txt', 'one\n', source);
  git(['add', '-A'], source);
  git(['commit', '-q', '-m', 'lib'], source);
  begin();
  git([...local, 'submodule', '--quiet', 'add', source, 'vendor/lib']);
  commit();
  const inside = join(top, 'vendor/lib');
  write('lib.txt', 'two\n', inside);
  expect(named(await list())).toEqual([]);
  const ofSession = await list('uncommitted', undefined, { ...session, projectPath: inside });
  expect(ofSession).toMatchObject({ root: inside, files: [{ path: 'lib.txt', change: 'edit', added: 1, removed: 1 }] });
  git(['commit', '-q', '-a', '-m', 'two'], inside);
  expect(named(await list())).toEqual([['vendor/lib', 'submodule']]);
  const lines = (await diff('vendor/lib')).hunks.flatMap((hunk) => hunk.lines);
  expect(lines).toEqual([
    expect.stringMatching(/^-Subproject commit [0-9a-f]{40}$/),
    expect.stringMatching(/^\+Subproject commit [0-9a-f]{40}$/),
  ]);
});

it('lists no file as deleted that a sparse checkout leaves out', async () => {
  const { git, write, commit, begin, list, file, ask } = scene;
  begin();
  write('in/a.txt', 'one\n');
  write('out/b.txt', 'one\n');
  commit();
  git(['sparse-checkout', 'set', '--cone', 'in']);
  write('in/a.txt', 'two\n');
  expect(named(await list())).toEqual([['in/a.txt', 'edit']]);
  expect(await file('out/b.txt')).toEqual({ code: 'FILE_NOT_FOUND' });
  expect((await ask('get_files', {})).entries.map(({ name }) => name)).toEqual(['in', 'README.md']);
});

it('lists a file of a partial clone whose earlier content is elsewhere, and fetches nothing', async () => {
  const { git, write, commit, begin, list, diff, top, allowed, session } = scene;
  begin();
  write('out/b.txt', 'one\n');
  commit();
  git(['config', 'uploadpack.allowFilter', 'true']);
  const clone = join(allowed, 'clone');
  git([...local, 'clone', '-q', '--filter=blob:none', '--sparse', `file://${top}`, clone]);
  write('out/b.txt', 'two\n', clone);
  const missing = () => git(['rev-list', '--objects', '--all', '--missing=print'], clone).match(/^\?/gm)?.length;
  const before = missing();
  expect(before).toBeGreaterThan(0);
  const about = { ...session, projectPath: clone };
  const { files } = await list('uncommitted', undefined, about);
  expect(files).toEqual([{ path: 'out/b.txt', change: 'edit' }]);
  const answer = await scene.ask('get_diff', { scope: 'uncommitted', path: 'out/b.txt' }, undefined, about);
  expect(answer).toMatchObject({ change: { hidden: 'missing' }, hunks: [] });
  expect(missing()).toBe(before);
  expect(await diff('out/b.txt')).toEqual({ code: 'FILE_NOT_FOUND' });
});

it('folds the same edits after a restart of the daemon', async () => {
  const { base, top, list, session } = scene;
  const storeFolder = join(base, 'store');
  const diffs = [{ path: 'a.ts', change: 'edit', added: 1, removed: 0, hunks: [{ old: 1, new: 1, lines: ['+one'] }] }];
  const part = { kind: 'tool', id: 't1', title: 'Edit', status: 'completed', diffs };
  const item = { uuid: 'i1', role: 'AGENT', content: '', timestamp: session.createdAt, seq: 1, part } as Item;
  const first = openStore(storeFolder);
  first.create('s1', top);
  first.take('s1', [item]);
  const edits = async (store: typeof first) =>
    list('edits', undefined, { ...session, items: () => store.everything('s1') ?? [] });
  const before = await edits(first);
  expect(before.files).toEqual([{ path: 'a.ts', change: 'edit', added: 1, removed: 0 }]);
  expect(await edits(openStore(storeFolder))).toEqual(before);
});

it('lists no file that was touched without another content', async () => {
  const { begin, write, commit, list, top } = scene;
  begin();
  write('text.txt', 'one\n');
  write('same.bin', Buffer.from([0, 1, 2]));
  write('other.bin', Buffer.from([0, 1, 2]));
  commit();
  write('other.bin', Buffer.from([0, 1, 3]));
  for (const name of ['text.txt', 'same.bin']) utimesSync(join(top, name), 1000, 1000);
  expect(await list()).toMatchObject({ files: [{ path: 'other.bin', change: 'edit', binary: true }] });
});

it('44: asks git three times for a list and five times for a file, for any number of files and after a mark', async () => {
  const { base, begin, write, commit, workspace } = scene;
  const counted = join(base, 'counted');
  const fake = join(base, 'bin');
  mkdirSync(fake);
  const real = execFileSync('which', ['git']).toString().trim();
  writeFileSync(join(fake, 'git'), `#!/bin/sh\necho >> ${counted}\nexec ${real} "$@"\n`);
  chmodSync(join(fake, 'git'), 0o755);
  const of = workspace({ env: { PATH: `${fake}:${process.env.PATH}` } });
  const processes = async (work: () => Promise<unknown>) => {
    writeFileSync(counted, '');
    await work();
    return readFileSync(counted, 'utf8').length;
  };
  begin();
  for (let n = 0; n < 200; n += 1) write(`src/${n}.txt`, 'one\n');
  commit();
  write('src/0.txt', 'two\n');
  const list = () => processes(() => scene.list('uncommitted', of));
  // The first one asks for the version, too.
  expect(await list()).toBe(4);
  expect(await list()).toBe(3);
  for (let n = 1; n < 200; n += 1) write(`src/${n}.txt`, 'two\n');
  for (let n = 0; n < 100; n += 1) write(`new/${n}.txt`, 'new\n');
  expect((await scene.list('uncommitted', of)).count).toBe(300);
  expect(await list()).toBe(3);
  expect(await processes(() => scene.diff('src/0.txt', 'uncommitted', of))).toBe(5);
  await of.mark(scene.session, 'turn-1');
  expect(await processes(() => scene.list('turn', of))).toBe(3);
});

it('kills git with its children after its time and after too much output', async () => {
  const { base, top } = scene;
  const fake = join(base, 'bin');
  mkdirSync(fake);
  const pids = join(base, 'pids');
  writeFileSync(
    join(fake, 'git'),
    `#!/bin/sh\nsleep 600 & echo $$ $! > ${pids}\ncase "$*" in *loud) yes ;; esac\nwait\n`,
  );
  chmodSync(join(fake, 'git'), 0o755);
  const env = { PATH: `${fake}:${process.env.PATH}` };
  for (const [command, limits, why] of [
    ['silent', { timeMs: 3000 }, 'time'],
    ['loud', { timeMs: 60_000, maxBytes: 1000 }, 'size'],
  ] as const) {
    const git = gitIn(top, [], { ceilings: [], env })!;
    await expect(git([command], limits)).rejects.toMatchObject({ why });
    const alive = () => readFileSync(pids, 'utf8').trim().split(' ').map(Number).filter(lives);
    while (alive().length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

const tracedCalls = ['openat', 'open', 'creat', 'unlink', 'unlinkat', 'rename', 'renameat', 'renameat2', 'mkdir', 'mkdirat', 'symlink', 'symlinkat', 'link', 'linkat', 'truncate', 'utimensat', 'fchmodat', 'socket']; // prettier-ignore

itWith('strace', 'writes nothing below the repository, and opens no socket to a network', async () => {
  const { base, top, begin, write, commit, workspace, session } = scene;
  begin();
  for (const name of ['a', 'b', 'gone']) write(`${name}.txt`, 'one\n');
  commit();
  write('a.txt', 'two\n');
  write('new.txt', 'one\n');
  // The index has another time of this file, so git would refresh it.
  utimesSync(join(top, 'b.txt'), 1000, 1000);
  const fake = join(base, 'bin');
  const traces = join(base, 'traces');
  for (const folder of [fake, traces]) mkdirSync(folder);
  const real = execFileSync('which', ['git']).toString().trim();
  const strace = `strace -f -qq -e trace=${tracedCalls.map((name) => `?${name}`).join()} -o ${traces}/$$`;
  writeFileSync(join(fake, 'git'), `#!/bin/sh\nexec ${strace} ${real} "$@"\n`);
  chmodSync(join(fake, 'git'), 0o755);
  const of = workspace({ env: { PATH: `${fake}:${process.env.PATH}` } });
  const index = statSync(join(top, '.git/index')).mtimeMs;
  await of.mark(session, 'turn-1');
  for (const scope of ['uncommitted', 'session', 'turn'] as const) await scene.list(scope, of);
  expect((await scene.diff('a.txt', 'uncommitted', of)).hunks).toHaveLength(1);
  expect(await scene.file('a.txt', { side: 'before' }, of)).toMatchObject({ text: 'one\n' });
  const lines = readdirSync(traces).flatMap((name) => readFileSync(join(traces, name), 'utf8').split('\n'));
  expect(lines.filter((line) => line.includes('.git/'))).not.toEqual([]);
  const isRead = (line: string) => /\bopen(?:at)?\(/.test(line) && !/O_(?:WRONLY|RDWR|CREAT)/.test(line);
  const isHarmless = (line: string) =>
    line === '' || isRead(line) || line.includes('"/dev/null"') || / = -1 E/.test(line);
  expect(lines.filter((line) => !isHarmless(line) && !/socket\(AF_UNIX/.test(line))).toEqual([]);
  expect(statSync(join(top, '.git/index')).mtimeMs).toBe(index);
});
