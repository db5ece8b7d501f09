/**
 * Passkeys (rules, 8.25): a person signs in with their phone, their computer or a key instead of the password. The plugin of the
 * library makes and checks them; this file adds its missing rules: the device must have checked the person, a passkey belongs to
 * a password, and their number is bounded.
 */
import { passkey } from '@better-auth/passkey';
import { countPasskeys, findPasskeyOwner, markPasskeyUsed, removePasskey } from '@relay/database';
import type { GenericEndpointContext } from 'better-auth';
import { APIError, getSessionFromCtx } from 'better-auth/api';
import type { IdentityDeps } from './deps.ts';
import { requireRecentLogin } from './recent-login.ts';

const maxPasskeys = 20;

export const addPasskey = '/passkey/verify-registration';
export const signInWithPasskey = '/passkey/verify-authentication';

/** Requests of a person who adds one. */
const adding: ReadonlySet<string> = new Set(['/passkey/generate-register-options', addPasskey]);

const refused = (code: string, message: string) => new APIError('FORBIDDEN', { code, message });

/** A passkey used without a check of the person would be worth less than a password. */
function requireCheckedPerson(userVerified: boolean): void {
  if (userVerified) return;
  throw refused(
    'PASSKEY_UNVERIFIED',
    'The device did not check that it is you. Set up its screen lock, fingerprint or PIN, and try again.',
  );
}

const tooMany = () => refused('TOO_MANY_PASSKEYS', `You have ${maxPasskeys} passkeys. Remove one first.`);

/**
 * After the library has written a passkey: takes it back where others were added at the same time. The library counts before it writes.
 * @throws APIError TOO_MANY_PASSKEYS
 */
export async function requireRoomForPasskey(
  { database }: Pick<IdentityDeps, 'database'>,
  added: unknown,
): Promise<void> {
  const { id, userId } = (added ?? {}) as { id?: unknown; userId?: unknown };
  if (typeof id !== 'string' || typeof userId !== 'string') return;
  if ((await countPasskeys(database, userId)) <= maxPasskeys) return;
  await removePasskey(database, userId, id);
  throw tooMany();
}

export function passkeyPlugin({ config, database }: Pick<IdentityDeps, 'config' | 'database'>) {
  const { hostname, origin } = new URL(config.publicUrl);
  return passkey({
    rpID: hostname,
    rpName: `Relay ${hostname}`,
    origin,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    registration: {
      afterVerification: async ({ verification, user }) => {
        requireCheckedPerson(verification.registrationInfo?.userVerified === true);
        if ((await countPasskeys(database, user.id)) >= maxPasskeys) throw tooMany();
      },
    },
    authentication: {
      afterVerification: async ({ verification }) => {
        const { userVerified, credentialID } = verification.authenticationInfo;
        requireCheckedPerson(userVerified);
        await markPasskeyUsed(database, credentialID);
      },
    },
    advanced: { webAuthnChallengeCookie: 'passkey' },
  });
}

/**
 * Before a request to `ctx.path`: checks that this person can add a passkey. @throws RelayError SIGN_IN_NOT_RECENT; APIError
 * PASSWORD_REQUIRED
 */
export async function requireMayAdd(deps: IdentityDeps, ctx: GenericEndpointContext): Promise<void> {
  if (!adding.has(ctx.path)) return;
  const signedIn = await getSessionFromCtx(ctx);
  if (!signedIn) return;
  await requireRecentLogin(deps, signedIn.session.id);
  // Another service that locks its person out locks them out here.
  if ((await ctx.context.internalAdapter.findCredentialAccount(signedIn.user.id))?.password) return;
  throw refused('PASSWORD_REQUIRED', 'You sign in with another service. Use a passkey there.');
}

/** The person whose passkey a sign-in shows, whether or not it is good. */
export async function ownerOfShownPasskey(
  { database }: Pick<IdentityDeps, 'database'>,
  body: unknown,
): Promise<string | undefined> {
  const { response } = (body ?? {}) as { response?: { id?: unknown } };
  return typeof response?.id === 'string' ? findPasskeyOwner(database, response.id) : undefined;
}

/** Sentences for the person, by the library's codes. */
export const passkeySentences: Readonly<Record<string, string>> = {
  PASSKEY_NOT_FOUND: 'This passkey was removed from the account. Sign in with your password.',
  CHALLENGE_NOT_FOUND: 'That took too long. Try again.',
  AUTHENTICATION_FAILED: 'This passkey was not accepted. Try again, or sign in with your password.',
};
