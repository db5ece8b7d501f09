/** Files for the agents of a device. The relay passes each piece on to the daemon and does not store it (rules, chapter 27). */
import { type Device, RelayError, type FileState, type SendFile, capabilities } from '@relay/protocol';
import { capabilitiesOf, findDevice } from '@relay/database';
import type { Operations } from '../deps.ts';
import { askDaemon } from '../sessions/ask-daemon.ts';

/** @throws RelayError DEVICE_NOT_FOUND, NOT_SUPPORTED_BY_DEVICE */
async function requireFiles(deps: Operations, userId: string, deviceId: string): Promise<Pick<Device, 'id'>> {
  const device = await findDevice(deps.database, userId, deviceId);
  if (!device) throw new RelayError('DEVICE_NOT_FOUND');
  if (!(await capabilitiesOf(deps.database, device.id)).includes(capabilities.files))
    throw new RelayError('NOT_SUPPORTED_BY_DEVICE');
  return device;
}

/** @throws RelayError also INVALID_FILE, FILE_TOO_LARGE, DEVICE_FULL, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR */
export async function sendFile(deps: Operations, userId: string, deviceId: string, file: SendFile): Promise<FileState> {
  const { id } = await requireFiles(deps, userId, deviceId);
  const { fileId, name, size, mime } = file;
  const about = { fileId, name, size, ...(mime === undefined ? {} : { mime }) };
  return stateOf(fileId, await askDaemon(deps, id, { v: 1, kind: 'send_file', ...about }, 'device_file'));
}

/**
 * Passes a piece on; an empty piece only asks for the state.
 * @throws RelayError also FILE_NOT_FOUND, FILE_INCOMPLETE, INVALID_FILE, DEVICE_FULL, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR
 */
export async function sendPiece(
  deps: Operations,
  userId: string,
  deviceId: string,
  { fileId, offset, bytes }: { fileId: string; offset: number; bytes: Uint8Array },
): Promise<FileState> {
  const { id } = await requireFiles(deps, userId, deviceId);
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return stateOf(fileId, await askDaemon(deps, id, { v: 1, kind: 'send_piece', fileId, offset, data }, 'device_file'));
}

/** @throws RelayError DEVICE_NOT_FOUND, NOT_SUPPORTED_BY_DEVICE */
export async function dropFile(deps: Operations, userId: string, deviceId: string, fileId: string): Promise<void> {
  const { id } = await requireFiles(deps, userId, deviceId);
  deps.sendCommand(id, { v: 1, kind: 'drop_file', fileId });
}

const stateOf = (fileId: string, { received, done, name, sha256 }: Omit<FileState, 'fileId'>): FileState => ({
  fileId,
  received,
  done,
  ...(name === undefined ? {} : { name }),
  ...(sha256 === undefined ? {} : { sha256 }),
});
