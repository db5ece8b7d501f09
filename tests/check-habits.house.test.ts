/** The ratchet for the language, in a repository of its own: a planted sentence fails, and no ceiling rises. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Ceilings, measure, raised, roomOf } from '../scripts/check-habits.mjs';

const script = fileURLToPath(new URL('../scripts/check-habits.mjs', import.meta.url));
const plain = '/** Returns the session. */\n// The gateway closes the socket of the older connection.\n';
const dialect = '// The daemon tells what was said.\n';
const habit = '1 said/told/say/words/heard';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'habits-'));
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.email', 'a@example.com');
  git('config', 'user.name', 'a');
  mkdirSync(join(root, 'scripts'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function git(...args: string[]) {
  const { status, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}
function write(path: string, text: string) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
function commit() {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'api: add text');
}
function check(...options: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [script, '--root', root, ...options], { encoding: 'utf8' });
  return { status, stdout };
}
const ceilings = () => JSON.parse(readFileSync(join(root, 'scripts/habits.json'), 'utf8')) as Ceilings;

/** Commits the text on main, in a repository with ceilings. */
function land(text: string) {
  write('apps/api/src/a.ts', text);
  expect(check('--write-initial')).toMatchObject({ status: 0 });
  commit();
  git('update-ref', 'refs/remotes/origin/main', 'HEAD');
}

describe('the ratchet', () => {
  it('fails on a planted sentence, and names room, habit, rate, ceiling and line', () => {
    land(plain);
    write('apps/api/src/b.ts', `const a = 1;\n${dialect}`);
    const { status, stdout } = check();
    expect(status).toBe(1);
    expect(stdout).toContain(`apps/api: "${habit}" is at 111.12 per 1,000 words (2 times), its ceiling is 0 (0)\n`);
    expect(stdout).toContain('lines of this change:\n    apps/api/src/b.ts:2  The daemon tells what was said.\n');
    commit();
    expect(check()).toMatchObject({ status: 1, stdout });
  });

  it('accepts text without habits, and a deleted comment in a small room', () => {
    land(plain + dialect);
    write('apps/api/src/a.ts', `${plain}// It retries.\n${dialect}`);
    expect(check()).toMatchObject({ status: 0 });
    write('apps/api/src/a.ts', dialect);
    expect(check()).toMatchObject({ status: 0 });
  });

  it('fails when a change writes higher ceilings or removes some', () => {
    land(plain);
    const before = readFileSync(join(root, 'scripts/habits.json'), 'utf8');
    write('scripts/habits.json', before.replaceAll('"rate": 0, "count": 0', '"rate": 900, "count": 900'));
    commit();
    expect(check()).toMatchObject({
      status: 1,
      stdout: expect.stringContaining(`"${habit}" was 0 (0), now 900 (900)`),
    });
    write('scripts/habits.json', '{ "initial": "later", "rooms": {} }');
    expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('has no ceiling now') });
    expect(check('--write-initial')).toMatchObject({ status: 1, stdout: expect.stringContaining('on main already') });
  });

  it('fails on main when the last commit raised a ceiling', () => {
    land(plain);
    const before = readFileSync(join(root, 'scripts/habits.json'), 'utf8');
    write('scripts/habits.json', before.replace('"rate": 0, "count": 0', '"rate": 9, "count": 9'));
    commit();
    git('update-ref', 'refs/remotes/origin/main', 'HEAD');
    expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining(`"${habit}" was 0 (0), now 9 (9)`) });
  });

  it('lowers ceilings with --lower and raises none', () => {
    land(plain + dialect);
    write('apps/api/src/a.ts', `${plain}// Each lease may expire.\n`);
    expect(check('--lower')).toMatchObject({ status: 1 });
    expect(ceilings().rooms['apps/api']).toMatchObject({
      [habit]: { rate: 0, count: 0 },
      '8 may': { rate: 0, count: 0 },
    });
  });
});

describe('a room', () => {
  it('is an app, a package or a folder; its tests and documents are rooms of their own', () => {
    const paths = ['apps/api/src/a.ts', 'apps/api/test/a.test.ts', 'apps/api/README.md', 'docs/adr/1.md', 'README.md'];
    const rooms = ['apps/api', 'apps/api tests', 'apps/api documents', 'docs/adr documents', 'top documents'];
    expect(paths.map(roomOf)).toEqual(rooms);
    expect(['tests/a.test.ts', 'k8s/base/a.yaml', 'scripts/a.mjs'].map(roomOf)).toEqual(['tests', 'k8s', 'scripts']);
    expect(roomOf('docs/interface-specification.md')).toBeUndefined();
  });

  it('starts at the goals', () => {
    const now = (rate: number): Ceilings => ({ initial: '', rooms: { new: { [habit]: { rate, count: 1 } } } });
    expect(raised({ initial: '', rooms: {} }, now(0.8))).toEqual([]);
    expect(raised({ initial: '', rooms: {} }, now(0.9))).toHaveLength(1);
  });
});

describe('the text of a file', () => {
  const lines = (path: string, text: string) => measure(path, text).lines[habit]!.map(({ number }) => number);

  it('has comments, test titles, and prose of Markdown without code and tables', () => {
    expect(
      lines('a.ts', "const told = 1; // The wire said so.\nsay('said');\n/** Tells. */\n/**\n * Told.\n */"),
    ).toEqual([1, 3, 5]);
    expect(lines('tests/a.test.ts', "it('tells all', () => {});\n  ])('says %s', () => {});\nsay('said');")).toEqual([
      1, 2,
    ]);
    expect(lines('a.md', 'It said.\n```sh\nsay\n```\n| told |\n> told')).toEqual([1, 6]);
    expect(lines('a.yaml', 'said: told\n# It tells.')).toEqual([2]);
  });
});
