/** The agents of a machine, as people call them. */
import type { Device, DeviceAgent } from '@relay/protocol';
import { agentName } from '../catalogue.ts';

/** The one it is registered for first. A relay of an older release names that one alone. */
export const agentsOf = ({ agents, agentType }: Device): readonly DeviceAgent[] => agents ?? [{ agentType }];

/** The name of the product; of one that is not known, how its daemon calls it. */
export const productName = ({ agentType, name }: DeviceAgent): string => agentName(agentType) || name || agentType;
