/** The bounds of turns that agents start on the machines of their person (rules, 19.6): by hour and in a chain. Open ones are counted where they are written. */
import { agentDepthOf } from '@relay/database';
import { RelayError, agentLimits } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { requireSession } from '../sessions/find.ts';
import type { Caller } from './caller.ts';

/** The name of the caller's session in `_meta`, for clients that know it: a model cannot change it there. */
export const sessionMeta = 'relay/session';

/**
 * Counts one turn that an agent starts, and returns how deep it is.
 * @throws RelayError SESSION_NOT_FOUND (of `fromSession`), AGENT_CHAIN_TOO_DEEP, TOO_MANY_AGENT_TURNS
 */
export async function countTurn(deps: Operations, caller: Caller, fromSession: string | undefined): Promise<number> {
  const { principal, limits, response } = caller;
  const { userId } = principal;
  const own = fromSession === undefined ? undefined : await requireSession(deps.database, userId, fromSession);
  const depth = 1 + (own ? await agentDepthOf(deps.database, own.key) : 0);
  if (depth > agentLimits.depth)
    throw new RelayError(
      'AGENT_CHAIN_TOO_DEEP',
      `Agents started one another ${agentLimits.depth} times in a row, which is the limit. Finish the work here, or ask the person.`,
    );
  await limits.agentTurn(response, userId);
  return depth;
}
