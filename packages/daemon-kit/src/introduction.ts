/** The headers that introduce a daemon to the relay. */
import { hostname } from 'node:os';
import { agentsHeader, type Capability, capabilities, formatAgents } from '@relay/protocol';
import type { Agent } from './agent.ts';
import type { DaemonOptions } from './daemon-options.ts';
import type { Workspace } from './changes.ts';
import type { FileExchange } from './exchange.ts';
import type { Browse } from './folders.ts';
import type { TranscriptSettings } from './transcript/transcripts.ts';

export const headersOf = (options: DaemonOptions, declared: readonly Capability[]): Record<string, string> => ({
  Authorization: `Bearer ${options.refreshToken}`,
  'X-Device-ID': options.deviceId,
  'X-Agent-Type': options.agentType,
  'X-Daemon-Version': options.daemonVersion,
  // Only for people, when two machines use the same registration; a header allows no other characters.
  'X-Daemon-Hostname': hostname().replace(/[^\x21-\x7e]/g, ''),
  ...agentsIn(options),
  'X-Daemon-Capabilities': declared.join(', '),
});

/** No header for a daemon that has one agent and no product to name. */
function agentsIn({ agentType, product, further = [] }: DaemonOptions): Record<string, string> {
  if (!product && further.length === 0) return {};
  return { [agentsHeader]: formatAgents([{ agentType, ...product }, ...further]) };
}

/** A relay that does not know a name ignores it. */
export const capabilitiesOf = (
  agent: Agent,
  { detail }: TranscriptSettings,
  browse?: Browse,
  workspace?: Workspace,
  exchange?: FileExchange,
): Capability[] => [
  capabilities.receipts,
  // The relay finds in the transcript whether a message arrived.
  ...(agent.capabilities ?? []).filter(
    (name) =>
      (name !== capabilities.steer || detail !== 'off') && (name !== capabilities.files || exchange !== undefined),
  ),
  ...(browse ? [capabilities.browse] : []),
  ...(agent.holders ? [capabilities.desk] : []),
  ...(agent.capabilities?.includes(capabilities.usage) ? [capabilities.spending] : []),
  ...(workspace?.capabilities ?? []),
  ...(detail === 'off'
    ? []
    : [capabilities.transcript, capabilities.prompts, capabilities.content, capabilities.search]),
];
