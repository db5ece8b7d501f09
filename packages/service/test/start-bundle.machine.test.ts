/** Promise: a start runs the bundle of this build, never older code, and compiles it only once. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const loader = new URL('../dist/start-bundle.js', import.meta.url).href;

describe('startBundle', () => {
  let folder: string;
  const bundle = () => join(folder, 'program.cjs');
  const compiled = () => `${bundle()}.compiled`;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-bundle-'));
    await writeFile(bundle(), `console.log('one', require('node:path').basename(__filename), process.argv.slice(1));`);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function start(): Promise<string> {
    const script = `import { startBundle } from '${loader}'; startBundle(new URL('${pathToFileURL(bundle()).href}'));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script, 'word']);
    return stdout.trim();
  }

  it('runs a CommonJS module with its name and its arguments', async () => {
    expect(await start()).toBe(`one program.cjs [ 'word' ]`);
  });

  it('uses the code of an earlier start', async () => {
    await start();
    const { ino } = await stat(compiled());
    await start();
    expect((await stat(compiled())).ino).toBe(ino);
  });

  it('compiles again when the bundle changed, even if it is as long as before', async () => {
    await start();
    const before = await readFile(compiled());
    await writeFile(bundle(), (await readFile(bundle(), 'utf8')).replace('one', 'two'));
    expect(await start()).toBe(`two program.cjs [ 'word' ]`);
    expect(await readFile(compiled())).not.toEqual(before);
  });

  it('compiles again when the kept code is incomplete', async () => {
    await start();
    const { size } = await stat(compiled());
    await truncate(compiled(), size - 100);
    expect(await start()).toBe(`one program.cjs [ 'word' ]`);
    expect((await stat(compiled())).size).toBe(size);
  });
});
