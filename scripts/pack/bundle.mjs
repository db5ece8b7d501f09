// Bundles one program into one file, with all its imports: it then starts in a third of the time. `node bundle.mjs
// <module> <file>`; a second pair bundles a second file. A file `.cjs` is a CommonJS module, any other an ES module.
import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'rolldown';

/** Optional native code: `ws` uses the first two, `pg` the last. */
export const absent = ['bufferutil', 'utf-8-validate', 'pg-native'];
/** PostgreSQL in WebAssembly finds its files next to its code. */
const beside = /^@electric-sql\/pglite/;

/**
 * Resolves with the paths of all bundled modules. A CommonJS bundle is ASCII, which Node reads and V8 scans fastest,
 * and requires modules instead of importing them, because code from V8's cache cannot import
 * (`packages/service/src/start-bundle.ts`).
 */
export async function bundle(from, to, external = [...absent, beside], { plugins = [] } = {}) {
  const format = to.endsWith('.cjs') ? 'cjs' : 'esm';
  const code = await readFile(from, 'utf8');
  const { output } = await build({
    input: from,
    platform: 'node',
    external,
    plugins,
    logLevel: 'warn',
    output: {
      file: to,
      format,
      codeSplitting: false,
      banner: code.startsWith('#!') || format === 'cjs' ? '' : '#!/usr/bin/env node',
      ...(format === 'cjs' && {
        comments: false,
        dynamicImportInCjs: false,
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
      }),
    },
  });
  if (format === 'cjs' && output.some(({ code }) => /[^\0-\x7f]/.test(code))) throw new Error(`${to} is not ASCII`);
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}

/**
 * The commit of the build, for the version of a development build. Undefined for the commit of a release, and without a
 * checkout.
 */
async function commitOf() {
  const git = (...args) =>
    promisify(execFile)('git', args).then(
      ({ stdout }) => stdout.trim(),
      () => undefined,
    );
  return (await git('tag', '--points-at', 'HEAD', 'v*')) ? undefined : git('rev-parse', '--short=9', 'HEAD');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (let [from, to, ...more] = process.argv.slice(2); from; [from, to, ...more] = more) {
    await bundle(from, to);
    await chmod(to, 0o755);
    if (to.endsWith('.cjs'))
      await writeFile(join(dirname(to), 'build.json'), `${JSON.stringify({ commit: await commitOf() })}\n`);
  }
}
