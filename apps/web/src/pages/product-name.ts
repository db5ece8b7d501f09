/** The names of agents on the pages of machines. */
import type { DeviceAgent } from '@relay/protocol';
import { words } from '../catalogue.ts';
import { agentName } from '../ui/agents.ts';

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
