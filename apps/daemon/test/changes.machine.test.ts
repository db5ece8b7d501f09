/** Changes in the folder of a session, from git and from the transcript. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChangesScene, changesScene } from './changes-scene.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());

const changed = (answer: { files: { path: string; change: string; added?: number; removed?: number }[] }) =>
  answer.files.map(({ path, change, added, removed }) => [path, change, added, removed]);
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(64)]);

describe('changes of a session', () => {
  let scene: ChangesScene;
  beforeEach(() => {
    scene = changesScene(folders);
  });

  it("lists edited, new, deleted and moved files with git's numbers", async () => {
    const { write, begin, commit, top, git, list } = scene;
    begin();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) write(`src/${name}.ts`, `one ${name}\ntwo\nthree\n`);
    commit();
    write('src/a.ts', 'one a\n2\nthree\nfour\n');
    write('src/b.ts', 'two\n');
    write('src/c.ts', 'one c\ntwo\n');
    write('src/new.ts', 'a\nb\n');
    rmSync(join(top, 'src/d.ts'));
    renameSync(join(top, 'src/e.ts'), join(top, 'src/moved.ts'));
    git(['mv', 'src/f.ts', 'src/g.ts']);
    const answer = await list();
    expect(changed(answer)).toEqual([
      ['src/a.ts', 'edit', 2, 1],
      ['src/b.ts', 'edit', 0, 2],
      ['src/c.ts', 'edit', 0, 1],
      ['src/g.ts', 'move', 0, 0],
      ['src/moved.ts', 'move', 0, 0],
      ['src/new.ts', 'add', 2, 0],
      ['src/d.ts', 'delete', 0, 3],
    ]);
    expect(answer).toMatchObject({ root: top, branch: 'main', count: 7, added: 4, removed: 7, scope: 'uncommitted' });
    expect(answer.files[3]).toMatchObject({ from: 'src/f.ts' });
    expect(answer.files[4]).toMatchObject({ from: 'src/e.ts' });
    const page = await scene.ask('get_changes', { scope: 'uncommitted', limit: 2, after: 'src/b.ts' });
    expect([changed(page).map(([path]) => path), page.more]).toEqual([['src/c.ts', 'src/g.ts'], true]);
  });

  it('shows the lines of one file, of a new one and of a deleted one', async () => {
    const { write, begin, commit, top, diff } = scene;
    begin();
    write('a.txt', 'one\r\ntwo\nthree');
    write('gone.txt', 'x\n');
    commit();
    write('a.txt', 'one\r\n2\nthree');
    write('new.txt', 'x\ny');
    rmSync(join(top, 'gone.txt'));
    expect((await diff('a.txt')).hunks).toEqual([
      { old: 1, new: 1, lines: [' one\r', '-two', '+2', ' three', '\\ No newline at end of file'] },
    ]);
    expect((await diff('new.txt')).hunks).toEqual([
      { old: 0, new: 1, lines: ['+x', '+y', '\\ No newline at end of file'] },
    ]);
    expect((await diff('gone.txt')).hunks).toEqual([{ old: 1, new: 0, lines: ['-x'] }]);
    expect(await diff('README.md')).toEqual({ code: 'FILE_NOT_FOUND' });
  });

  it('supports images, LFS pointers, modes, links and conflicts', async () => {
    const { write, begin, commit, top, git, list, diff, file } = scene;
    begin();
    write('run.sh', 'echo\n');
    write('flow.png', png);
    commit();
    git(['checkout', '-q', '-b', 'other']);
    write('README.md', 'other\n');
    commit();
    git(['checkout', '-q', 'main']);
    write('README.md', 'main\n');
    commit();
    try {
      git(['merge', '-q', 'other']);
    } catch {
      // The merge has a conflict.
    }
    chmodSync(join(top, 'run.sh'), 0o755);
    write('flow.png', Buffer.concat([png, Buffer.alloc(10)]));
    write('big.bin', 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n');
    symlinkSync('run.sh', join(top, 'link'));
    const answer = await list();
    expect(answer.state).toBe('merge');
    expect(changed(answer).map(([path, what]) => [path, what])).toEqual([
      ['README.md', 'conflict'],
      ['flow.png', 'edit'],
      ['run.sh', 'mode'],
      ['big.bin', 'add'],
      ['link', 'add'],
    ]);
    expect(answer.files[1]).toMatchObject({ binary: true, was: png.length });
    expect(answer.files[3]).toMatchObject({ lfs: true });
    expect((await diff('README.md')).hunks.flatMap(({ lines }: { lines: string[] }) => lines)).toContain(
      '+<<<<<<< HEAD',
    );
    expect(await diff('flow.png')).toMatchObject({ hunks: [], change: { binary: true, bytes: png.length + 10 } });
    expect(await file('flow.png', { side: 'before' })).toMatchObject({
      kind: 'image',
      mime: 'image/png',
      data: png.toString('base64'),
    });
  });

  it('lists files with a newline, quotes, emoji and bytes that are not UTF-8', async () => {
    const { write, begin, top, list, diff } = scene;
    begin();
    for (const name of ['a\nb', 'say "hi"', 'garden 🌱']) write(name, 'x\n');
    writeFileSync(Buffer.concat([Buffer.from(`${top}/bad-`), Buffer.from([0xff, 0x41])]), 'x\n');
    const answer = await list();
    expect(answer.files.map(({ path, raw }: { path: string; raw?: boolean }) => [path, raw])).toEqual([
      ['a\nb', undefined],
      ['bad-%FFA', true],
      ['garden 🌱', undefined],
      ['say "hi"', undefined],
    ]);
    expect((await diff('a\nb')).hunks).toHaveLength(1);
    expect(await diff('bad-%FFA')).toEqual({ code: 'FILE_NOT_FOUND' });
  });

  it('works before the first commit, without a branch, and in a linked worktree inside the allowed folders', async () => {
    const { write, git, top, list, allowed, session, base } = scene;
    git(['init', '-q']);
    write('a', 'x\n');
    expect(await list()).toMatchObject({ note: 'empty', files: [{ path: 'a', change: 'add' }] });
    scene.commit();
    git(['checkout', '-q', '--detach']);
    expect(await list()).not.toHaveProperty('branch');
    git(['worktree', 'add', '-q', join(allowed, 'tree')]);
    write('b', 'x\n', join(allowed, 'tree'));
    const inTree = await list('uncommitted', undefined, { ...session, projectPath: join(allowed, 'tree') });
    expect(changed(inTree)).toEqual([['b', 'add', 1, 0]]);
    const only = scene.workspace({ rules: { defaultPath: top, allowed: [join(allowed, 'tree')] } });
    expect(await list('uncommitted', only, { ...session, projectPath: join(allowed, 'tree') })).toMatchObject({
      note: 'outside',
      scope: 'edits',
      scopes: ['edits'],
    });
    expect(base).not.toBe(top);
  });

  it('44: reads a loose, packed or detached HEAD without a process, also in a linked worktree', async () => {
    const { write, begin, git, top, list, allowed, base, session, workspace } = scene;
    begin();
    write('a', 'x\n');
    const [bin, log] = [join(base, 'bin'), join(base, 'processes')];
    mkdirSync(bin);
    const real = execFileSync('which', ['git']).toString().trim();
    writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "$*" >> ${log}\nexec ${real} "$@"\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const counted = async (projectPath = top) => {
      const of = workspace({ env });
      // The first one also asks for the version.
      await list('uncommitted', of, { ...session, projectPath });
      writeFileSync(log, '');
      const { head, branch, files } = await list('uncommitted', of, { ...session, projectPath });
      const processes = readFileSync(log, 'utf8').trim().split('\n').length;
      return { processes, branch, head, files: files.map(({ path }) => path) };
    };
    const head = git(['rev-parse', 'HEAD']).trim();
    const whole = { processes: 3, head, files: ['a'] };
    expect(await counted()).toEqual({ ...whole, branch: 'main' });
    git(['checkout', '-q', '-b', 'deep/er']);
    git(['pack-refs', '--all']);
    expect(await counted()).toEqual({ ...whole, branch: 'deep/er' });
    git(['checkout', '-q', '--detach']);
    expect(await counted()).toEqual({ ...whole, branch: undefined });
    git(['worktree', 'add', '-q', '-b', 'tree', join(allowed, 'tree')]);
    expect(await counted(join(allowed, 'tree'))).toEqual({ ...whole, branch: 'tree', files: [] });
    // A name that git stores elsewhere: git itself answers.
    git(['symbolic-ref', 'refs/heads/alias', 'refs/heads/main']);
    git(['symbolic-ref', 'HEAD', 'refs/heads/alias']);
    expect(await counted()).toEqual({ ...whole, processes: 5, branch: expect.anything() });
  });

  it('compares a turn and a session with their start, and omits earlier changes', async () => {
    const { write, begin, commit, list, diff, workspace, session } = scene;
    begin();
    write('before.txt', 'one\n');
    write('both.txt', 'one\n');
    commit();
    write('before.txt', 'changed before the session\n');
    write('both.txt', 'changed before the session\n');
    const of = workspace();
    await of.mark(session, 'turn-1');
    write('first.txt', 'x\n');
    commit();
    write('before.txt', 'changed before the session\n');
    await of.mark(session, 'turn-2');
    write('second.txt', 'x\n');
    write('both.txt', 'and in the turn\n');
    expect(changed(await list('turn', of)).map(([path]) => path)).toEqual(['both.txt', 'second.txt']);
    expect(changed(await list('session', of)).map(([path]) => path)).toEqual(['both.txt', 'first.txt', 'second.txt']);
    expect(await diff('both.txt', 'session', of)).toMatchObject({ includes_earlier: true });
    expect((await list('turn', of)).scopes).toEqual(['uncommitted', 'session', 'turn', 'edits']);
    const first = await scene.ask('get_changes', { scope: 'turn', turn: 'turn-1', limit: 500 }, of);
    expect(changed(first).map(([path]) => path)).toEqual(['both.txt', 'first.txt', 'second.txt']);
    expect(await scene.ask('get_changes', { scope: 'turn', turn: 'turn-9', limit: 500 }, of)).toEqual({ code: 'SCOPE_NOT_AVAILABLE' }); // prettier-ignore
    expect(statSync(join(scene.base, 'marks')).mode & 0o777).toBe(0o700);
  });

  it("offers the session from the repository's log if no turn was marked, and reports it as inexact", async () => {
    const { begin, write, commit, list, session, git } = scene;
    git(['init', '-q']);
    write('README.md', 'hello\n');
    git(['add', '-A']);
    const at = (hour: string) => ({
      GIT_COMMITTER_DATE: `2026-01-01T${hour}:00:00Z`,
      GIT_AUTHOR_DATE: `2026-01-01T${hour}:00:00Z`,
    });
    git(['commit', '-q', '-m', 'first'], undefined, at('08'));
    write('a', 'x\n');
    git(['add', '-A']);
    git(['commit', '-q', '-m', 'second'], undefined, at('10'));
    expect([begin, commit]).toHaveLength(2);
    const about = { ...session, createdAt: '2026-01-01T09:00:00Z' };
    expect(await list('session', undefined, about)).toMatchObject({
      about: true,
      files: [{ path: 'a', change: 'add' }],
    });
    const before = await list('uncommitted', undefined, { ...session, createdAt: '2026-01-01T07:00:00Z' });
    expect(before.scopes).toEqual(['uncommitted', 'edits']);
  });

  it("folds the transcript's edits without a repository", async () => {
    const { items, list, diff, top } = scene;
    const hunk = (lines: string[]) => ({ old: 1, new: 1, lines });
    const tool = (path: string, lines: string[], status = 'completed') => {
      const diffs = [{ path, change: 'edit', added: 1, removed: 0, hunks: [hunk(lines)] }];
      items.push({ uuid: `${items.length}`, role: 'AGENT', content: '', timestamp: '', seq: items.length, part: { kind: 'tool', status, diffs } }); // prettier-ignore
    };
    tool(join(top, 'a.ts'), ['+one']);
    tool('a.ts', ['+two']);
    tool('b.ts', ['+never'], 'failed');
    tool('.env', ['+TOKEN=1']);
    const answer = await list();
    expect(answer).toMatchObject({ scope: 'edits', scopes: ['edits'], note: 'none' });
    expect(answer.files).toEqual([
      { path: 'a.ts', change: 'edit', added: 2, removed: 0 },
      { path: '.env', change: 'edit', hidden: 'secret' },
    ]);
    expect((await diff('a.ts', 'edits')).hunks).toEqual([hunk(['+one']), hunk(['+two'])]);
    expect(await diff('.env', 'edits')).toEqual({ code: 'FILE_HIDDEN' });
  });

  it('lists folders, finds files by name, and reads a file in pieces', async () => {
    const { begin, write, commit, ask, file, workspace, top } = scene;
    begin();
    write('src/limits.ts', 'é'.repeat(10));
    write('src/deep/limit.spec.ts', 'x\n');
    commit();
    write('src/limits.ts', 'é'.repeat(11));
    mkdirSync(join(top, 'closed'));
    expect(await ask('get_files', { path: 'src' })).toEqual({
      path: 'src',
      entries: [
        { name: 'deep', path: 'src/deep', kind: 'folder' },
        { name: 'limits.ts', path: 'src/limits.ts', kind: 'file', bytes: 22, changed: true },
      ],
    });
    expect((await ask('get_files', { find: 'limts' })).entries.map(({ path }: { path: string }) => path)).toEqual([
      'src/limits.ts',
      'src/deep/limit.spec.ts',
    ]);
    expect(await file('src/limits.ts', { limit: 5 })).toEqual({
      path: 'src/limits.ts',
      kind: 'text',
      bytes: 22,
      text: 'ééé',
      next: 6,
    });
    expect(await file('src/limits.ts', { offset: 6 })).toMatchObject({ text: 'é'.repeat(8) });
    expect(await file('src/limits.ts', { side: 'before' })).toMatchObject({ bytes: 20 });
    expect(await file('src/limits.ts', {}, workspace({ level: 'changes' }))).toEqual({
      code: 'NOT_SUPPORTED_BY_DEVICE',
    });
  });
});
