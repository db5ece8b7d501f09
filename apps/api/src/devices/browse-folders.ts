/**
 * The folders of a device: where its sessions worked, from the database, and the folders below a path, from its daemon (rules,
 * 6.26).
 */
import { capabilitiesOf, findDevice, recentFolders } from '@relay/database';
import { type FolderList, RelayError, capabilities } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon } from '../sessions/ask-daemon.ts';

/**
 * GET /api/devices/:id/folders. Asks no daemon without `path`.
 * @throws RelayError DEVICE_NOT_FOUND; with `path` also FOLDER_NOT_FOUND, NOT_SUPPORTED_BY_DEVICE, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR
 */
export async function browseFolders(
  deps: Operations,
  userId: string,
  deviceId: string,
  path: string | undefined,
): Promise<FolderList> {
  const db = deps.database;
  const device = await findDevice(db, userId, deviceId);
  if (!device) throw new RelayError('DEVICE_NOT_FOUND');
  if (path !== undefined && !(await capabilitiesOf(db, device.id)).includes(capabilities.browse))
    throw new RelayError('NOT_SUPPORTED_BY_DEVICE');
  const recent = await recentFolders(db, userId, device.id);
  if (path === undefined) return { recent };
  const answer = await askDaemon(deps, device.id, { v: 1, kind: 'ask_folders', path }, 'device_folders');
  const { path: at, parent, folders, more } = answer;
  return {
    recent,
    browsed: {
      ...(at === undefined ? {} : { path: at }),
      ...(parent === undefined ? {} : { parent }),
      folders,
      ...(more ? { more } : {}),
    },
  };
}
