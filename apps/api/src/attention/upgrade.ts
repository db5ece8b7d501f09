/** `/ws/attention`: who is connecting, or a refusal before a socket exists (rules, 11.1). Exactly one credential, of four kinds. */
import type { IncomingMessage } from 'node:http';
import { AuthError, type UserPrincipal } from '@relay/auth';
import { RelayError } from '@relay/protocol';
import type { ApiDeps } from '../deps.ts';
import { authenticateUser, challenge, verifyUserToken } from '../http/authenticate.ts';
import { requireScopeAt } from '../http/audit.ts';
import { requireAllowedOrigin } from '../http/origins.ts';
import { redeemTicket } from './tickets.ts';

interface AppPeer {
  principal: UserPrincipal;
  /** The subprotocol to answer with, if the client offered any. */
  protocol: string | undefined;
  /** Present when the client understands offsets; empty for "from now on". */
  since: string | undefined;
  wantsOutput: boolean;
  wantsTranscript: boolean;
}

export const subprotocol = 'relay.v1';
export const bearerPrefix = 'bearer.';

export const protocolsOf = (request: IncomingMessage) =>
  (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/**
 * @throws RelayError ORIGIN_NOT_ALLOWED, INVALID_REQUEST (two credentials), UNAUTHORIZED, INVALID_TOKEN,
 *   INSUFFICIENT_SCOPE; AuthError of the verifier, for tickets and for a credential of a device
 */
export async function authenticateApp(request: IncomingMessage, deps: ApiDeps): Promise<AppPeer> {
  requireAllowedOrigin(request, deps.config);
  const query = new URL(request.url ?? '/', 'http://relay').searchParams;
  const offered = protocolsOf(request);
  const tokens = [
    ...offered.filter((name) => name.startsWith(bearerPrefix)).map((name) => name.slice(bearerPrefix.length)),
    ...query.getAll('access_token'),
    ...query.getAll('token'),
  ];
  const tickets = query.getAll('ticket');
  const header = request.headers.authorization;
  if (tokens.length + tickets.length + (header === undefined ? 0 : 1) > 1) {
    throw new RelayError(
      'INVALID_REQUEST',
      'Send one credential: a header, a subprotocol, a ticket or a query parameter.',
    );
  }
  const principal = await (
    header === undefined ? principalOf(tokens[0], tickets[0], deps) : authenticateUser(request, deps.jwtVerifier)
  ).catch((error: unknown) => {
    // The specification has one answer for a token that opens no socket of an app.
    if (error instanceof RelayError && error.code === 'DEVICE_TOKEN_NOT_ALLOWED')
      throw new AuthError('INVALID_TOKEN', error.message);
    throw error;
  });
  await requireScopeAt(deps, { name: 'attention', request }, principal, 'sessions:read');
  const events = (query.get('events') ?? '').split(',');
  return {
    principal,
    protocol: offered.includes(subprotocol) ? subprotocol : undefined,
    since: query.get('since') ?? undefined,
    wantsOutput: events.includes('output'),
    wantsTranscript: events.includes('transcript'),
  };
}

/** Returns the user the ticket was issued to. @throws AuthError */
export async function principalOfTicket(ticket: string, deps: ApiDeps): Promise<UserPrincipal> {
  const principal = await redeemTicket(deps, ticket);
  if (!principal)
    throw new AuthError(
      'INVALID_TOKEN',
      'This ticket was used or has expired. Get a new one from POST /api/ws-tickets.',
    );
  if (deps.jwtVerifier.isRevoked(principal)) throw new AuthError('TOKEN_REVOKED');
  return principal;
}

async function principalOf(
  token: string | undefined,
  ticket: string | undefined,
  deps: ApiDeps,
): Promise<UserPrincipal> {
  if (ticket !== undefined) return principalOfTicket(ticket, deps);
  if (token === undefined || token === '') {
    throw new RelayError(
      'UNAUTHORIZED',
      'Send an access token: as a header, a subprotocol, a ticket or the query parameter access_token.',
      { headers: challenge },
    );
  }
  return verifyUserToken(token, deps.jwtVerifier);
}
