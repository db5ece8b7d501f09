/** The check of commit subjects: a planted subject fails, and subjects from before the ratchet do not count. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { roomsOf, subjectProblems } from '../scripts/check-subjects.mjs';

const script = fileURLToPath(new URL('../scripts/check-subjects.mjs', import.meta.url));
const rooms = roomsOf([
  'apps/api/src/a.ts',
  'apps/gateway/package.json',
  'packages/daemon-kit/a.ts',
  'tests/a.ts',
  '.ci/run',
]);

describe('a subject', () => {
  it.each([
    'gateway: close the older connection of a device',
    'api: log redirects at info level',
    'daemon-kit, tests: keep updates outside a turn',
    'api: return the user that a ticket was issued to',
    'tests: wait until a crowd has noticed that its gateway died',
    'ci: build with Node 24',
    "Merge branch 'ratchet'",
    'Revert "the older connection is now closed"',
  ])('passes: %s', (subject) => expect(subjectProblems(subject, rooms)).toEqual([]));

  it.each([
    ['api: the older connection is now closed', 'begins with "the"'],
    ['api: older messages can be loaded', 'begins with "older"'],
    ['api: adds a route', 'begins with "adds"'],
    ['api: added a route', 'begins with "added"'],
    ['api: adding a route', 'begins with "adding"'],
    ['api: Add a route', 'begins with "Add"'],
    ['api: close code 1008 is in the table', 'begins with the noun "close"'],
    ['api: answers are sent at once', 'begins with "answers"'],
    ['api: to be sent on is no refusal and no warning', 'begins with "to"'],
    ['api: format', 'has no object'],
    ['api: close the socket.', 'ends in a full stop'],
    ['plain words', 'has no scope'],
    ['nowhere: close the socket', 'has the scope "nowhere"'],
    [`api: close ${'the socket '.repeat(7).trim()}`, 'is 87 characters long'],
  ])('fails: %s', (subject, problem) => {
    expect(subjectProblems(subject, rooms)).toEqual([expect.stringContaining(problem)]);
  });
});

describe('the commits of a repository', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'subjects-'));
    git('init', '--quiet', '--initial-branch=main');
    mkdirSync(join(root, 'scripts'));
    commit('nothing here has a form');
    writeFileSync(join(root, 'scripts/habits.json'), '{}');
    commit('scripts: add the ceilings');
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function git(...args: string[]) {
    const user = ['-c', 'user.email=a@example.com', '-c', 'user.name=a'];
    const { status, stderr } = spawnSync('git', [...user, ...args], { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }
  function commit(subject: string) {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', subject);
  }
  function check(folder = root) {
    const { status, stdout } = spawnSync(process.execPath, [script, '--root', folder], { encoding: 'utf8' });
    return { status, stdout };
  }

  it('fail for a planted subject after the ceilings, not for an earlier one', () => {
    commit('scripts: count lines');
    expect(check()).toEqual({ status: 0, stdout: '0 of 1 subjects\n' });
    commit('scripts: lines are counted');
    expect(check()).toMatchObject({ status: 1, stdout: expect.stringContaining('begins with "lines"') });
  });

  it('count after a merge, but not on a branch from before the ceilings', () => {
    git('checkout', '--quiet', '-b', 'old', 'HEAD^');
    commit('old words');
    git('checkout', '--quiet', 'main');
    git('merge', '--quiet', '--no-ff', '--message', 'bring it together', 'old');
    expect(check()).toEqual({ status: 0, stdout: '0 of 0 subjects\n' });
    commit('lines are counted');
    expect(check()).toMatchObject({ status: 1 });
  });

  it('pass in a shallow clone, which has few of them', () => {
    commit('lines are counted');
    const clone = join(root, 'clone');
    git('clone', '--quiet', '--depth', '1', pathToFileURL(root).href, clone);
    expect(check(clone)).toEqual({ status: 0, stdout: '0 of 0 subjects (a shallow clone has few of them)\n' });
  });
});
