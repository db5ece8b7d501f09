/**
 * DAEMON_VERSIONS: the accepted versions of each daemon (rules, 9.14). Shape only; comparing versions happens
 * elsewhere.
 */
import type { Parsed } from './variable.ts';

export interface DaemonVersionPolicy {
  min?: string;
  recommended?: string;
  latest?: string;
  changelogUrl?: string;
}

/** Keyed by agent type. An absent agent type has no policy. */
export type DaemonVersions = Readonly<Record<string, DaemonVersionPolicy>>;

const agentTypeShape = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const version = /^\d{1,9}(\.\d{1,9}){0,3}([-+][0-9A-Za-z.+-]{1,64})?$/;
const versionFields = ['min', 'recommended', 'latest'];

function fieldProblem(field: string, value: unknown): string | undefined {
  if (versionFields.includes(field)) {
    return typeof value === 'string' && version.test(value) ? undefined : 'a version such as "1.4.0"';
  }
  if (field !== 'changelogUrl') return `one of ${versionFields.join(', ')}, changelogUrl`;
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value)
    ? undefined
    : 'an http or https address';
}

/** Reads the parsed JSON; the refusal names the agent type and the field. */
export function daemonVersions(value: unknown): Parsed<DaemonVersions> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { expected: 'it is not an object' };
  // A null prototype, so that an agent type called "constructor" finds nothing.
  const versions = Object.create(null) as Record<string, DaemonVersionPolicy>;
  for (const [agentType, policy] of Object.entries(value as Record<string, unknown>)) {
    if (!agentTypeShape.test(agentType)) return { expected: `"${agentType.slice(0, 64)}" is not an agent type` };
    if (typeof policy !== 'object' || policy === null || Array.isArray(policy)) {
      return { expected: `"${agentType}" must be an object` };
    }
    for (const [field, content] of Object.entries(policy as Record<string, unknown>)) {
      const problem = fieldProblem(field, content);
      if (problem) return { expected: `"${field.slice(0, 40)}" of "${agentType}" must be ${problem}` };
    }
    versions[agentType] = policy;
  }
  return { value: versions };
}
