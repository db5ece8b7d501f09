/** Options about where and how agents work: kept at `register`, or given for one run of `up`. */
import { Failure, exitCodes } from '@relay/daemon-kit';
import { isAgentCount } from '../config.ts';

export interface PlaceOptions {
  allow?: string[];
  project?: string;
  maxAgents?: string;
  askAtDesk?: boolean;
}

/** undefined when nothing was said. Throws a Failure (usage) for what is no number of agents. */
export function agentCountOf({ maxAgents }: PlaceOptions): number | undefined {
  if (maxAgents === undefined) return undefined;
  const count = /^\d+$/.test(maxAgents) ? Number(maxAgents) : 0;
  if (isAgentCount(count)) return count;
  throw new Failure('BAD_OPTION', '--max-agents must be a number from 1 to 500.', exitCodes.usage);
}
