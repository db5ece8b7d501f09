/** Questions and requests that only the daemon of a session can answer: commands after a slash, how full the context is, a summary, releasing it. */
import { capabilitiesOf, readSlashCommands } from '@relay/database';
import {
  type CommandList,
  RelayError,
  type ReleasedSession,
  type SessionContext,
  type SessionSummary,
  type Usage,
  capabilities,
} from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon, requireNamed } from './ask-daemon.ts';
import { requirePlace } from './find.ts';

/** GET /api/sessions/:id/commands. A placeholder has the commands of its device. @throws RelayError SESSION_NOT_FOUND */
export async function listCommands(deps: Operations, userId: string, sessionId: string): Promise<CommandList> {
  const { deviceId, nativeId, projectPath } = await requirePlace(deps, userId, sessionId);
  return { commands: await readSlashCommands(deps.database, deviceId, nativeId, projectPath) };
}

/** Daemons released before `usage_response` are not held to its schema. */
const countOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;

/**
 * GET /api/sessions/:id/context.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, NOT_SUPPORTED_BY_DEVICE, DEVICE_OFFLINE, DEVICE_TIMEOUT,
 *   DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
export async function readContext(deps: Operations, userId: string, sessionId: string): Promise<SessionContext> {
  const place = await requirePlace(deps, userId, sessionId);
  const { deviceId, id, nativeId } = place;
  const declared = await capabilitiesOf(deps.database, deviceId);
  if (!declared.includes(capabilities.usage) && !declared.includes(capabilities.context))
    throw new RelayError('NOT_SUPPORTED_BY_DEVICE');
  requireNamed(place, 'context');
  const command = { v: 1, kind: 'ask_context', sessionId: nativeId } as const;
  const reply = await askDaemon(deps, deviceId, command, 'session_context');
  const context = JSON.parse(reply.context) as Usage;
  return {
    sessionId: id,
    usedTokens: countOf(context.used_tokens),
    maxTokens: countOf(context.max_tokens),
    details: context,
  };
}

/**
 * GET /api/sessions/:id/summary. A daemon that does not know the command does not answer.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, NOT_SUPPORTED_BY_DEVICE, DEVICE_OFFLINE, DEVICE_TIMEOUT,
 *   DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
export async function readSummary(deps: Operations, userId: string, sessionId: string): Promise<SessionSummary> {
  const place = await requirePlace(deps, userId, sessionId);
  const { deviceId, id, nativeId } = place;
  requireNamed(place, 'summary');
  const declared = await capabilitiesOf(deps.database, deviceId);
  if (declared.includes(capabilities.context) && !declared.includes(capabilities.usage))
    throw new RelayError('NOT_SUPPORTED_BY_DEVICE');
  const command = { v: 1, kind: 'ask_summary', sessionId: nativeId } as const;
  const { summary } = await askDaemon(deps, deviceId, command, 'session_summary');
  return { sessionId: id, ...summary };
}

/**
 * POST /api/sessions/:id/release: closes the program on the machine that holds the session. The daemon reports the outcome; a
 * daemon that does not know the command does not answer.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, DEVICE_OFFLINE, DEVICE_TIMEOUT, SERVICE_UNAVAILABLE
 */
export async function releaseSession(
  deps: Operations,
  userId: string,
  sessionId: string,
  stopTurn = false,
): Promise<ReleasedSession> {
  const place = await requirePlace(deps, userId, sessionId);
  requireNamed(place, 'program to end');
  const command = { v: 1, kind: 'release', sessionId: place.nativeId, ...(stopTurn ? { stopTurn } : {}) } as const;
  const { result, detail } = await askDaemon(deps, place.deviceId, command, 'session_released');
  return { sessionId: place.id, result, ...(detail === undefined ? {} : { detail }) };
}
