/**
 * Sessions of an agent that were started locally: from its files where there is a reader, else from its own list, and always only
 * the ones inside the folders that the user allowed.
 */
import { isAbsolute, join } from 'node:path';
import { homeFolder } from '@relay/machine';
import { type Clock, type Holders, type Log, type Outside, systemClock } from '@relay/daemon-kit';
import type { AcpAgent } from './acp/agent.ts';
import { type ListingTimings, listedSessions } from './acp/listing.ts';
import type { Preset } from './acp/presets.ts';
import { historyOf } from './history/readers.ts';
import { type ProjectRules, isAllowed } from './project.ts';

interface DeskOptions {
  agent: AcpAgent;
  preset: Preset | undefined;
  /** The whole environment of the agent: its variables can move its files. */
  env: NodeJS.ProcessEnv;
  rules: ProjectRules;
  holders?: Holders;
  log: Log;
  clock?: Clock;
  timings?: Partial<ListingTimings>;
}

export function deskOf({
  agent,
  preset,
  env,
  rules,
  holders,
  log,
  clock = systemClock,
  timings = {},
}: DeskOptions): Outside {
  const marks = (preset?.marks ?? []).map((path) => placed(path, env));
  return within(historyOf(preset, env, holders) ?? listedSessions({ agent, marks, clock, log, timings }), rules);
}

function placed(path: string, env: NodeJS.ProcessEnv): string {
  const home = homeFolder(env);
  const data = env.XDG_DATA_HOME && isAbsolute(env.XDG_DATA_HOME) ? env.XDG_DATA_HOME : join(home, '.local', 'share');
  return path.replace('{home}', home).replace('{data}', data);
}

/** The sessions inside the folders that the user allowed: the rest is neither listed nor read. */
function within(outside: Outside, rules: ProjectRules): Outside {
  /** Sessions that apps can see. */
  let allowed = new Set<string>();
  return {
    sessions() {
      const sessions = outside.sessions().filter(({ projectPath }) => isAllowed(projectPath, rules));
      allowed = new Set(sessions.map(({ sessionId }) => sessionId));
      return sessions;
    },
    stamp: (sessionId) => (allowed.has(sessionId) ? outside.stamp(sessionId) : undefined),
    read(sessionId, before) {
      if (!allowed.has(sessionId)) return undefined;
      const found = outside.read(sessionId, before);
      return found && isAllowed(found.projectPath, rules) ? found : undefined;
    },
    refresh: () => outside.refresh?.() ?? Promise.resolve(false),
    fetch: (sessionId, since) => (allowed.has(sessionId) ? outside.fetch?.(sessionId, since) : undefined),
  };
}
