import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDesk } from './desk.ts';

const bundle = new URL('../dist/bundle.js', import.meta.url).pathname;
const desk = createDesk();
afterEach(() => desk.clear());

const commands = [
  ...[
    'login',
    'logout',
    'whoami',
    'devices',
    'sessions',
    'new',
    'send',
    'answer',
    'settings',
    'summary',
    'release',
    'desk',
    'attach',
    'cancel',
    'queue',
    'later',
    'schedule',
    'read',
    'unread',
    'pin',
    'unpin',
    'tidy',
    'folders',
    'notify',
    'tail',
    'watch',
    'unwatch',
  ].map((name) => [name]),
  ...['show', 'rename', 'remove'].map((name) => ['devices', name]),
  ...['add', 'test', 'pause', 'resume', 'remove'].map((name) => ['notify', name]),
];

describe('the program', () => {
  it('is executable and prints its version', async () => {
    const child = spawn(bundle, ['--version']);
    const [version] = (await once(child.stdout, 'data')) as [Buffer];
    expect(version.toString().trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('explains its exit codes', async () => {
    const { code, out } = await desk.open().run(['--help']);
    expect(code).toBe(0);
    for (const exitCode of [0, 1, 2, 3, 4, 5, 75, 130]) expect(out).toMatch(new RegExp(`\\b${exitCode} [a-z]`));
  });

  it('has help with examples for every command', async () => {
    const wrong = [];
    for (const words of commands) {
      const name = words.join(' ');
      const { code, out, err } = await desk.open().run([...words, '--help']);
      const isWhole = out.includes('--json') && out.includes(`Examples:\n  relay ${name}`);
      if (code !== 0 || err !== '' || !isWhole) wrong.push({ name, code, out, err });
    }
    expect(wrong).toEqual([]);
  }, 240_000);

  it.each([
    ['bogus'],
    ['send'],
    ['devices', 'show'],
    ['sessions', '--odd'],
    ['logout', 'too', 'many'],
    ['queue', 'line', 'sort'],
    ['queue', 'line', 'edit'],
    ['queue', 'line', 'move', 'task'],
    ['queue', 'line', 'move', 'task', '--before', 'a', '--after', 'b'],
    ['queue', 'line', 'remove', 'task', 'text'],
    ['cancel', 'line', '--all', '--running'],
    ['tidy', 'shred', '--archived'],
    ['tidy', 'delete'],
    ['tidy', 'archive', '--archived'],
    ['tidy', 'delete', '--before', 'soon'],
    [],
  ])('exits with 2 for wrong usage: %s %s', async (...words) => {
    const typed = words.filter((word) => typeof word === 'string');
    const result = await desk.open().run(typed);
    expect(result).toMatchObject({ code: 2, out: '' });
    expect(result.err).not.toBe('');
  });

  it('reports wrong usage as JSON with --json', async () => {
    expect(await desk.open().json(['send'])).toMatchObject({
      exit: 2,
      code: 'BAD_USAGE',
      error: expect.stringContaining('session'),
    });
  });

  it.each([
    [[], /^The output cannot be written: EBADF.*\[OUTPUT\]\n$/],
    [['--json'], /^\{"error":"The output cannot be written: EBADF.*","code":"OUTPUT"\}\n$/],
  ])('exits with 1 and an error if it cannot write its output %j', async (more, said) => {
    const file = join(desk.makeFolder(), 'readable');
    writeFileSync(file, '');
    const child = spawn(bundle, ['--help', ...more], { stdio: ['ignore', openSync(file, 'r'), 'pipe'] });
    let err = '';
    child.stderr!.on('data', (chunk: Buffer) => (err += chunk.toString()));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(err).toMatch(said);
  });

  it('exits quietly when its reader closes the pipe', async () => {
    const program = desk.open().start(['--help']);
    program.child.stdout.destroy();
    expect(await program.exit).toMatchObject({ code: 0, err: '' });
  });

  it('exits with 3 without a sign-in, and sends no request', async () => {
    for (const words of [
      ['whoami'],
      ['devices'],
      ['sessions'],
      ['tail', 'x'],
      ['watch'],
      ['send', 'x', 'y'],
      ['logout'],
    ])
      expect(await desk.open().json(words)).toMatchObject({ exit: 3, code: 'NOT_SIGNED_IN' });
    expect(await desk.open().run(['whoami', '--all'])).toMatchObject({ code: 3 });
  });
});
