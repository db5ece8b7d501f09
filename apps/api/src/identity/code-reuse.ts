/**
 * A code that arrives twice was stolen, before or after its program used it: the relay revokes the tokens of the first use (RFC
 * 6749 §4.1.2). The library takes back the refresh token; access tokens are refused here.
 */
import { createHash } from 'node:crypto';
import { noteUsedCode, takeUsedCode } from '@relay/database';
import type { IdentityDeps } from './deps.ts';
import { endChain } from './end-sign-in.ts';

/** The name of a chain: the library calls the code so in its rows. */
export const chainOf = (code: string) => createHash('sha256').update(code).digest('base64url');

/** Access tokens live ten minutes: afterwards nothing is left to revoke. */
const rememberedMs = 11 * 60_000;

function subjectOf(accessToken: string): unknown {
  try {
    const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()) as {
      sub?: unknown;
    };
    return claims.sub;
  } catch {
    return undefined;
  }
}

/** A code was exchanged for this access token, which the library has just signed. */
export async function codeUsed(deps: IdentityDeps, code: string, accessToken: string): Promise<void> {
  const subject = subjectOf(accessToken);
  if (typeof subject === 'string') await noteUsedCode(deps.database, chainOf(code), subject, rememberedMs);
}

/** A code was refused: if it was used before, its tokens are revoked. */
export async function codeRefused(deps: IdentityDeps, code: string): Promise<void> {
  const chain = chainOf(code);
  const userId = await takeUsedCode(deps.database, chain);
  if (userId === undefined) return;
  deps.logger.warn({ userId }, 'a code was used twice: the tokens that it brought are refused');
  await endChain(deps, { chain, userId });
}
