/**
 * Module hooks of Node for a worker of Jest (module.register): TypeScript is transformed when it is loaded, and `@jest/globals` is
 * replaced. They run in a thread of their own.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { LoadHook, ResolveHook } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MessagePort } from 'node:worker_threads';
import { type Options, transformSync, version } from '@swc/core';

export interface HookData {
  /** Address of the module that `@jest/globals` stands for. */
  globals: string;
  /** Folder of transformed files, kept between runs. */
  cache: string;
  /** Receives a `TransformedFile` for each file, before its code runs. */
  port: MessagePort;
}

export interface TransformedFile {
  readonly url: string;
  /** Path of its source map. */
  readonly map: string;
}

let data: HookData;

export function initialize(given: HookData): void {
  data = given;
  mkdirSync(data.cache, { recursive: true });
}

export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === '@jest/globals' ? { url: data.globals, shortCircuit: true } : next(specifier, context);

export const load: LoadHook = (url, context, next) => {
  if (!/^file:.*\.tsx?$/.test(url)) return next(url, context);
  const { code, map } = transformed(fileURLToPath(url));
  data.port.postMessage({ url, map } satisfies TransformedFile);
  return { format: 'module', source: code, shortCircuit: true };
};

function transformed(file: string): { code: string; map: string } {
  const source = readFileSync(file, 'utf8');
  const key = createHash('sha256').update(`${version}\0${file}\0${source}`).digest('hex').slice(0, 32);
  const [code, map] = [`${key}.js`, `${key}.map`].map((name) => path.join(data.cache, name)) as [string, string];
  if (!existsSync(code)) {
    const result = transformSync(source, { ...options, filename: file });
    writeWhole(map, result.map ?? '');
    writeWhole(code, result.code);
    return { code: result.code, map };
  }
  return { code: readFileSync(code, 'utf8'), map };
}

const options: Options = {
  configFile: false,
  swcrc: false,
  sourceMaps: true,
  module: { type: 'es6' },
  jsc: {
    parser: { syntax: 'typescript', tsx: true },
    transform: { react: { runtime: 'automatic' } },
    target: 'es2023',
  },
};

/** Two workers can write the same file. */
function writeWhole(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, file);
}
