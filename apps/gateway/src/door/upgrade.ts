/**
 * `/ws/daemon`: headers → who is asking, or a refusal before a socket exists (specification §5.4; rules, 9.1). A ladder of
 * refusals with one success at the bottom. A dependency that is down is 503, never 401: daemons give up after five of those.
 */
import type { IncomingMessage } from 'node:http';
import { AuthError, bearerFrom } from '@relay/auth';
import { isUnavailable } from '@relay/database';
import { RelayError, type ToDaemon, agentsHeader, capabilities, limits, parseAgents } from '@relay/protocol';
import type { RelayConfig } from '@relay/config';
import type { Peer } from '../connection/connection.ts';
import type { GatewayDeps } from './deps.ts';
import { versionStatus } from './version.ts';

/**
 * The daemon is too old. Most daemons understand this only as a frame: 426 is for daemons that request it (rules,
 * 9.14).
 */
export class UpdateRequired extends Error {
  readonly status: ToDaemon<'version_status'>;
  readonly asksFor426: boolean;
  constructor(status: ToDaemon<'version_status'>, asksFor426: boolean) {
    super('update required');
    this.status = status;
    this.asksFor426 = asksFor426;
  }
}

const path = '/ws/daemon';

const header = (request: IncomingMessage, name: string): string => {
  const value = request.headers[name];
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? '';
};

/**
 * Authenticates a connecting daemon.
 * @throws RelayError UNAUTHORIZED, INVALID_TOKEN, TOKEN_REVOKED, TOKEN_EXPIRED (401), FORBIDDEN (403), NOT_FOUND (404), SERVICE_UNAVAILABLE (503)
 * @throws UpdateRequired
 */
export async function authenticateDaemon(
  request: IncomingMessage,
  deps: Pick<GatewayDeps, 'deviceVerifier' | 'config'>,
): Promise<Peer> {
  if (request.url?.split('?', 1)[0] !== path)
    throw new RelayError('NOT_FOUND', `WebSockets of daemons are at ${path}.`);
  const token = bearerFrom(request.headers.authorization);
  if (token === undefined)
    throw new RelayError('UNAUTHORIZED', 'Send the refresh token of the device as "Authorization: Bearer <token>".');
  const deviceId = header(request, 'x-device-id');
  if (deviceId === '') throw new RelayError('UNAUTHORIZED', 'Send the id of the device as "X-Device-ID".');
  const principal = await verify(token, deviceId, deps);
  const agentType = header(request, 'x-agent-type');
  if (agentType !== '' && agentType !== principal.agentType) {
    throw new RelayError(
      'FORBIDDEN',
      `This device is registered for the agent type "${principal.agentType}". Register the other agent as a device of its own.`,
    );
  }
  const daemonVersion = header(request, 'x-daemon-version').slice(0, 64);
  const declared = capabilitiesIn(header(request, 'x-daemon-capabilities'));
  const policy = deps.config.daemonVersions?.[principal.agentType];
  if (policy) {
    const status = versionStatus(daemonVersion, policy);
    if (status.status === 'update_required') throw new UpdateRequired(status, declared.includes(capabilities.refusals));
  }
  return {
    deviceId,
    ownerId: principal.ownerId,
    agentType: principal.agentType,
    daemonVersion,
    capabilities: declared,
    agents: parseAgents(header(request, agentsHeader.toLowerCase())),
    hostname: cleanText(header(request, 'x-daemon-hostname')),
    address: addressOf(request, deps.config.trustProxy),
  };
}

/** Keeps only text that is safe to display unchanged. */
const cleanText = (text: string) => (/^[\x20-\x7e]*$/.test(text) ? text.slice(0, limits.hostnameCharacters) : '');

/**
 * The address that the proxies in front name, else that of the socket. It decides nothing about rights: of several unknown proxies the
 * nearest one is believed.
 */
function addressOf(request: IncomingMessage, trustProxy: RelayConfig['trustProxy']): string {
  const own = request.socket.remoteAddress ?? '';
  if (trustProxy === undefined || trustProxy === false) return own;
  const named = header(request, 'x-forwarded-for').split(',');
  return cleanText((named.at(typeof trustProxy === 'number' ? -trustProxy : -1) ?? '').trim()).slice(0, 64) || own;
}

const none: readonly string[] = [];
const capability = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

/** The capabilities that the daemon declares: a comma-separated list. Skips invalid names. */
function capabilitiesIn(list: string): readonly string[] {
  if (list === '') return none;
  const names = list.split(',').map((name) => name.trim().toLowerCase());
  return [...new Set(names.filter((name) => capability.test(name)))].slice(0, limits.capabilities);
}

async function verify(token: string, deviceId: string, { deviceVerifier }: Pick<GatewayDeps, 'deviceVerifier'>) {
  try {
    return await deviceVerifier.verify(token, deviceId);
  } catch (error) {
    if (error instanceof AuthError && error.code !== 'SERVICE_UNAVAILABLE')
      throw new RelayError(error.code, error.message);
    if (error instanceof AuthError || isUnavailable(error)) {
      throw new RelayError('SERVICE_UNAVAILABLE', { cause: error, retryAfter: 5 });
    }
    throw error;
  }
}
