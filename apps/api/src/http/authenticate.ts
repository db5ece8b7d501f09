/** Authenticates an HTTP request: an access token of a user, or the refresh token of a device (rules, 8.1 and 7.7). */
import type { IncomingMessage } from 'node:http';
import { AuthError, type JwtVerifier, type Scope, type UserPrincipal, bearerFrom, isDeviceToken } from '@relay/auth';
import { RelayError } from '@relay/protocol';
import type { AnswerClaims, AnswerTokens } from '../push/answer-tokens.ts';

/** The challenge for a request without a credential (RFC 6750 §3). */
export const challenge = { 'WWW-Authenticate': 'Bearer' };

/**
 * The user who sent this request.
 * @throws RelayError UNAUTHORIZED (no credential), DEVICE_TOKEN_NOT_ALLOWED; AuthError of the verifier
 */
export async function authenticateUser(request: IncomingMessage, verifier: JwtVerifier): Promise<UserPrincipal> {
  return verifyUserToken(requireBearer(request, 'access token'), verifier);
}

/** The token of the Authorization header. @throws RelayError UNAUTHORIZED (no header); AuthError INVALID_TOKEN */
function requireBearer({ headers: { authorization } }: IncomingMessage, name: string): string {
  if (authorization === undefined)
    throw new RelayError('UNAUTHORIZED', `Send "Authorization: Bearer <${name}>".`, { headers: challenge });
  const token = bearerFrom(authorization);
  if (token === undefined) throw new AuthError('INVALID_TOKEN', `The Authorization header must be "Bearer <${name}>".`);
  return token;
}

/** @throws RelayError DEVICE_TOKEN_NOT_ALLOWED; AuthError of the verifier */
export async function verifyUserToken(token: string, verifier: JwtVerifier): Promise<UserPrincipal> {
  if (isDeviceToken(token)) {
    throw new RelayError('DEVICE_TOKEN_NOT_ALLOWED');
  }
  return verifier.verify(token);
}

/**
 * The answer offered by a notification, by its one-use token. `tokens` undefined: this relay makes no such tokens.
 * @throws RelayError UNAUTHORIZED (no credential); AuthError of `AnswerTokens.verify`
 */
export async function authenticateAnswer(
  request: IncomingMessage,
  tokens: AnswerTokens | undefined,
): Promise<AnswerClaims> {
  const token = requireBearer(request, 'token of the notification');
  if (tokens === undefined) throw new AuthError('INVALID_TOKEN', 'This relay makes no tokens for answers.');
  return tokens.verify(token);
}

/** @throws RelayError INSUFFICIENT_SCOPE, with the scope in `WWW-Authenticate` (RFC 6750 §3) */
export function requireScope(principal: UserPrincipal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  throw new RelayError('INSUFFICIENT_SCOPE', `This token lacks the scope "${scope}". Sign in again and grant it.`, {
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  });
}
