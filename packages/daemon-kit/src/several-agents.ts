/**
 * Several agents behind one connection: each session belongs to one of them, and everything about it goes there. The agent of the
 * registration has the sessions without a type.
 */
import { randomUUID } from 'node:crypto';
import type { DeviceAgent } from '@relay/protocol';
import type { Agent } from './agent.ts';
import type { Outside } from './outside.ts';

/** An agent beside the one of the registration. */
export interface FurtherAgent extends DeviceAgent {
  agent: Agent;
  /** As `DaemonOptions.outside`. */
  outside?: Outside | undefined;
}

const missing = (agentType: string) =>
  new Error(`The agent “${agentType}” is not set up on this machine. Start the daemon with it.`);

interface Joined {
  agent: Agent;
  outside: Outside | undefined;
}

/**
 * One agent, and one view of the sessions outside, made of all. `storedType`: the agent of a session that is stored.
 * @throws TypeError when they do not report in the same way, or two have the same type
 */
export function joinAgents(
  own: { agent: Agent; outside: Outside | undefined },
  further: readonly FurtherAgent[],
  storedType: (sessionId: string) => string | undefined,
): Joined {
  if (further.length === 0) return own;
  const all = [own.agent, ...further.map(({ agent }) => agent)];
  if (
    all.some(
      ({ tellsUpdates, holdsQuestions }) =>
        tellsUpdates !== own.agent.tellsUpdates || holdsQuestions !== own.agent.holdsQuestions,
    )
  )
    throw new TypeError('agents of one daemon must report in the same way');
  const byType = new Map(further.map((one) => [one.agentType, one]));
  if (byType.size < further.length) throw new TypeError('two agents of one daemon have the same type');
  /** Sessions that were opened or seen, and are not stored yet. */
  const seen = new Map<string, string>();
  const typeOf = (sessionId: string) => storedType(sessionId) ?? seen.get(sessionId);
  const remember = (sessionId: string, agentType: string) => {
    seen.delete(sessionId);
    seen.set(sessionId, agentType);
    const [oldest] = seen.keys();
    if (seen.size > maxSeen && oldest !== undefined) seen.delete(oldest);
  };
  const named = (agentType: string | undefined): Agent => {
    const found = agentType === undefined ? own.agent : byType.get(agentType)?.agent;
    if (!found) throw missing(agentType!);
    return found;
  };
  const of = (sessionId: string) => named(typeOf(sessionId));

  const agent: Agent = {
    ...own.agent,
    capabilities: (own.agent.capabilities ?? []).filter((name) =>
      all.every(({ capabilities = [] }) => capabilities.includes(name)),
    ),
    nameOf: (sessionId) => {
      const agentType = typeOf(sessionId);
      const one = agentType === undefined ? own.agent : byType.get(agentType)?.agent;
      return one?.messageName?.bind(one);
    },
    async open(opening) {
      const chosen = named(opening.agentType);
      const opened = (await chosen.open?.(opening)) ?? { sessionId: randomUUID() };
      if (opening.agentType !== undefined) remember(opened.sessionId, opening.agentType);
      return opened;
    },
    start: (turn, report) => of(turn.sessionId).start(turn, report),
    steer: async (message, injected) =>
      (await of(message.sessionId).steer?.(message, injected)) ?? { outcome: 'refused' },
    context: async (sessionId) => {
      const usage = await of(sessionId).context?.(sessionId);
      if (!usage) throw new Error('this agent does not report its context');
      return usage;
    },
    settings: async (session, change) => (await of(session.sessionId).settings?.(session, change)) ?? [],
    cachedSettings: (sessionId) => of(sessionId).cachedSettings?.(sessionId),
    onSettings: (listener) => all.forEach((one) => one.onSettings?.(listener)),
    onCommands: (listener) =>
      all.forEach((one) =>
        // Commands without a session come from the agent of the registration, not from another agent.
        one.onCommands?.(
          (sessionId, commands) => (sessionId !== '' || one === own.agent) && listener(sessionId, commands),
        ),
      ),
    onOwnTurn: (listener) => all.forEach((one) => one.onOwnTurn?.(listener)),
    abandon: (taskId) => all.forEach((one) => one.abandon?.(taskId)),
    ...holdersIn(all, of),
    deskAsker: { listen: (ask) => all.forEach((one) => one.deskAsker?.listen(ask)) },
    letGo: async (sessionId) => of(sessionId).letGo?.(sessionId),
    outdated: (sessionId) => of(sessionId).outdated?.(sessionId),
    close: async () => void (await Promise.all(all.map(async (one) => one.close?.()))),
    reap: (left) => all.forEach((one) => one.reap?.(left)),
    abort: () => all.forEach((one) => one.abort?.()),
  };
  const outsides = [own, ...further].flatMap(({ outside }) => outside ?? []);
  if (outsides.length === 0) return { agent, outside: undefined };
  const outsideOf = (sessionId: string): Outside | undefined => {
    const agentType = typeOf(sessionId);
    return agentType === undefined ? own.outside : byType.get(agentType)?.outside;
  };
  return {
    agent,
    outside: {
      agentTypeOf: (sessionId) => typeOf(sessionId),
      sessions: () => [
        ...(own.outside?.sessions() ?? []),
        ...further.flatMap(({ agentType, outside }) =>
          (outside?.sessions() ?? []).map((session) => {
            if (storedType(session.sessionId) === undefined) remember(session.sessionId, agentType);
            return { ...session, agentType };
          }),
        ),
      ],
      stamp: (sessionId) => outsideOf(sessionId)?.stamp(sessionId),
      read: (sessionId, before) => outsideOf(sessionId)?.read(sessionId, before),
      refresh: async () => (await Promise.all(outsides.map(async (one) => one.refresh?.()))).includes(true),
      fetch: (sessionId, since) => outsideOf(sessionId)?.fetch?.(sessionId, since),
    },
  };
}

/** The holders of all agents; absent where no agent has any. */
function holdersIn(all: readonly Agent[], of: (sessionId: string) => Agent): Pick<Agent, 'holders'> {
  const every = all.flatMap(({ holders }) => holders ?? []);
  if (every.length === 0) return {};
  return {
    holders: {
      look: () => new Map(every.flatMap((one) => [...one.look()])),
      of: (sessionId) => of(sessionId).holders?.of(sessionId),
      end: (sessionId, stopTurn) =>
        of(sessionId).holders?.end(sessionId, stopTurn) ?? Promise.resolve({ result: 'not_held' }),
      command: (sessionId, cwd) => of(sessionId).holders?.command(sessionId, cwd),
    },
  };
}

/** Beyond this number the list of sessions names them again. */
const maxSeen = 10_000;
