/** The environment of a test file that runs in the worker's own realm: lends it the console of Jest, and restores the process after it. */
import { appendFileSync, readFileSync } from 'node:fs';
import { ModernFakeTimers } from '@jest/fake-timers';
import type { jest } from '@jest/globals';
import type { EnvironmentContext, JestEnvironmentConfig } from '@jest/environment';
import { ModuleMocker } from 'jest-mock';

/** How long a test can take: set by `jest.setTimeout`, read by jest-circus. */
const timeoutKey = Symbol.for('TEST_TIMEOUT_SYMBOL');
/** The variable that names the file which receives one `CpuOfFile` a line. */
export const cpuRecord = 'RELAY_TEST_CPU';

export interface CpuOfFile {
  readonly file: string;
  /** Seconds of the worker, its threads included. */
  readonly own: number;
  /** CPU seconds of the file's child processes that have exited. */
  readonly children: number;
}

const mocker = new ModuleMocker(globalThis);

export class NativeEnvironment {
  /** Jest puts the console of the file here. */
  readonly global: { console?: Console } = {};
  readonly jest: typeof jest;
  readonly #timers: ModernFakeTimers;
  readonly #file: string;
  readonly #cpuBefore = cpuSeconds();
  #restore = () => {};

  constructor({ projectConfig }: Pick<JestEnvironmentConfig, 'projectConfig'>, { testPath }: EnvironmentContext) {
    this.#file = testPath;
    this.#timers = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.jest = jestOf(this.#timers);
  }

  async setup(): Promise<void> {
    const before = { env: { ...process.env }, folder: process.cwd(), console, globals: ownProperties(globalThis) };
    if (this.global.console) globalThis.console = this.global.console;
    this.#restore = () => {
      globalThis.console = before.console;
      restoreProperties(globalThis, before.globals);
      for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name];
      Object.assign(process.env, before.env);
      if (process.cwd() !== before.folder) process.chdir(before.folder);
    };
    return Promise.resolve();
  }

  async teardown(): Promise<void> {
    this.#timers.dispose();
    mocker.restoreAllMocks();
    this.#restore();
    Reflect.deleteProperty(globalThis, timeoutKey);
    const now = cpuSeconds();
    const record: CpuOfFile = {
      file: this.#file,
      own: now.own - this.#cpuBefore.own,
      children: now.children - this.#cpuBefore.children,
    };
    const to = process.env[cpuRecord];
    if (to !== undefined) appendFileSync(to, `${JSON.stringify(record)}\n`);
    return Promise.resolve();
  }

  getVmContext(): null {
    return null;
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }
}

export default NativeEnvironment;

/** The CPU seconds of this process, and of its children that have exited. */
function cpuSeconds(): { own: number; children: number } {
  const { user, system } = process.cpuUsage();
  return { own: (user + system) / 1e6, children: childTicks() / 100 };
}

/** CPU time in hundredths of a second; only Linux counts them. */
function childTicks(): number {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return Number(fields[13]) + Number(fields[14]);
}

/** The functions of `jest` that are used here. Modules are not mocked: nothing stands between a test and the code. */
function jestOf(timers: ModernFakeTimers): typeof jest {
  const own = {
    fn: mocker.fn.bind(mocker),
    spyOn: mocker.spyOn.bind(mocker),
    restoreAllMocks: () => (mocker.restoreAllMocks(), own),
    useFakeTimers: (options?: Parameters<ModernFakeTimers['useFakeTimers']>[0]) => (timers.useFakeTimers(options), own),
    useRealTimers: () => (timers.useRealTimers(), own),
    setSystemTime: (now?: number | Date) => timers.setSystemTime(now),
    advanceTimersByTime: (ms: number) => timers.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: (ms: number) => timers.advanceTimersByTimeAsync(ms),
    getTimerCount: () => timers.getTimerCount(),
    setTimeout: (ms: number) => (Object.assign(globalThis, { [timeoutKey]: ms }), own),
  };
  return own as unknown as typeof jest;
}

const ownProperties = (of: object) => Object.entries(Object.getOwnPropertyDescriptors(of));

/** Properties that are new stay: a library that was loaded in this file, and stays loaded, keeps its state there. */
function restoreProperties(of: object, before: readonly [string, PropertyDescriptor][]): void {
  for (const [key, descriptor] of before) {
    const now = Reflect.getOwnPropertyDescriptor(of, key);
    if (now?.value !== descriptor.value || now?.get !== descriptor.get) Reflect.defineProperty(of, key, descriptor);
  }
}
