// Loads Prisma's schema engine as WebAssembly: the Rust code of the native binary, without the binary. The package is
// published for one engine commit and its interface is internal, so this refuses a version that does not belong to the
// installed Prisma, instead of failing later in odd ways.
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const entry = '@prisma/schema-engine-wasm/schema_engine_bg';

/** The commit of the engine. Throws if the WebAssembly build has another commit than the installed Prisma needs. */
export function engineCommit() {
  const viaPrisma = createRequire(require.resolve('prisma/package.json'));
  const wanted = createRequire(viaPrisma.resolve('@prisma/engines'))('@prisma/engines-version').enginesVersion;
  const folder = path.dirname(require.resolve(entry));
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  if (!version.endsWith(wanted)) {
    throw new Error(`@prisma/schema-engine-wasm is ${version}, the installed prisma needs the build of ${wanted}`);
  }
  return wanted;
}

/**
 * An engine for the database that `factory` opens. `datamodels`: a list of [path, text] of the schema, or undefined
 * without a schema (an empty list makes the engine panic).
 */
export async function createEngine(factory, datamodels) {
  engineCommit();
  // The engine reports a panic through this global before it traps.
  globalThis.PRISMA_WASM_PANIC_REGISTRY ??= { set_message: (text) => process.stderr.write(`PANIC ${text}\n`) };
  const bindings = await import(entry);
  const file = path.join(path.dirname(require.resolve(entry)), 'schema_engine_bg.wasm');
  const { instance } = await WebAssembly.instantiate(readFileSync(file), { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  const log = (line) => process.env.SCHEMA_ENGINE_LOG && process.stderr.write(`${line}\n`);
  return bindings.SchemaEngine.new({ datamodels }, log, bindMigrationAwareSqlAdapterFactory(factory));
}
