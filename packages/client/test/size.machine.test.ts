import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const program = join(import.meta.dirname, 'programs/size.mjs');
const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

describe('the client in a browser bundle', () => {
  it('is as small as its page claims, contains no code of Node, and omits unused code', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    const { all, request } = JSON.parse(stdout) as Record<'all' | 'request', { bytes: number; gzip: number }>;
    const said = Number(/\*\*Size\*\*: ([\d.]+) kB/.exec(readme)?.[1]) * 1000;
    expect(all.gzip).toBeLessThan(10_000);
    expect(Math.abs(all.gzip - said)).toBeLessThan(1000);
    expect(request.gzip).toBeLessThan(all.gzip / 2);
  });
});
