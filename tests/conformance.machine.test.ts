/**
 * The relay that `npm start` starts passes the conformance suite: the built program in its own process, a fresh data
 * folder, two users. The limits are raised and passed to the suite, which would otherwise wait for them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openDevIssuer } from '@relay/auth';
import { main as conformance } from '@relay/conformance';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const program = fileURLToPath(new URL('../apps/standalone/dist/main.js', import.meta.url));
const startMs = 60_000;
const runMs = 120_000;
const rateLimit = '1000';
const createLimit = '50';

let dataDir: string;
let relay: ChildProcess;
let url: string;

/** Resolves with the port from the relay's log. */
async function listening(child: ChildProcess): Promise<number> {
  const told: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    const port = /\(listening on [^)]*:(\d+)\)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
    told.push(line);
  }
  throw new Error(`the relay did not start:\n${told.join('\n')}`);
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'relay-conformance-'));
  relay = spawn(process.execPath, [program], {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: dataDir,
      PORT: '0',
      METRICS_PORT: '0',
      AUTH_BUILTIN: 'off',
      AUTH_DEV_ISSUER: 'on',
      LOG_LEVEL: 'silent',
      PING_INTERVAL_MS: '2000',
      RATE_LIMIT_PER_MINUTE: rateLimit,
      SESSION_CREATE_PER_MINUTE: createLimit,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  url = `http://127.0.0.1:${await listening(relay)}`;
}, startMs);

afterAll(async () => {
  if (relay.exitCode === null) {
    const ended = once(relay, 'exit');
    relay.kill('SIGTERM');
    await ended;
  }
  await rm(dataDir, { recursive: true, force: true });
}, startMs);

/** Runs the suite's own command line and returns its output. */
async function run(...args: string[]): Promise<{ code: number; out: string }> {
  const lines: string[] = [];
  const code = await conformance(args, { out: (text) => void lines.push(text), err: () => undefined });
  return { code, out: lines.join('') };
}

describe('the relay in one process', () => {
  it(
    'passes the conformance suite',
    async () => {
      const issuer = openDevIssuer(dataDir);
      const { code, out } = await run(
        ...['--url', url, '--token', issuer.sign({ sub: 'alice' }), '--other-token', issuer.sign({ sub: 'bob' })],
        ...['--rate-limit', rateLimit, '--create-limit', createLimit, '--json'],
      );
      const { checks } = JSON.parse(out) as { checks: { name: string; outcome: string; reason?: string }[] };
      expect(checks.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
      expect(checks.filter(({ outcome }) => outcome === 'passed').length).toBeGreaterThan(100);
      expect(code).toBe(0);
    },
    runMs,
  );

  it('fails the suite with code 1 if it differs from the given limits', async () => {
    const token = openDevIssuer(dataDir).sign({ sub: 'carol' });
    const { code, out } = await run('--url', url, '--token', token, '--only', 'X-RateLimit-Limit', '--rate-limit', '7');
    expect(out).toContain('0 passed, 1 failed');
    expect(out).toMatch(/expected "7", came "1000"/);
    expect(code).toBe(1);
  });

  it('is not checked if the arguments are wrong, which exits with code 2', async () => {
    expect((await run('--url', 'nowhere', '--token', 'x')).code).toBe(2);
    expect((await run('--url', url)).code).toBe(2);
    expect((await run('--only', 'no such check')).code).toBe(2);
  });
});
