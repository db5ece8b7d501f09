/** Promise: a hanging start is a reported failure, not a success. */
import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';

const program = (start: string) => `
import { runService } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
runService(${start}, { isForPeople: () => false });
`;
const run = (start: string) =>
  new Promise<{ code: number | null; said: string }>((resolve) => {
    const args = ['--input-type=module', '--eval', program(start)];
    const child = execFile(process.execPath, args, (_, __, said) => resolve({ code: child.exitCode, said }));
  });

describe('runService', () => {
  it('exits with 1 and a sentence when the start waits forever', async () => {
    const { code, said } = await run('() => new Promise(() => undefined)');
    expect(said).toContain('The start is stuck');
    expect(code).toBe(1);
  });

  it('logs no such failure once the service has started', async () => {
    expect(await run("async () => ({ welcome: ['is ready'], stop: async () => undefined })")).toEqual({
      code: 0,
      said: 'is ready\n',
    });
  });
});
