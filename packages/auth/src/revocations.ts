/** The sign-ins and people that were revoked recently. In the memory of one instance; a revocation must reach each of several instances. */
import type { UserPrincipal } from './principal.ts';

/**
 * Lifetime of an access token of the built-in sign-in: ten minutes (rules, 8.5), the tolerance of five seconds, and the
 * clock difference of two instances.
 */
const memoryMs = 11 * 60_000;
const maxRemembered = 100_000;

interface Limits {
  /** Only tokens issued before this time, milliseconds since 1970. */
  readonly before?: number;
}

/**
 * One sign-in of a browser or of a program (claim `sid` or `chain`; every token of it unless `before` is given), or one person (`UserPrincipal.userId`; tokens issued
 * until now unless `before` is given), perhaps only with one program (claim `client_id`).
 */
export type Revocation =
  (Limits & { readonly sid: string }) | (Limits & { readonly user: string; readonly client?: string });

interface Revocations {
  /** Remembered for eleven minutes, 100,000 at most, the oldest forgotten first. A second one for the same only ever reaches further. */
  add(revocation: Revocation): void;
  covers(principal: UserPrincipal): boolean;
}

interface Remembered {
  readonly before: number;
  readonly until: number;
}

const key = (kind: 'sid' | 'user', name: string, client?: string): string =>
  JSON.stringify([kind, name, client ?? null]);

export function createRevocations(clock: () => number): Revocations {
  /** In order of expiry, because all have the same lifetime. */
  const remembered = new Map<string, Remembered>();

  function forgetEnded(now: number): void {
    for (const [name, { until }] of remembered) {
      if (until > now && remembered.size <= maxRemembered) return;
      remembered.delete(name);
    }
  }

  function matches(name: string, issuedAt: number): boolean {
    const entry = remembered.get(name);
    return entry !== undefined && entry.until > clock() && issuedAt < entry.before;
  }

  return {
    add(revocation) {
      const now = clock();
      const [kind, name] =
        'sid' in revocation ? (['sid', revocation.sid] as const) : (['user', revocation.user] as const);
      const before = revocation.before ?? (kind === 'sid' ? Number.POSITIVE_INFINITY : now);
      const id = key(kind, name, 'user' in revocation ? revocation.client : undefined);
      const previous = remembered.get(id);
      // Delete first: the entry must move to the last position.
      remembered.delete(id);
      remembered.set(id, { before: Math.max(before, previous?.before ?? before), until: now + memoryMs });
      forgetEnded(now);
    },
    covers({ userId, sessionId, chainId, clientId, issuedAt }) {
      if (remembered.size === 0) return false;
      if (matches(key('user', userId), issuedAt)) return true;
      if (clientId !== undefined && matches(key('user', userId, clientId), issuedAt)) return true;
      return [sessionId, chainId].some((one) => one !== undefined && matches(key('sid', one), issuedAt));
    },
  };
}
