/** Finds names that look like ours and are not: a misspelt variable must stop the start, not be ignored. */
import type { ConfigProblem } from './config-error.ts';

const prefixes = ['RELAY_', 'AUTH_', 'RATE_LIMIT_', 'SESSION_CREATE_', 'SIGN_IN_', 'DRAIN_'];
/** The reference daemon and the command line read these, perhaps started from the same shell. */
const otherPrograms = ['RELAY_DAEMON_', 'RELAY_CLI_'];
const timing = /_(MS|SECONDS)$/;

/** Kubernetes puts such names into every pod beside a Service called relay-… or auth-…; no person wrote them. */
const serviceLink = /_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

const firstWord = (name: string): string => name.slice(0, name.indexOf('_'));

/** Edit distance (Levenshtein), one row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The known name that is written most like `name`; names that begin with the same word come first. */
function nearestName(name: string, declared: readonly string[]): string {
  const related = declared.filter((candidate) => firstWord(candidate) === firstWord(name));
  const candidates = related.length > 0 ? related : declared;
  // Compared in part only: an absurdly long name must not cost time.
  const ranked = candidates.map((candidate) => ({ candidate, far: distance(name.slice(0, 100), candidate) }));
  return ranked.reduce((best, next) => (next.far < best.far ? next : best)).candidate;
}

/**
 * Names in `env` that are not known but claim to be ours: by prefix, or by ending in _MS or _SECONDS and beginning like one
 * of our timings. Values are not looked at, except that an empty variable counts as absent. Sorted by name.
 */
export function unknownVariables(env: NodeJS.ProcessEnv, declared: readonly string[]): ConfigProblem[] {
  const timingWords = new Set(declared.filter((name) => timing.test(name)).map(firstWord));
  const claimsToBeOurs = (name: string): boolean =>
    !serviceLink.test(name) &&
    !otherPrograms.some((prefix) => name.startsWith(prefix)) &&
    (prefixes.some((prefix) => name.startsWith(prefix)) || (timing.test(name) && timingWords.has(firstWord(name))));

  return Object.keys(env)
    .filter((name) => env[name]?.trim() && !declared.includes(name) && claimsToBeOurs(name))
    .sort()
    .map((name) => ({
      variable: name,
      message: `${name} is not a variable of the relay. Did you mean ${nearestName(name, declared)}?`,
    }));
}
