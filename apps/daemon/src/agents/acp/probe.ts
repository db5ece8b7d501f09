/** Starts an agent in an empty folder, asks for its capabilities and its login state, and stops it. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog, systemClock } from '@relay/daemon-kit';
import { reasonOf } from '@relay/machine';
import { agentEnvironment } from '../environment.ts';
import { acpTimings } from './options.ts';
import { type AgentAbilities, startAgentProcess } from './process.ts';

interface Probe {
  /** undefined when the agent could not even be started. */
  abilities?: AgentAbilities;
  /** The reason why it cannot be used. */
  problem?: string;
}

export async function probeAgent(launch: {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  login?: string | undefined;
  authMethod?: string | undefined;
}): Promise<Probe> {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'relay-daemon-doctor-')));
  const agent = startAgentProcess({
    program: launch.program,
    args: launch.args,
    env: agentEnvironment(launch.env),
    cwd,
    login: launch.login ?? 'Log in with the agent in a terminal.',
    authMethod: launch.authMethod,
    clock: systemClock,
    timings: { ...acpTimings, initializeMs: 30_000, openMs: 30_000 },
    log: silentLog,
    onUpdate: () => undefined,
    onPermission: () => Promise.resolve({ outcome: { outcome: 'cancelled' } }),
    onForm: () => Promise.resolve({ action: 'cancel' }),
  });
  const probe: Probe = {};
  try {
    probe.abilities = await agent.ready;
    await agent.request('session/new', { cwd, mcpServers: [] }, acpTimings.openMs);
  } catch (error) {
    probe.problem = reasonOf(error);
  } finally {
    await agent.end();
    rmSync(cwd, { recursive: true, force: true });
  }
  return probe;
}
