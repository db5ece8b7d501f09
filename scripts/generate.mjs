// Writes every generated file: `npm run generate`. `--list` prints their paths instead.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Imports the entry of a package, or prints an explanation instead of a stack trace. */
async function door(specifier, ...names) {
  const found = await import(specifier).catch((cause) => {
    throw new Error(`cannot load ${specifier}: run \`npm run build\` first (${cause.message})`);
  });
  const missing = names.filter((name) => !(name in found));
  if (missing.length > 0) throw new Error(`${specifier} does not export ${missing.join(', ')}`);
  return found;
}

async function generated() {
  const protocol = await door(
    '@relay/protocol/documents',
    'registry',
    'errorsMarkdown',
    'openApiDocument',
    'asyncApiDocument',
  );
  const { configurationMarkdown } = await door('@relay/config', 'configurationMarkdown');
  const { statesMarkdown } = await door('@relay/database', 'statesMarkdown');
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const json = (value) => JSON.stringify(value, null, 2);
  return {
    'docs/states.md': statesMarkdown(),
    'docs/errors.md': protocol.errorsMarkdown(),
    'docs/openapi.json': json(protocol.openApiDocument({ baseUrl: 'http://localhost:4000', version })),
    'docs/asyncapi.json': json(protocol.asyncApiDocument({ wsUrl: 'ws://localhost:4000', version })),
    'docs/configuration.md': configurationMarkdown(),
    ...Object.fromEntries(
      Object.entries(protocol.registry).map(([name, { example }]) => [`examples/${name}.json`, json(example)]),
    ),
  };
}

/** Writes a file only if it changes, to avoid needless builds. */
async function write(path, text) {
  const file = join(root, path);
  const formatted = await format(text, { ...(await resolveConfig(file)), filepath: file });
  if (formatted === (await readFile(file, 'utf8').catch(() => undefined))) return false;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, formatted);
  return true;
}

try {
  const files = Object.entries(await generated());
  if (process.argv.includes('--list')) {
    console.log(files.map(([path]) => path).join('\n'));
  } else {
    const changed = [];
    for (const [path, text] of files) if (await write(path, text)) changed.push(path);
    console.log(
      `${files.length} generated files, ${changed.length} changed${changed.map((path) => `\n  ${path}`).join('')}`,
    );
  }
} catch (error) {
  console.error(`generate: ${error.message}`);
  process.exitCode = 1;
}
