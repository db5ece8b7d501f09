/**
 * Runs the conformance suite against a cluster through its HAProxy. The suite repeats a check that failed because an
 * instance with its sockets was replaced: a check must pass at one quiet moment of the same minute.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cluster } from '@relay/testing';

/** Limits of the instances: the suite exhausts each once, and does not wait long for it to recover. */
export const suiteLimits = { RATE_LIMIT_PER_MINUTE: '1500', SESSION_CREATE_PER_MINUTE: '300' };

export interface Verdict {
  readonly passed: number;
  /** `name: reason` of each failed check. */
  readonly failed: readonly string[];
}

interface Check {
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  reason?: string;
}

async function run(cluster: Cluster, release: string, only: readonly string[] = []): Promise<Check[]> {
  const { url, certificate } = cluster.haproxy!;
  const who = ['--token', cluster.token('alice'), '--other-token', cluster.token('bob')];
  const limits = [
    '--rate-limit',
    suiteLimits.RATE_LIMIT_PER_MINUTE,
    '--create-limit',
    suiteLimits.SESSION_CREATE_PER_MINUTE,
  ];
  const child = spawn(
    process.execPath,
    [join(release, 'conformance/run.mjs'), '--json', '--url', url, ...who, ...limits, ...only],
    {
      env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: certificate },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const lastResort = () => child.kill('SIGKILL');
  process.once('exit', lastResort);
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')));
  await once(child, 'close');
  process.off('exit', lastResort);
  try {
    return (JSON.parse(out) as { checks: Check[] }).checks;
  } catch (error) {
    throw new Error(`the conformance suite did not end well:\n${err}`, { cause: error });
  }
}

const exactly = (name: string) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
const failures = (checks: readonly Check[]) => checks.filter(({ outcome }) => outcome === 'failed');

/**
 * Needs a cluster with `suiteLimits`. `release` is the folder with the suite: use that of the older of two releases.
 * `again` is the number of repetitions of a failed check.
 */
export async function conform(cluster: Cluster, release: string, { again = 0 } = {}): Promise<Verdict> {
  // The suite itself can fail as well, on sockets that belong to no single check.
  const whole = async (left: number): Promise<Check[]> => {
    try {
      return await run(cluster, release);
    } catch (error) {
      if (left === 0) throw error;
      return whole(left - 1);
    }
  };
  const checks = await whole(again);
  const passed = checks.filter(({ outcome }) => outcome === 'passed').length;
  let failed = failures(checks);
  for (let attempt = 0; attempt < again && failed.length > 0; attempt += 1)
    failed = failures(await run(cluster, release, ['--only', failed.map(({ name }) => exactly(name)).join('|')]));
  return { passed, failed: failed.map(({ name, reason }) => `${name}: ${reason}`) };
}
