/**
 * The second step of a sign-in with a password (rules, 8.22): one-time codes of an authenticator app, or a recovery code. The
 * plugin of the library makes, keeps and checks them; this file adds its missing rules: a code counts once, and no other path
 * leads to a sign-in.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import {
  factorsSealedOtherwise,
  finishSecondFactor,
  hasSecondFactor,
  isOneTimeCodeUsed,
  resealFactor,
  sealedRecoveryCodes,
  sealedFactor,
  useOneTimeCode,
  useRecoveryCode,
} from '@relay/database';
import type { GenericEndpointContext } from 'better-auth';
import { APIError } from 'better-auth/api';
import { symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';
import { twoFactor } from 'better-auth/plugins';
import type { IdentityDeps } from './deps.ts';
import { passkeySentences, signInWithPasskey } from './passkeys.ts';
import { isRecentLogin } from './recent-login.ts';

type Deps = Pick<IdentityDeps, 'database'>;

/** A code is taken in its own half minute, and in the ones before and after. Clocks of instances differ, so it is remembered for longer. */
const codeLifeMs = 10 * 60_000;

/** `publicUrl`: its host names the account in the authenticator app, where a colon would cut the name. */
export const secondFactorPlugin = (publicUrl: string) =>
  twoFactor({
    issuer: `Relay ${new URL(publicUrl).hostname}`,
    backupCodeOptions: { amount: 10, storeBackupCodes: 'encrypted' },
    schema: { twoFactor: { modelName: 'secondFactor' } },
  });

export const verifyCode = '/two-factor/verify-totp';
export const verifyRecoveryCode = '/two-factor/verify-backup-code';

export const secondSteps: ReadonlySet<string> = new Set([verifyCode, verifyRecoveryCode]);

/**
 * Requests that can sign in a person with a second factor: the code follows, was right, or came before. A passkey is a second
 * factor by itself: it needs the device and, on the device, the person.
 */
const throughTheDoor: ReadonlySet<string> = new Set([
  '/sign-in/email',
  ...secondSteps,
  '/change-password',
  signInWithPasskey,
]);

/** Sentences for the person, by the library's codes. */
const sentences: Readonly<Record<string, string>> = {
  ...passkeySentences,
  INVALID_CODE:
    'This code is wrong. Enter the one that the app shows now, and check the clock of the phone if it is refused again.',
  INVALID_BACKUP_CODE: 'This recovery code is wrong or has already been used.',
  INVALID_TWO_FACTOR_COOKIE: 'This sign-in took too long, or has ended. Start again with the password.',
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: 'Too many wrong codes. Begin again with the password.',
  ACCOUNT_TEMPORARILY_LOCKED: 'Ten wrong codes in a row. Try again in 15 minutes.',
  TOTP_ALREADY_ENABLED: 'One-time codes are on. Turn them off first to use another authenticator app.',
  TOTP_NOT_ENABLED: 'One-time codes are off for this account.',
  TWO_FACTOR_NOT_ENABLED: 'One-time codes are off for this account.',
};

const hashOf = (userId: string, code: unknown) =>
  createHash('sha256')
    .update(`${userId}\n${String(code)}`)
    .digest('base64url');

const codeUsed = () =>
  new APIError('UNAUTHORIZED', {
    code: 'ONE_TIME_CODE_USED',
    message: 'This code has already been used. Wait for the next one in the app.',
  });

/** The text that an AUTH_SECRET of the list encrypted; undefined when it was another one. */
const opened = (ctx: GenericEndpointContext, data: string): Promise<string | undefined> =>
  symmetricDecrypt({ key: ctx.context.secretConfig, data }).catch(() => undefined);

/** The person whose password was right and whose code is awaited, by the cookie of the request; undefined otherwise. */
export async function halfSignedIn(ctx: GenericEndpointContext): Promise<string | undefined> {
  const id = await ctx.getSignedCookie(ctx.context.createAuthCookie('two_factor').name, ctx.context.secret);
  return id ? (await ctx.context.internalAdapter.findVerificationValue(id))?.value : undefined;
}

const unreadable = () =>
  new APIError('CONFLICT', {
    code: 'SECOND_FACTOR_UNREADABLE',
    message:
      'The relay cannot check codes of this account: its AUTH_SECRET was replaced. Ask its operator to reset your second step.',
  });

/** Before a sign-in code is checked: its refusal, after which the sign-in still waits; undefined if the code can be checked. */
export async function refusalOfCode({ database }: Deps, ctx: GenericEndpointContext): Promise<APIError | undefined> {
  const userId = await halfSignedIn(ctx);
  if (userId === undefined) return undefined;
  await finishSecondFactor(database, userId);
  const sealed = await sealedRecoveryCodes(database, userId);
  if (sealed !== undefined && (await opened(ctx, sealed)) === undefined) return unreadable();
  const { code } = (ctx.body ?? {}) as { code?: unknown };
  return (await isOneTimeCodeUsed(database, hashOf(userId, code))) ? codeUsed() : undefined;
}

/**
 * Before a sign-in of this person is stored, by any path; `ctx` is of the request.
 * @throws APIError SECOND_FACTOR_REQUIRED, ONE_TIME_CODE_USED
 */
export async function requireSecondFactor(
  { database }: Deps,
  userId: string,
  ctx: GenericEndpointContext | null,
): Promise<void> {
  if (!(await hasSecondFactor(database, userId))) return;
  if (ctx?.path === verifyCode) {
    const { code } = (ctx.body ?? {}) as { code?: unknown };
    if (!(await useOneTimeCode(database, hashOf(userId, code), codeLifeMs))) throw codeUsed();
  } else if (!throughTheDoor.has(ctx?.path ?? ''))
    throw new APIError('FORBIDDEN', {
      code: 'SECOND_FACTOR_REQUIRED',
      message: 'This account takes a one-time code. Sign in with the password.',
    });
}

const renewCodes = '/two-factor/generate-backup-codes';

/** Requests of a signed-in person that show again who it is, or that change the second factor: the password alone is not enough. */
const withCode: ReadonlySet<string> = new Set(['/relay/confirm', '/two-factor/disable', renewCodes]);

const stepMs = 30_000;

/** Whether it is the one-time code of this secret now, or of the half minute before or after (RFC 6238). */
function isOneTimeCode(secret: string, code: string, now: number): boolean {
  return [-1, 0, 1].some((step) => {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(BigInt(Math.floor(now / stepMs) + step));
    const mac = createHmac('sha1', secret).update(counter).digest();
    const expected = String((mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0');
    return code.length === expected.length && timingSafeEqual(Buffer.from(code), Buffer.from(expected));
  });
}

/**
 * Before a request that needs the second factor beside the password, where the account has one. Takes a one-time code or a recovery code, and
 * uses it up. New recovery codes take a recent sign-in instead of one, too. A wrong password is left to the request, which refuses it: no code is used for it.
 * @throws APIError SECOND_FACTOR_REQUIRED, INVALID_CODE, ONE_TIME_CODE_USED, SECOND_FACTOR_UNREADABLE
 */
export async function requireCodeToo(
  { database }: Deps,
  ctx: GenericEndpointContext,
  { userId, loginId }: { userId: string | undefined; loginId: string | undefined },
): Promise<void> {
  if (userId === undefined || !withCode.has(ctx.path)) return;
  const sealed = await sealedFactor(database, userId);
  if (!sealed) return;
  const { password, code: given } = (ctx.body ?? {}) as { password?: unknown; code?: unknown };
  const hash = (await ctx.context.internalAdapter.findCredentialAccount(userId))?.password;
  if (typeof password !== 'string' || !hash || !(await ctx.context.password.verify({ hash, password }))) return;
  const isGiven = typeof given === 'string' && given.trim() !== '';
  // A sign-in of the last minutes had its second step.
  if (!isGiven && ctx.path === renewCodes && (await isRecentLogin({ database }, loginId))) return;
  if (!isGiven)
    throw new APIError('FORBIDDEN', {
      code: 'SECOND_FACTOR_REQUIRED',
      message: 'This needs a one-time code of your authenticator app, or a recovery code, beside the password.',
    });
  const code = given.replaceAll(/\s/g, '');
  const [secret, codes] = await Promise.all([opened(ctx, sealed.secret), opened(ctx, sealed.backupCodes)]);
  if (secret === undefined || codes === undefined) throw unreadable();
  if (isOneTimeCode(secret, code, Date.now())) {
    if (!(await useOneTimeCode(database, hashOf(userId, code), codeLifeMs))) throw codeUsed();
    return;
  }
  const left = (JSON.parse(codes) as string[]).filter((one) => one !== code);
  const isRecovery = left.length < (JSON.parse(codes) as string[]).length;
  const data = await symmetricEncrypt({ key: ctx.context.secretConfig, data: JSON.stringify(left) });
  if (!isRecovery || !(await useRecoveryCode(database, sealed, data)))
    throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE', message: sentences['INVALID_CODE']! });
}

/** True if the answer of this request, which asks for the code, also removes the sign-in it wrote. */
export const isHalf = async (
  { database }: Deps,
  userId: string,
  ctx: GenericEndpointContext | null,
): Promise<boolean> => ctx?.path === '/sign-in/email' && (await hasSecondFactor(database, userId));

/** Adds advice to the refusal of the library. */
export function explain(refusal: APIError): void {
  const body = refusal.body as { code?: unknown; message?: string } | undefined;
  const sentence = typeof body?.code === 'string' ? sentences[body.code] : undefined;
  if (body && sentence !== undefined) body.message = sentence;
}

/** The state that the account page shows. `recoveryCodesLeft` is missing if AUTH_SECRET has changed since their encryption. */
export async function secondFactorState(
  { database }: Deps,
  userId: string,
  ctx: GenericEndpointContext,
): Promise<{ on: boolean; hasPassword: boolean; recoveryCodesLeft?: number }> {
  const hasPassword = Boolean((await ctx.context.internalAdapter.findCredentialAccount(userId))?.password);
  const data = await sealedRecoveryCodes(database, userId);
  if (data === undefined) return { on: false, hasPassword };
  const codes = await opened(ctx, data);
  return {
    on: true,
    hasPassword,
    ...(codes === undefined ? {} : { recoveryCodesLeft: (JSON.parse(codes) as string[]).length }),
  };
}

type SecretConfig = GenericEndpointContext['context']['secretConfig'];

/**
 * Encrypts rows of later secrets in the list with the first AUTH_SECRET, so that the later ones can be removed. A row that no
 * secret opens stays unchanged.
 */
export async function resealSecondFactors(
  { database, logger }: Pick<IdentityDeps, 'database' | 'logger'>,
  key: SecretConfig,
): Promise<void> {
  if (typeof key === 'string') return;
  const reseal = async (data: string) => symmetricEncrypt({ key, data: await symmetricDecrypt({ key, data }) });
  let unreadable = 0;
  for (let afterId = ''; ;) {
    const rows = await factorsSealedOtherwise(database, `$ba$${key.currentVersion}$`, afterId);
    for (const row of rows) {
      const fresh = await Promise.all([reseal(row.secret), reseal(row.backupCodes)]).catch(() => undefined);
      if (fresh) await resealFactor(database, row, { secret: fresh[0], backupCodes: fresh[1] });
      else unreadable += 1;
    }
    const last = rows.at(-1);
    if (!last) break;
    afterId = last.id;
  }
  if (unreadable > 0)
    logger.warn(
      { people: unreadable },
      'AUTH_SECRET is not the one that encrypted the second factors of some people: relay-admin reset-second-factor removes them',
    );
}
