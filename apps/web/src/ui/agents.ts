/** The agents of a machine, as people call them. */
import type { Device, DeviceAgent } from '@relay/protocol';
import { agentName } from '../catalogue.ts';

/** The one it is registered for first. A relay of an older release names that one alone. */
export const agentsOf = ({ agents, agentType }: Device): readonly DeviceAgent[] => agents ?? [{ agentType }];

/** The name of the agent of a session; empty where only its type is known. */
export const nameOfAgent = (agentType: string, device: Device | undefined): string =>
  agentName(agentType) || device?.agents?.find((agent) => agent.agentType === agentType)?.name || '';

/** The name of the product; of one that is not known, how its daemon calls it. */
export const productName = ({ agentType, name }: DeviceAgent): string => agentName(agentType) || name || agentType;
