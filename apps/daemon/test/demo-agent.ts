/** The demonstration agent as a real process behind the ACP adapter. */
import { fileURLToPath } from 'node:url';
import { type AcpOptions, type AcpTimings, acpAgent } from '../src/index.ts';
import type { house } from './house.ts';

export const demoAgentFile = fileURLToPath(new URL('../scripts/demo-agent.mjs', import.meta.url));

export type DemoOptions = Omit<Partial<AcpOptions>, 'timings'> & { timings?: Partial<AcpTimings> };

/** `home`: the folder of the agent's sessions; `defaultPath`: the folder of turns without a project. */
export function demoAgent(home: ReturnType<typeof house>, options: DemoOptions & { home?: string } = {}) {
  const defaultPath = home.folder();
  const { home: agentHome = home.folder(), env = {}, timings = {}, ...rest } = options;
  const agent = acpAgent({
    program: process.execPath,
    args: [demoAgentFile],
    rules: { defaultPath },
    marker: defaultPath,
    ...rest,
    env: { DEMO_AGENT_HOME: agentHome, ...env },
    timings: { killAfterMs: 300, leaveMs: 2000, ...timings },
  });
  return { agent, defaultPath, agentHome };
}
