import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { runProgram } from './program.ts';

describe('the program', () => {
  it('is executable, has help for every command, and prints its version', async () => {
    const main = new URL('../dist/main.js', import.meta.url).pathname;
    const child = spawn(main, ['--version']);
    const [version] = (await once(child.stdout, 'data')) as [Buffer];
    expect(version.toString().trim()).toMatch(/^\d+\.\d+\.\d+$/);
    for (const command of ['register', 'run', 'status', 'unregister']) {
      const { code: exitCode, out } = await runProgram([command, '--help']);
      expect(exitCode).toBe(0);
      expect(out).toContain('--json');
    }
  });
});
