/** Authenticates an upgrade on `/acp/<deviceId>` and finds its agent, or refuses it before a socket exists (rules, 18.9). */
import type { IncomingMessage } from 'node:http';
import { type Device, deviceFor } from '@relay/acp';
import { AuthError, type UserPrincipal, bearerFrom, hashAcpToken, isAcpToken } from '@relay/auth';
import { findDevice, useAcpToken } from '@relay/database';
import { RelayError, limits } from '@relay/protocol';
import { acpLogin } from '../account/end-acp-tokens.ts';
import { bearerPrefix, principalOfTicket, protocolsOf, subprotocol } from '../attention/upgrade.ts';
import type { ApiDeps } from '../deps.ts';
import { requireScopeAt } from '../http/audit.ts';
import { verifyUserToken } from '../http/authenticate.ts';
import { toRelayError } from '../http/errors.ts';
import { requireAllowedOrigin } from '../http/origins.ts';

export const acpPath = '/acp/';
/** In order of preference; ACP clients offer the first. */
const subprotocols = ['acp.v1', subprotocol];

interface AcpPeer {
  principal: UserPrincipal;
  /** The token of an ACP client, if it came with one. */
  tokenId: string | undefined;
  device: Device;
  /** Folder on the device for every session. */
  cwd: string | undefined;
  /** How long a prompt waits for an offline device, in seconds. */
  queueSeconds: number;
  /** The subprotocol to answer with, if the client offered any. */
  protocol: string | undefined;
}

/**
 * @throws RelayError ORIGIN_NOT_ALLOWED, INVALID_REQUEST, DEVICE_NOT_FOUND, AGENT_NOT_OFFERED, INSUFFICIENT_SCOPE; with status 401 and the address
 *   of the metadata (RFC 9728) for a credential that is missing or not good
 */
export async function authenticateAcp(request: IncomingMessage, deps: ApiDeps): Promise<AcpPeer> {
  requireAllowedOrigin(request, deps.config);
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://relay');
  const deviceId = decodeURIComponent(pathname.slice(acpPath.length));
  const { principal, token } = await credentialOf(request, query, deps).catch((error: unknown) => {
    throw withMetadata(error, deps.config.publicUrl);
  });
  await requireScopeAt(deps, { name: 'acp', request }, principal, 'sessions:read');
  const isOfDevice = token === undefined || token.deviceId === deviceId;
  const found = isOfDevice ? await findDevice(deps.database, principal.userId, deviceId) : undefined;
  if (!found) throw new RelayError('DEVICE_NOT_FOUND');
  const device = deviceFor(found, query.get('agent') ?? undefined);
  if (!device) throw new RelayError('AGENT_NOT_OFFERED');
  const offered = protocolsOf(request);
  return {
    principal,
    tokenId: token?.id,
    device,
    cwd: cwdOf(query.get('cwd')),
    queueSeconds: queueOf(query.get('queue')),
    protocol: subprotocols.find((name) => offered.includes(name)),
  };
}

async function credentialOf(
  request: IncomingMessage,
  query: URLSearchParams,
  deps: ApiDeps,
): Promise<{ principal: UserPrincipal; token?: { id: string; deviceId: string } }> {
  if (query.has('token') || query.has('access_token'))
    throw new RelayError(
      'INVALID_REQUEST',
      'A token in an address ends up in logs. Send it as a header or a subprotocol.',
    );
  const header = request.headers.authorization;
  const bearers = protocolsOf(request).filter((name) => name.startsWith(bearerPrefix));
  const tickets = query.getAll('ticket');
  const count = bearers.length + tickets.length + (header === undefined ? 0 : 1);
  if (count > 1) throw new RelayError('INVALID_REQUEST', 'Send one credential: a header, a subprotocol or a ticket.');
  if (tickets[0] !== undefined) return { principal: await principalOfTicket(tickets[0], deps) };
  if (count === 0)
    throw new RelayError('UNAUTHORIZED', 'Send a token of an ACP client ("relay acp-token") or an access token.');
  const token = header === undefined ? bearers[0]!.slice(bearerPrefix.length) : bearerFrom(header);
  if (token === undefined) throw new AuthError('INVALID_TOKEN', 'The Authorization header must be "Bearer <token>".');
  if (!isAcpToken(token)) return { principal: await verifyUserToken(token, deps.jwtVerifier) };
  const acpToken = await useAcpToken(deps.database, hashAcpToken(token));
  if (!acpToken)
    throw new AuthError(
      'INVALID_TOKEN',
      'This token was revoked, or not used for 90 days. Make another one: relay acp-token.',
    );
  const { id, userId, scopes, createdAt } = acpToken;
  const principal: UserPrincipal = {
    kind: 'user',
    ...{ userId, issuer: deps.config.publicUrl, subject: userId },
    // A token of an ACP client can read the folders of its one device.
    scopes: new Set([...scopes, 'devices:read']),
    sessionId: acpLogin(id),
    clientId: 'acp-client',
    issuedAt: new Date(createdAt).getTime(),
    // It stays valid while it is used; the live connection checks it again.
    expiresAt: Number.MAX_SAFE_INTEGER,
  };
  return { principal, token: acpToken };
}

/** Where a client finds who signs people in. */
function withMetadata(error: unknown, publicUrl: string): RelayError {
  const relayError = toRelayError(error);
  if (relayError.status !== 401) return relayError;
  const why = relayError.code === 'UNAUTHORIZED' ? '' : 'error="invalid_token", ';
  const metadata = `${publicUrl}/.well-known/oauth-protected-resource/acp`;
  return relayError.withHeaders({ 'WWW-Authenticate': `Bearer ${why}resource_metadata="${metadata}"` });
}

function cwdOf(text: string | null): string | undefined {
  if (text === null || text === '') return undefined;
  if (text.length > limits.pathCharacters || text.includes('\u0000'))
    throw new RelayError('INVALID_REQUEST', '"cwd" must be a folder on the device.');
  return text;
}

function queueOf(text: string | null): number {
  if (text === null) return 0;
  if (!/^\d{1,6}$/.test(text) || Number(text) > limits.queueTtlSeconds)
    throw new RelayError('INVALID_REQUEST', `"queue" must be a number of seconds up to ${limits.queueTtlSeconds}.`);
  return Number(text);
}
