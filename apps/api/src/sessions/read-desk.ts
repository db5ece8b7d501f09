/** GET and POST /api/sessions/:id/desk (rules, 24.6): how a person continues a session in a terminal. */
import { capabilitiesOf } from '@relay/database';
import { type DeskState, type Held, RelayError, capabilities } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon, requireNamed } from './ask-daemon.ts';
import { requirePlace } from './find.ts';

/**
 * `letGo`: the daemon first releases the session.
 * @throws RelayError SESSION_NOT_FOUND, SESSION_NOT_RESOLVED, NOT_SUPPORTED_BY_DEVICE, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR,
 *   SERVICE_UNAVAILABLE
 */
export async function readDesk(
  deps: Operations,
  userId: string,
  sessionId: string,
  letGo: boolean,
): Promise<DeskState> {
  const place = await requirePlace(deps, userId, sessionId);
  const { deviceId, id, nativeId } = place;
  if (!(await capabilitiesOf(deps.database, deviceId)).includes(capabilities.desk))
    throw new RelayError('NOT_SUPPORTED_BY_DEVICE');
  requireNamed(place, 'command');
  const command = { v: 1, kind: 'ask_desk', sessionId: nativeId, letGo } as const;
  const { free, why, held, command: line, cwd } = await askDaemon(deps, deviceId, command, 'session_desk');
  return {
    sessionId: id,
    free,
    ...(why === undefined ? {} : { why }),
    ...(held === undefined ? {} : { held }),
    ...(line === undefined ? {} : { command: line }),
    ...(cwd === undefined ? {} : { cwd }),
    attach: attachCommand(id),
  };
}

/** The outcome of a request and the program that had the session open, as the audit names them. */
export const holderNote = (result: string, held: Held | undefined): string =>
  [`result=${result}`, held && `program=${held.program}`, held?.terminal && `terminal=${held.terminal}`]
    .filter(Boolean)
    .join(' ')
    .slice(0, 256);

/** An id can hold anything: it is quoted for a shell where that matters. */
const attachCommand = (id: string) =>
  `relay attach ${/^[\w:./-]+$/.test(id) ? id : `'${id.replaceAll("'", String.raw`'\''`)}'`}`;
