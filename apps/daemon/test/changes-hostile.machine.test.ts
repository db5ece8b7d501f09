/**
 * Hostile repositories and files: no code of theirs runs, the daemon writes nothing, and reads nothing outside (rules,
 * 25.2 to 25.4).
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'; // prettier-ignore
import { join } from 'node:path';
import { type ChangesScene, changesScene } from './changes-scene.ts';
import { piece, withFile } from '../src/changes/safe-files.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());

describe('a hostile repository', () => {
  let scene: ChangesScene;
  let markers: string;
  beforeEach(() => {
    scene = changesScene(folders);
    markers = join(scene.base, 'markers');
    mkdirSync(markers);
    scene.begin();
    for (const name of ['f.txt', 'g.txt']) scene.write(name, 'one\n');
    scene.commit();
  });
  const program = (name: string) => {
    const path = join(scene.base, `${name}.sh`);
    writeFileSync(path, `#!/bin/sh\necho ran > ${join(markers, name)}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const everything = async () => {
    const { list, diff, file, ask } = scene;
    const answers = [];
    for (const scope of ['uncommitted', 'session', 'turn', 'edits'] as const) answers.push(await list(scope));
    answers.push(
      await diff('f.txt'),
      await diff('new.txt'),
      await file('f.txt'),
      await file('f.txt', { side: 'before' }),
    );
    answers.push(
      await ask('get_files', {}),
      await ask('get_files', { find: 'f' }),
      await ask('get_files', { path: 'nested' }),
    );
    await scene.workspace().mark(scene.session, 'turn');
    return answers;
  };

  it('runs no code: filters, drivers, hooks, fsmonitor, pager and transports of its configuration', async () => {
    const { git, write, top } = scene;
    const settings: [string, string][] = [
      ['core.fsmonitor', program('fsmonitor')],
      ['core.pager', program('pager')],
      ['pager.diff', program('pager-diff')],
      ['core.sshCommand', program('ssh')],
      ['core.editor', program('editor')],
      ['core.askPass', program('askpass')],
      ['core.gitProxy', program('proxy')],
      ['core.hooksPath', join(scene.base, 'hooks')],
      ['diff.external', program('external')],
      ['diff.evil.command', program('command')],
      ['diff.evil.textconv', program('textconv')],
      ['filter.evil.clean', program('clean')],
      ['filter.evil.smudge', program('smudge')],
      ['filter.other.process', program('process')],
      ['filter.other.required', 'true'],
      ['credential.helper', program('credential')],
      ['gpg.program', program('gpg')],
      ['log.showSignature', 'true'],
      ['interactive.diffFilter', program('filter')],
      ['protocol.ext.allow', 'always'],
      ['remote.origin.url', `ext::${program('transport')}`],
      ['remote.origin.promisor', 'true'],
      ['extensions.partialClone', 'origin'],
    ];
    mkdirSync(join(scene.base, 'hooks'));
    for (const hook of ['post-index-change', 'reference-transaction', 'fsmonitor-watchman'])
      renameSync(program(hook), join(scene.base, 'hooks', hook));
    write('.gitattributes', '*.txt diff=evil filter=evil\ng.txt filter=other\n');
    git(['add', '.gitattributes']);
    git(['commit', '-q', '-m', 'attributes']);
    for (const [name, value] of settings) git(['config', name, value]);
    write('f.txt', 'two\n');
    write('g.txt', 'two\n');
    write('new.txt', 'new\n');
    // A missing object: a partial clone would fetch it.
    const id = git(['rev-parse', 'HEAD:README.md']).trim();
    rmSync(join(top, '.git/objects', id.slice(0, 2), id.slice(2)));
    write('README.md', 'changed\n');
    for (const name of readdirSync(markers)) rmSync(join(markers, name));
    const index = statSync(join(top, '.git/index')).mtimeMs;
    const answers = await everything();
    expect(answers[0]!.files.map(({ path }: { path: string }) => path)).toEqual(
      expect.arrayContaining(['f.txt', 'g.txt', 'new.txt']),
    );
    expect(answers[4]!.hunks[0]!.lines).toEqual(['-one', '+two']);
    expect(await scene.diff('README.md')).toMatchObject({ hunks: [], change: { hidden: 'missing' } });
    expect(await scene.file('README.md', { side: 'before' })).toEqual({ code: 'FILE_NOT_FOUND' });
    expect(readdirSync(markers)).toEqual([]);
    expect(statSync(join(top, '.git/index')).mtimeMs).toBe(index);
    // The markers do work.
    const env = { PATH: process.env.PATH, HOME: scene.base };
    spawnSync('git', ['diff', '--', 'f.txt'], { cwd: top, env, stdio: 'ignore' });
    expect(readdirSync(markers).length).toBeGreaterThan(0);
  });

  it('S9: shows nothing of a closed folder inside of the repository, also after it is gone', async () => {
    const { ask, diff, file, git, list, top, write } = scene;
    const rules = { defaultPath: top, allowed: [scene.allowed], closed: [join(top, 'closed')] };
    const of = scene.workspace({ rules });
    for (const name of ['edited', 'moved']) write(`closed/deep/${name}.txt`, `${'closed lines\n'.repeat(20)}${name}\n`);
    write('open.txt', 'open\n');
    scene.commit();
    write('closed/deep/edited.txt', 'closed and edited\n');
    write('closed/new.txt', 'closed and new\n');
    git(['mv', 'closed/deep/moved.txt', 'moved.txt']);
    write('open.txt', 'opened\n');
    const look = async () => [
      (await list('uncommitted', of)).files.map(({ path }) => path),
      (await ask('get_files', { find: 'closed' }, of)).entries,
      await diff('closed/deep/edited.txt', 'uncommitted', of),
      await diff('closed/new.txt', 'uncommitted', of),
      await diff('moved.txt', 'uncommitted', of),
      await file('closed/deep/edited.txt', { side: 'before' }, of),
      await file('closed/deep/edited.txt', {}, of),
    ];
    const none = { code: 'FILE_NOT_FOUND' };
    expect(await look()).toEqual([['open.txt'], [], none, none, none, none, none]);
    rmSync(join(top, 'closed'), { recursive: true });
    expect(await look()).toEqual([['open.txt'], [], none, none, none, none, none]);
  });

  it.each<[string, (text: string, top: string) => void]>([
    ['in capital letters', (text, top) => appendFileSync(join(top, '.git/config'), text.replace('filter', 'FilTer'))],
    [
      'in one word with its section',
      (text, top) => appendFileSync(join(top, '.git/config'), text.replace(' "evil"', '.evil')),
    ],
    [
      'in an included file',
      (text, top) => {
        writeFileSync(join(top, '.git/more'), text);
        appendFileSync(join(top, '.git/config'), '[INCLUDE]\n\tpath = more\n');
      },
    ],
    [
      'in the configuration of one working tree',
      (text, top) => {
        appendFileSync(join(top, '.git/config'), '[extensions]\n\tworktreeConfig = true\n');
        writeFileSync(join(top, '.git/config.worktree'), text);
      },
    ],
  ])('runs no filter that is %s', async (_place, configure) => {
    const { git, write, top } = scene;
    write('.gitattributes', '*.txt filter=evil\n');
    git(['add', '.gitattributes']);
    git(['commit', '-q', '-m', 'attributes']);
    configure(`[filter "evil"]\n\tclean = ${program('clean')}\n`, top);
    write('f.txt', 'two\n');
    expect((await scene.list()).files.map(({ path }) => path)).toEqual(['f.txt']);
    expect(readdirSync(markers)).toEqual([]);
    // The filter does work.
    spawnSync('git', ['diff', '--', 'f.txt'], { cwd: top, env: { PATH: process.env.PATH, HOME: scene.base } });
    expect(readdirSync(markers)).toEqual(['clean']);
  });

  it("is refused if a filter's name would prevent its override", async () => {
    scene.git(['config', 'filter.a=b.clean', program('clean')]);
    scene.write('.gitattributes', '*.txt filter=a=b\n');
    scene.write('f.txt', 'two\n');
    expect(await scene.list()).toMatchObject({ note: 'outside', scope: 'edits' });
    expect(readdirSync(markers)).toEqual([]);
  });

  it.each([
    ['a working tree elsewhere', ({ git }: ChangesScene) => git(['config', 'core.worktree', '/'])],
    [
      'a git folder elsewhere',
      ({ top, outside, git }: ChangesScene) => {
        git(['init', '-q'], outside);
        rmSync(join(top, '.git'), { recursive: true });
        writeFileSync(join(top, '.git'), `gitdir: ${join(outside, '.git')}\n`);
      },
    ],
    [
      'objects borrowed from elsewhere',
      ({ top, outside, git }: ChangesScene) => {
        git(['init', '-q'], outside);
        writeFileSync(join(top, '.git/objects/info/alternates'), `${join(outside, '.git/objects')}\n`);
      },
    ],
    [
      'a pack that is a link to elsewhere',
      ({ top, outside }: ChangesScene) => {
        writeFileSync(join(outside, 'x.pack'), '');
        symlinkSync(join(outside, 'x.pack'), join(top, '.git/objects/pack/x.pack'));
      },
    ],
    [
      'an index that is a link to elsewhere',
      ({ top, outside }: ChangesScene) => {
        renameSync(join(top, '.git/index'), join(outside, 'index'));
        symlinkSync(join(outside, 'index'), join(top, '.git/index'));
      },
    ],
  ])('with %s is not a repository here', async (_, prepare) => {
    scene.write('secret.txt', 'outside words\n', scene.outside);
    prepare(scene);
    const answers = await everything();
    expect(answers[0]).toMatchObject({ scope: 'edits', scopes: ['edits'] });
    expect(JSON.stringify(answers)).not.toContain('secret.txt');
    expect(JSON.stringify(answers)).not.toContain('outside words');
  });

  it('does not run code through a nested bare repository', async () => {
    scene.git(['init', '-q', '--bare', join(scene.top, 'bare')]);
    const inside = { ...scene.session, projectPath: join(scene.top, 'bare') };
    scene.git(['config', '--file', join(scene.top, 'bare/config'), 'core.fsmonitor', program('bare')]);
    await scene.list('uncommitted', undefined, inside);
    expect(readdirSync(markers)).toEqual([]);
  });
});

describe('files outside', () => {
  let scene: ChangesScene;
  beforeEach(() => {
    scene = changesScene(folders);
    scene.begin();
    scene.write('secret.txt', 'outside words\n', scene.outside);
  });

  it('return the same 404 as missing files: links, paths that lead up, closed folders', async () => {
    const { top, outside, write, file, ask, diff, allowed } = scene;
    symlinkSync(join(outside, 'secret.txt'), join(top, 'link.txt'));
    symlinkSync(outside, join(top, 'folder'));
    write('closed/key.txt', 'closed words\n', allowed);
    const missing = { code: 'FILE_NOT_FOUND' };
    for (const path of [
      'link.txt',
      'folder/secret.txt',
      '../outside/secret.txt',
      join(outside, 'secret.txt'),
      'nothing',
      '.git/config',
      '.GIT/config',
      'a\0b',
      '',
    ])
      expect([path, await file(path)]).toEqual([path, missing]);
    for (const path of ['folder', '..', '/etc', '.git']) expect(await ask('get_files', { path })).toEqual(missing);
    expect((await diff('link.txt')).hunks).toEqual([]);
    scene.commit();
    rmSync(join(top, 'link.txt'));
    symlinkSync('/etc/hostname', join(top, 'link.txt'));
    expect(await diff('link.txt')).toMatchObject({ hunks: [], change: { hidden: 'outside' } });
    const wide = { ...scene.session, projectPath: allowed };
    expect(await ask('get_file', { path: 'closed/key.txt', offset: 0, limit: 100 }, undefined, wide)).toEqual(missing);
    expect(JSON.stringify(await ask('get_files', {}, undefined, wide))).not.toContain('closed');
  });

  it('are never read through a folder that is replaced by a link at the same time', async () => {
    const { top, outside, write, file, allowed } = scene;
    write('place/secret.txt', 'inside words\n');
    const [place, aside] = [join(top, 'place'), join(allowed, 'aside')];
    const script = `const fs = require('fs'); const [place, aside, outside] = process.argv.slice(1);
      const rest = new Int32Array(new SharedArrayBuffer(4));
      process.stdout.write('on');
      for (;;) {
        fs.renameSync(place, aside); fs.symlinkSync(outside, place); fs.unlinkSync(place); fs.renameSync(aside, place);
        Atomics.wait(rest, 0, 0, 2 * Math.random()); // Some reads fit between two exchanges, also on a busy host.
      }`;
    const swapping = spawn(process.execPath, ['-e', script, place, aside, outside], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const gone = new Promise((resolve) => swapping.once('exit', resolve));
    await new Promise((resolve) => swapping.stdout.once('data', resolve));
    const seen = new Set<string>();
    const of = scene.workspace();
    const rules = { defaultPath: allowed, allowed: [allowed] };
    for (let n = 0; n < 1000; n++)
      seen.add(
        String(
          await withFile(top, 'place/secret.txt', rules, async ({ handle }) => (await piece(handle, 0, 20)).toString()),
        ),
      );
    await file('place/secret.txt', {}, of);
    swapping.kill();
    // Its last rename can fall into the removal of the folders.
    await gone;
    expect([...seen].filter((text) => text.includes('outside'))).toEqual([]);
    expect(seen).toContain('inside words\n');
  });
});

describe('secrets', () => {
  it('are listed, and every request and scope refuses their content', async () => {
    const scene = changesScene(folders);
    const { write, begin, commit, git, list, diff, file, workspace, session, ask } = scene;
    const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n';
    begin();
    write('id_rsa', 'x\ny\nz\n');
    write('config/.ENV.Staging', 'TOKEN=1\n');
    write('notes.txt', `${key}\nmore\n\n\n\n\n\n\n\nlast\n`);
    commit();
    const of = workspace();
    await of.mark(session, 'turn');
    git(['mv', 'id_rsa', 'a.txt']);
    write('config/.ENV.Staging', 'TOKEN=2\n');
    write('.env', 'TOKEN=3\n');
    write('.env.example', 'TOKEN=\n');
    // The change is far from the key.
    write('notes.txt', `${key}\nmore\n\n\n\n\n\n\n\nchanged\n`);
    for (const scope of ['uncommitted', 'session', 'turn'] as const) {
      const answer = await list(scope, of);
      const hidden = answer.files.filter(({ hidden }: { hidden?: string }) => hidden === 'secret');
      expect(
        hidden.map(({ path, change, added }: { path: string; change: string; added?: number }) => [
          path,
          change,
          added,
        ]),
      ).toEqual([
        ['a.txt', 'move', undefined],
        ['config/.ENV.Staging', 'edit', undefined],
        ['.env', 'add', undefined],
      ]);
      for (const path of ['a.txt', 'config/.ENV.Staging', '.env', 'notes.txt']) {
        expect([path, await diff(path, scope, of)]).toEqual([path, { code: 'FILE_HIDDEN' }]);
        if (path !== 'a.txt') expect([path, await file(path, { scope }, of)]).toEqual([path, { code: 'FILE_HIDDEN' }]);
        if (path !== '.env')
          expect([path, await file(path, { side: 'before', scope }, of)]).toEqual([path, { code: 'FILE_HIDDEN' }]);
      }
    }
    expect((await diff('.env.example')).hunks).toHaveLength(1);
    expect((await ask('get_files', {})).entries).toContainEqual({
      name: '.env',
      path: '.env',
      kind: 'file',
      bytes: 8,
      changed: true,
      hidden: 'secret',
    });
    expect(await file('.env.missing')).toEqual({ code: 'FILE_NOT_FOUND' });
    const changed = workspace({ hide: ['*.md'], show: ['.env'] });
    expect((await diff('.env', 'uncommitted', changed)).hunks).toHaveLength(1);
    expect(await file('README.md', {}, changed)).toEqual({ code: 'FILE_HIDDEN' });
  });
});

it('git starts without configuration, variables and standard input of the daemon', async () => {
  const scene = changesScene(folders);
  scene.begin();
  const seen = join(scene.base, 'seen');
  const fake = join(scene.base, 'bin');
  mkdirSync(fake);
  const real = execFileSync('which', ['git']).toString().trim();
  writeFileSync(join(fake, 'git'), `#!/bin/sh\nenv >> ${seen}\nexec ${real} "$@"\n`);
  chmodSync(join(fake, 'git'), 0o755);
  const env = { PATH: `${fake}:${process.env.PATH}`, HOME: scene.base, GIT_DIR: '/elsewhere', RELAY_SECRET: 'hidden' };
  scene.write('f.txt', 'x\n');
  expect((await scene.list('uncommitted', scene.workspace({ env }))).files).toHaveLength(1);
  expect(existsSync(seen)).toBe(true);
  expect(readFileSync(seen, 'utf8')).not.toMatch(/RELAY_SECRET|elsewhere/);
});
