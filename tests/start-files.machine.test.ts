/** Promise: a start loads one bundle, and no other module. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const root = new URL('../', import.meta.url);
/** Optional native modules of `ws`. */
const native = /^node_modules\/(bufferutil|utf-8-validate|node-gyp-build)\//;

describe('a program', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-start-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** The files that Node loaded until the program exited. */
  async function loaded(main: string, args: string[]): Promise<string[]> {
    const coverage = join(folder, main.replaceAll('/', '-'));
    await new Promise((resolve) =>
      execFile(
        process.execPath,
        [fileURLToPath(new URL(main, root)), ...args],
        { env: { NODE_V8_COVERAGE: coverage } },
        resolve,
      ),
    );
    const [report = ''] = await readdir(coverage);
    const { result } = JSON.parse(await readFile(join(coverage, report), 'utf8')) as { result: { url: string }[] };
    const files = result.filter(({ url }) => url.startsWith('file:')).map(({ url }) => fileURLToPath(url));
    return files.map((path) => path.replace(fileURLToPath(root), '')).filter((path) => !native.test(path));
  }

  // The first two exit for lack of configuration, after they have loaded all modules.
  it.each([
    ['api', []],
    ['gateway', []],
    ['standalone', ['--version']],
  ])('of the role %s is loaded from one file', async (role, args) => {
    const files = await loaded(`apps/${role}/dist/main.js`, args);
    expect(files.sort()).toEqual([
      // The bundle for `relay-admin`.
      ...(role === 'standalone' ? ['apps/standalone/dist/bundle.js'] : []),
      `apps/${role}/dist/main.js`,
      `apps/${role}/dist/program.cjs`,
      'packages/service/dist/start-bundle.js',
    ]);
  });
});
