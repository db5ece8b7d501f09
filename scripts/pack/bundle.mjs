// One program as one file, with everything it imports: it starts in a third of the time. `node bundle.mjs <module> <file>`
import { chmod, readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';

/** Native code that these packages use where it is installed, and work without: `ws` the first two, `pg` the last. */
export const absent = ['bufferutil', 'utf-8-validate', 'pg-native'];

/** Resolves with the paths of all modules that went into the bundle. */
export async function bundle(from, to, external = absent, { format = 'esm', plugins = [] } = {}) {
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
    },
  });
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , from = '', to = ''] = process.argv;
  await bundle(from, to);
  await chmod(to, 0o755);
}
