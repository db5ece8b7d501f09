/**
 * The access token for the next request, renewed before it expires or after it was refused. A new refresh token is on disk before
 * the new access token is used; several processes share one sign-in.
 */
import { Failure } from '@relay/machine';
import { refuseClear } from '../address.ts';
import { exitCodes } from '../failure.ts';
import { uninterrupted } from '../interruption.ts';
import type { Home } from '../home.ts';
import { type Profile, changingProfiles, profileOf, renewProfile } from '../profiles.ts';
import { renew, signInAgain } from './renew.ts';
import { expiryOf } from './token-text.ts';

interface Grant {
  token: string;
  /** Milliseconds since the epoch; undefined if the token has no expiry. */
  expiresAt: number | undefined;
}

export interface Access {
  /** The relay that issued these tokens. */
  readonly url: string;
  /** True if `token` can renew itself. */
  readonly renewable: boolean;
  /**
   * Returns a token valid for `atLeastMs` (default 30 s) if possible, and never the `refused` one. Throws a Failure with
   * exit code 3 if the user must sign in, or 75 if the relay cannot renew now.
   */
  token(wish?: { atLeastMs?: number; refused?: string }): Promise<Grant>;
}

const marginMs = 30_000;

const grantOf = (accessToken: string, expiresAt: string | undefined): Grant => ({
  token: accessToken,
  expiresAt: expiresAt === undefined ? undefined : Date.parse(expiresAt),
});

/** RELAY_CLI_TOKEN takes precedence over the sign-in on disk. @throws Failure INSECURE_ADDRESS */
export function createAccess(url: string, home: Home, env: NodeJS.ProcessEnv): Access {
  const given = env.RELAY_CLI_TOKEN?.trim();
  if (!given) return storedAccess(url, home);
  refuseClear(url, env.RELAY_CLI_INSECURE === '1', 'set RELAY_CLI_INSECURE=1');
  return fixedAccess(url, given);
}

function fixedAccess(url: string, token: string): Access {
  const expiresAt = expiryOf(token);
  return {
    url,
    renewable: false,
    token({ refused } = {}) {
      if (refused !== token && (expiresAt === undefined || Date.parse(expiresAt) > Date.now()))
        return Promise.resolve(grantOf(token, expiresAt));
      return Promise.reject(ended(url, 'The token in RELAY_CLI_TOKEN', 'Set it to a new one.'));
    },
  };
}

const ended = (url: string, what: string, remedy: string) =>
  new Failure('TOKEN_EXPIRED', `${what} is no longer accepted by ${url}. ${remedy}`, exitCodes.notSignedIn);

function storedAccess(url: string, home: Home): Access {
  const stored = (): Profile => {
    const profile = profileOf(home, url);
    if (profile) return profile;
    throw new Failure('NOT_SIGNED_IN', `You are not signed in to ${url}. ${signInAgain(url)}`, exitCodes.notSignedIn);
  };
  const leftMs = ({ expiresAt }: Profile) => (expiresAt === undefined ? Infinity : Date.parse(expiresAt) - Date.now());

  return {
    url,
    get renewable() {
      return stored().renewal !== undefined;
    },
    async token({ atLeastMs = marginMs, refused } = {}) {
      const good = (profile: Profile) => profile.accessToken !== refused && leftMs(profile) > atLeastMs;
      const profile = stored();
      if (good(profile)) return grantOf(profile.accessToken, profile.expiresAt);
      if (!profile.renewal) {
        if (profile.accessToken !== refused && leftMs(profile) > 0)
          return grantOf(profile.accessToken, profile.expiresAt);
        throw ended(url, 'The stored access token', `Run "relay login --url ${url} --token <token>" with a new one.`);
      }
      const renewed = await changingProfiles(home, async () => {
        // Another process may have renewed the token while this one waited.
        const current = stored();
        const { renewal } = current;
        if (good(current) || !renewal) return current;
        // The old refresh token is spent once the relay receives it: the new one must reach the disk.
        return uninterrupted(async () => {
          const fresh = await renewTwice(current, renewal);
          renewProfile(home, fresh);
          return fresh;
        });
      });
      return grantOf(renewed.accessToken, renewed.expiresAt);
    },
  };
}

/** If two calls race on one refresh token, the relay can refuse one; its retry gets the other's answer (ADR 18). */
async function renewTwice(profile: Profile, renewal: NonNullable<Profile['renewal']>): Promise<Profile> {
  try {
    return await renew(profile, renewal);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'SIGNED_OUT') throw error;
    return renew(profile, renewal);
  }
}
