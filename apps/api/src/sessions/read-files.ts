/** Files of a session are on its machine: this passes the daemon's answers on and keeps nothing (rules, 25.6). */
import { capabilitiesOf } from '@relay/database';
import { type Command, RelayError, capabilities } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon, requireNamed } from './ask-daemon.ts';
import { requirePlace } from './find.ts';

export type FileRequest = Omit<Extract<Command, { kind: 'ask_files' }>, 'v' | 'kind' | 'sessionId'>;

/**
 * The answer as JSON.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, NOT_SUPPORTED_BY_DEVICE, FILE_NOT_FOUND, FILE_HIDDEN, SCOPE_NOT_AVAILABLE,
 *   CHANGES_TOO_LARGE, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
export async function readFiles(
  deps: Operations,
  userId: string,
  sessionId: string,
  question: FileRequest,
): Promise<string> {
  const place = await requirePlace(deps, userId, sessionId);
  const can = await capabilitiesOf(deps.database, place.deviceId);
  const isFiles = question.about === 'files' || question.about === 'file';
  if (!can.includes(capabilities.changes) || (isFiles && !can.includes(capabilities.browse)))
    throw new RelayError('NOT_SUPPORTED_BY_DEVICE');
  requireNamed(place, 'files');
  const given = Object.fromEntries(Object.entries(question).filter(([, value]) => value !== undefined));
  const command = { v: 1, kind: 'ask_files', sessionId: place.nativeId, ...given } as Command;
  return (await askDaemon(deps, place.deviceId, command, 'device_files')).rest;
}
