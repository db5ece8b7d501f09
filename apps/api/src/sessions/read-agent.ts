/** What the agent of a session understands after a slash, and how full its context is. Both are the daemon's to tell. */
import { capabilitiesOf, readSlashCommands } from '@relay/database';
import { type CommandList, type Context, RelayError, type SessionContext, capabilities } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon, requireNamed } from './ask-daemon.ts';
import { requireSession } from './find.ts';

/** GET /api/sessions/:id/commands. A placeholder has those of its device. @throws RelayError SESSION_NOT_FOUND */
export async function listCommands(deps: Operations, userId: string, sessionId: string): Promise<CommandList> {
  const db = deps.database.prisma;
  const { session, nativeId } = await requireSession(db, userId, sessionId);
  return { commands: await readSlashCommands(db, session.deviceId, nativeId) };
}

/**
 * GET /api/sessions/:id/context.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, NOT_SUPPORTED_BY_DEVICE, DEVICE_OFFLINE, DEVICE_TIMEOUT,
 *   DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
export async function readContext(deps: Operations, userId: string, sessionId: string): Promise<SessionContext> {
  const db = deps.database.prisma;
  const record = await requireSession(db, userId, sessionId);
  const { deviceId, id } = record.session;
  if (!(await capabilitiesOf(db, deviceId)).includes(capabilities.context))
    throw new RelayError(
      'NOT_SUPPORTED_BY_DEVICE',
      'The daemon of this device does not tell the context of a session: it did not declare "context".',
    );
  requireNamed(record, 'context');
  const command = { v: 1, kind: 'ask_context', sessionId: record.nativeId } as const;
  const reply = await askDaemon(deps, deviceId, command, 'session_context');
  const context = JSON.parse(reply.context) as Context;
  return {
    sessionId: id,
    usedTokens: context.used_tokens ?? null,
    maxTokens: context.max_tokens ?? null,
    details: context,
  };
}
