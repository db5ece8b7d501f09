/** The agents of a machine, as people call them. */
import type { Device, DeviceAgent } from '@relay/protocol';
import { agentName, words } from '../catalogue.ts';

/** The one it is registered for first. A relay of an older release names that one alone. */
export const agentsOf = ({ agents, agentType }: Device): readonly DeviceAgent[] => agents ?? [{ agentType }];

/** The name of the agent of a session; empty where only its type is known. */
export const nameOfAgent = (agentType: string, device: Device | undefined): string =>
  agentName(agentType) || device?.agents?.find((agent) => agent.agentType === agentType)?.name || '';

/** As a name: `my_agent` of an unknown daemon becomes “My agent”. */
const readable = (type: string): string => {
  const text = type.replace(/[_-]+/g, ' ').trim();
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
};

/** The name of the product; of one that is not known, how its daemon calls it. */
export const productName = ({ agentType, name }: DeviceAgent): string => {
  const product = agentName(agentType);
  if (product === 'demo') return words.start.demoAgent;
  return product || name || (agentType === 'acp' ? words.start.otherAgent : readable(agentType));
};
