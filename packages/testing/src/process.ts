/** The relay as it is shipped: the built single process, as a child, on a free port and a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Scope, openDevIssuer } from '@relay/auth';
import type { RelayAddress } from './relay.ts';
import { callerOf } from './rest.ts';
import { seedDataFolder } from './template.ts';

export interface RelayProcess extends RelayAddress {
  readonly url: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Everything it wrote. */
  output(): string;
  /** Sends a signal and waits for the exit. Returns the exit code, null after SIGKILL. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

const thisRelease = fileURLToPath(new URL('../../..', import.meta.url));
const startTimeoutMs = 90_000;

/** Starts the built program and waits until it answers. Rejects, with its output, if it exits first. */
export async function startRelayProcess(
  options: {
    dataDir?: string;
    /** A variable that is undefined here is not in its environment. */
    env?: Record<string, string | undefined>;
    /** The folder of another release, built. */
    release?: string;
    /** The arguments of the program. */
    args?: readonly string[];
    /**
     * Target of its log: `unread` is a pipe that the test can read later, a number an open file. Default: into
     * `output`.
     */
    log?: 'unread' | number;
  } = {},
): Promise<RelayProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'relay-process-')));
  // A folder of the caller's is started as it is: some tests are about its first start.
  if (options.dataDir === undefined) await seedDataFolder(dataDir);
  const main = join(options.release ?? thisRelease, 'apps/standalone/dist/main.js');
  const child = spawn(process.execPath, [main, ...(options.args ?? [])], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      PUBLIC_URL: 'http://relay.test',
      METRICS_PORT: '0',
      DATA_DIR: dataDir,
      AUTH_BUILTIN: 'off',
      AUTH_DEV_ISSUER: 'on',
      DRAIN_SECONDS: '0',
      // Many scenes answer a permission with text alone.
      BOUND_APPROVALS: 'off',
      RATE_LIMIT_PER_MINUTE: '100000',
      SOCKETS_PER_USER: '100000',
      DEVICES_PER_USER: '1000',
      SESSION_CREATE_PER_MINUTE: '100000',
      ...options.env,
    },
    stdio: ['ignore', typeof options.log === 'number' ? options.log : 'pipe', 'pipe'],
  });
  let written = '';
  const exited = once(child, 'exit');
  const port = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => fail(`not ready after ${startTimeoutMs} ms`), startTimeoutMs);
    const fail = (why: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the relay did not start (${why}):\n${written}`));
    };
    const read = (chunk: Buffer) => {
      written += chunk.toString('utf8');
      const ready = /listening on 127\.0\.0\.1:(\d+)/.exec(written);
      if (!ready) return;
      clearTimeout(timer);
      resolve(ready[1]!);
    };
    if (options.log === undefined) child.stdout!.on('data', read);
    child.stderr!.on('data', read);
    child.once('exit', (code) => fail(`exit code ${String(code)}`));
  });
  const url = `http://127.0.0.1:${port}`;
  const issuer = openDevIssuer(dataDir, { audience: `${options.env?.PUBLIC_URL ?? 'http://relay.test'}/api` });
  const token: RelayAddress['token'] = (user = 'alice', { scopes } = {}) =>
    issuer.sign({ sub: user, ...(scopes ? { scopes: scopes as Scope[] } : {}) });
  return {
    url,
    dataDir,
    process: child,
    apis: [{ url }],
    gateways: [{ url }],
    token,
    call: callerOf([url], token),
    output: () => written,
    end: async (signal) => {
      child.kill(signal);
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}

/**
 * The link for the first account, which the relay prints after the line with its address. Rejects if the relay exits
 * first.
 */
export function setupLinkOf(relay: RelayProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const link = /Create the first account: (\S+)\n/.exec(relay.output())?.[1];
      if (link !== undefined) resolve(link);
    };
    relay.process.stderr?.on('data', look);
    relay.process.once('exit', () => reject(new Error(`no link for the first account:\n${relay.output()}`)));
    look();
  });
}
