/**
 * The module loader of a test file, which replaces Jest's own (option `runtime`). Jest gives each test file a virtual
 * machine with modules of its own, which costs 5 CPU seconds for a file that starts a relay. Here a worker loads each
 * module once, with Node's own loader, and keeps it for the next files. This is correct because no module of ours has
 * state (ARCHITECTURE.md, rule 7); the environment restores the state of the process (environment.ts). Reasons: ADR 72.
 */
import type { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire, register, syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel } from 'node:worker_threads';
import type * as jestGlobals from '@jest/globals';
import type { NativeEnvironment } from './environment.ts';
import { setGlobals } from './globals.ts';
import type { HookData, TransformedFile } from './hooks.ts';

/** Where Jest finds the default export of a module that it loads with `require`. */
export const __esModule = true;

const load = createRequire(import.meta.url);
/** Address or path of a transformed file → path of its source map. */
const sourceMaps = new Map<string, string>();
/** Every AsyncLocalStorage that jest-circus and libraries created in this worker. */
const storages = new Set<WeakRef<AsyncLocalStorage<unknown>>>();
/** The keys that hold a file's tests and handlers in jest-circus. */
const statesOfJest = new Set(['JEST_STATE_SYMBOL', 'EVENT_HANDLERS']);
let areHooksRegistered = false;

function registerHooks(): void {
  if (areHooksRegistered) return;
  areHooksRegistered = true;
  const { port1, port2 } = new MessageChannel();
  port1.on('message', ({ url, map }: TransformedFile) => sourceMaps.set(url, map));
  port1.unref();
  const data: HookData = {
    globals: new URL('./globals.js', import.meta.url).href,
    cache: path.join(tmpdir(), `relay-tests-${process.getuid?.() ?? 0}`),
    port: port2,
  };
  register('./hooks.js', import.meta.url, { data, transferList: [port2] });
  recordStorages();
}

/** The methods that jest-runner 30 and jest-circus 30 call. */
export default class NativeRuntime {
  readonly #environment: NativeEnvironment;

  constructor(_config: unknown, environment: NativeEnvironment) {
    this.#environment = environment;
    registerHooks();
  }

  setGlobalsForRuntime(globals: Omit<typeof jestGlobals, 'jest'>): void {
    setGlobals({ ...globals, jest: this.#environment.jest });
  }

  /** The parts of Jest that hold the tests of one file: new for each file. */
  requireInternalModule(file: string): unknown {
    delete load.cache[file];
    for (const key of Object.getOwnPropertySymbols(globalThis))
      if (statesOfJest.has(key.description ?? '')) Reflect.deleteProperty(globalThis, key);
    return load(file);
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  async unstable_importModule(file: string): Promise<void> {
    await import(pathToFileURL(file).href);
  }

  requireModule(file: string): unknown {
    return load(file);
  }

  getSourceMaps(): Map<string, string> {
    return sourceMaps;
  }

  enterTestCode(): void {}
  leaveTestCode(): void {}
  getAllCoverageInfoCopy(): undefined {}

  teardown(): void {
    for (const reference of storages) {
      const storage = reference.deref();
      if (storage) storage.disable();
      else storages.delete(reference);
    }
  }
}

/**
 * Adds each AsyncLocalStorage that is created from now on to `storages`. jest-circus creates one for each test file, and Node 20 visits every
 * enabled one for each promise: after a hundred files a worker would spend a fifth of its time there. A use enables it again.
 */
function recordStorages(): void {
  const hooks = load('node:async_hooks') as { AsyncLocalStorage: new () => AsyncLocalStorage<unknown> };
  hooks.AsyncLocalStorage = class extends hooks.AsyncLocalStorage {
    constructor() {
      super();
      storages.add(new WeakRef(this));
    }
  };
  syncBuiltinESMExports();
}
