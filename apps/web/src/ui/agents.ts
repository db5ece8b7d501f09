/** The agents of a machine, as people call them. */
import type { Device, DeviceAgent } from '@relay/protocol';

const products: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  claude_code: 'Claude Code',
  'claude-code': 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'OpenCode',
  cursor: 'Cursor',
  demo: 'demo',
};
/** The name of the product; `demo` for the demonstration and empty for any other, which each language names itself. */
export const agentName = (type: string): string => products[type.toLowerCase()] ?? '';

/** The one it is registered for first. A relay of an older release names that one alone. */
export const agentsOf = ({ agents, agentType }: Device): readonly DeviceAgent[] => agents ?? [{ agentType }];

/** The name of the agent of a session; empty where only its type is known. */
export const nameOfAgent = (agentType: string, device: Device | undefined): string =>
  agentName(agentType) || device?.agents?.find((agent) => agent.agentType === agentType)?.name || '';
