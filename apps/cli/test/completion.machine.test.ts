import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDesk } from './desk.ts';

const desk = createDesk();

/** The completions that bash offers for an unfinished command line. */
function offered(script: string, ...words: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'relay-completion-'));
  try {
    writeFileSync(join(folder, 'relay.bash'), script);
    const list = words.map((word) => `'${word}'`).join(' ');
    const program = `source ${folder}/relay.bash; COMP_WORDS=(relay ${list}); COMP_CWORD=${words.length}; _relay; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync('bash', ['--norc', '-c', program], { encoding: 'utf8', cwd: folder });
    return out.split('\n').filter((line) => line !== '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('relay completion', () => {
  it('completes commands and options in bash', async () => {
    const { out, code } = await desk.open().run(['completion', 'bash']);
    expect(code).toBe(0);
    expect(offered(out, 'mess')).toEqual(['messages']);
    expect(offered(out, 'answer', '--q')).toEqual(['--question']);
    expect(offered(out, 'devices', 're')).toEqual(['rename', 'remove', 'revoke-key']);
    expect(offered(out, 'devices', 'remove', '--y')).toEqual(['--yes']);
    expect(offered(out, 'account', 'export', '--out', 'rel')).toEqual(['relay.bash']);
    expect(offered(out, 'send', 'devices', '--w')).toEqual(['--watch', '--without-asking']);
    await desk.clear();
  });

  it('has a script for zsh and fish, and lists the supported shells', async () => {
    const own = desk.open();
    expect((await own.run(['completion', 'zsh'])).out).toMatch(/^#compdef relay\n[\s\S]*'messages:print the messages/);
    expect((await own.run(['completion', 'fish'])).out).toContain("-a messages -d 'print the messages");
    expect(await own.run(['completion', 'ksh'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('bash, zsh, fish'),
    });
    await desk.clear();
  });
});
