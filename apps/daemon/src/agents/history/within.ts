/** The sessions that an agent keeps by itself inside the folders that the user allowed: the rest is neither listed nor read. */
import type { Outside } from '@relay/daemon-kit';
import { type ProjectRules, isAllowed } from '../project.ts';

export function within(outside: Outside, rules: ProjectRules): Outside {
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
