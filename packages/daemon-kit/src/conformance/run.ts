/** Runs the checks one after the other, each with a daemon of its own at a relay of its own. */
import { randomUUID } from 'node:crypto';
import type { DaemonCheck, Subject } from './check.ts';
import { daemonChecks } from './checks.ts';
import { startRelayDouble } from './relay-double.ts';

interface CheckResult {
  check: DaemonCheck;
  /** undefined when the daemon passed. */
  problem: string | undefined;
}

/** `waitMs`: how long to wait for a frame before the rule counts as broken. */
export async function runDaemonCheck(
  check: DaemonCheck,
  subject: Subject,
  options: { waitMs?: number } = {},
): Promise<CheckResult> {
  const relay = await startRelayDouble({ ...options, ...(check.declares ? { declares: check.declares } : {}) });
  const identity = {
    server: relay.url,
    deviceId: `device-${randomUUID()}`,
    refreshToken: `rly_drt_${randomUUID()}`,
    agentType: 'checked',
  };
  const daemon = subject.start(identity);
  let problem: string | undefined;
  try {
    const connection = await relay.connection();
    await connection.frame('report_sessions');
    await check.run({ relay, identity, connection });
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  } finally {
    await daemon.stop();
    // Frames that the protocol does not allow are found when the relay closes.
    await relay.close().catch((error: Error) => (problem ??= error.message));
  }
  return { check, problem };
}

export async function runDaemonChecks(
  subject: Subject,
  onResult: (result: CheckResult) => void = () => undefined,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of daemonChecks) {
    const result = await runDaemonCheck(check, subject);
    onResult(result);
    results.push(result);
  }
  return results;
}
