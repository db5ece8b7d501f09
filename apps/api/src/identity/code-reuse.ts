/**
 * A code that comes twice was stolen, before or after its program used it: what the first use got ends (RFC 6749 §4.1.2). The
 * library takes back the refresh token; access tokens are refused here.
 */
import { createHash } from 'node:crypto';
import { noteUsedCode, recordRevocations, takeUsedCode } from '@relay/database';
import type { IdentityDeps } from './deps.ts';
import { announce } from './end-sign-in.ts';

const hashOf = (code: string) => createHash('sha256').update(code).digest('hex');

/** Access tokens live ten minutes: afterwards there is nothing to end. */
const rememberedMs = 11 * 60_000;

function claimsOf(accessToken: string): { sub?: unknown; client_id?: unknown } {
  try {
    return JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()) as object;
  } catch {
    return {};
  }
}

/** A code was exchanged for this access token, which the library has just signed. */
export async function codeUsed(deps: IdentityDeps, code: string, accessToken: string): Promise<void> {
  const { sub, client_id: client } = claimsOf(accessToken);
  if (typeof sub !== 'string' || typeof client !== 'string') return;
  await noteUsedCode(deps.database, hashOf(code), { subject: sub, client }, rememberedMs);
}

/** A code was refused: if it was used before, the tokens of that program end. */
export async function codeRefused(deps: IdentityDeps, code: string): Promise<void> {
  const used = await takeUsedCode(deps.database, hashOf(code));
  if (!used) return;
  deps.logger.warn({ client: used.client }, 'a code was used twice: the tokens of its program are refused');
  await recordRevocations(deps.database, [used]);
  await announce(deps, used);
}
