/** The names of agents on the pages of machines. */
import type { DeviceAgent } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { agentName } from '../ui/agents.ts';

/** As a name: `my_agent` of an unknown daemon becomes “My agent”. */
const readable = (type: string): string => {
  const text = type.replace(/[_-]+/g, ' ').trim();
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
};

/** Returns the name of the product; for an unknown product, the daemon's name for it. */
export const productName = ({ agentType, name }: DeviceAgent): string => {
  const product = agentName(agentType);
  if (product === 'demo') return words.start.demoAgent;
  return product || name || (agentType === 'acp' ? words.start.otherAgent : readable(agentType));
};
