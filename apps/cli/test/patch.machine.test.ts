/** `relay diff --patch`, applied by git. */
import { afterEach, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patchOf } from '@relay/protocol/plain';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

it('git applies the patch: edited lines in two hunks that were one, a new file, a deleted one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patch-'));
  folders.push(folder);
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nthree\nfour');
  writeFileSync(join(folder, 'gone.txt'), 'x\n');
  const change = (path: string, what: string) => ({ path, change: what });
  const patch = [
    patchOf({
      path: 'a.txt',
      change: change('a.txt', 'edit'),
      hunks: [
        { old: 1, new: 1, lines: [' one', '-two', '+2'] },
        { old: 3, new: 3, lines: [' three', '-four', '\\ No newline at end of file', '+four'] },
      ],
    }),
    patchOf({ path: 'new.txt', change: change('new.txt', 'add'), hunks: [{ old: 0, new: 1, lines: ['+a', '+b'] }] }),
    patchOf({ path: 'gone.txt', change: change('gone.txt', 'delete'), hunks: [{ old: 1, new: 0, lines: ['-x'] }] }),
  ].join('');
  const run = (args: string[]) => execFileSync('git', args, { cwd: folder, input: patch }).toString();
  run(['apply', '--check', '-']);
  run(['apply', '-']);
  expect(execFileSync('cat', ['a.txt', 'new.txt'], { cwd: folder }).toString()).toBe('one\n2\nthree\nfour\na\nb\n');
});
