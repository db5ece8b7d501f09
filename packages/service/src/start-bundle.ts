/**
 * Runs a program from its bundle, with the code that V8 compiled for an earlier start: without it, compiling the same modules is the
 * largest part of every start. Imports Node alone, because each import would be loaded before the bundle.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';

/** After this time, a start has compiled everything that it needs. */
const keepAfterMs = 10_000;
const digestBytes = 32;

/** V8 itself compares only the length of the source. */
const digestOf = (source: string, compiled: Buffer) =>
  createHash('sha256').update(source, 'latin1').update(compiled).digest();

/** Returns the cached code for this source, undefined if it is missing. */
function readKept(file: string, source: string): Buffer | undefined {
  try {
    const kept = readFileSync(file);
    const compiled = kept.subarray(digestBytes);
    return kept.subarray(0, digestBytes).equals(digestOf(source, compiled)) ? compiled : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the compiled code for the next start, where this user can write. */
function keep(file: string, source: string, script: Script): void {
  const staged = `${file}.${process.pid}`;
  try {
    const compiled = script.createCachedData();
    writeFileSync(staged, Buffer.concat([digestOf(source, compiled), compiled]));
    renameSync(staged, file);
  } catch {
    // The next start compiles again.
  }
}

/**
 * Runs `bundle`, a CommonJS module in ASCII that `scripts/pack/bundle.mjs` made. The compiled code is the file `<bundle>.compiled` beside it;
 * another release of Node, or other flags of V8, replace it. Returns the exports of the module.
 */
export function startBundle(bundle: URL): unknown {
  const file = fileURLToPath(bundle);
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'latin1')}\n})`;
  const keptFile = `${file}.compiled`;
  const kept = readKept(keptFile, source);
  const script = new Script(source, { filename: file, ...(kept && { cachedData: kept }) });
  if (script.cachedDataRejected !== false) {
    const once = () => {
      clearTimeout(timer);
      process.off('exit', once);
      keep(keptFile, source, script);
    };
    const timer = setTimeout(once, keepAfterMs).unref();
    process.once('exit', once);
  }
  const run = script.runInThisContext() as (...words: unknown[]) => void;
  const module = { exports: {} };
  run(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}
