/** Contents that an item names are at its daemon: this asks for a piece of one. Nothing of it is kept here (rules, 10.16). */
import { capabilitiesOf } from '@relay/database';
import { type ItemContent, RelayError, capabilities, transcriptLimits } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon, requireNamed } from './ask-daemon.ts';
import { requirePlace } from './find.ts';

interface ContentRange {
  sessionId: string;
  uuid: string;
  name: string;
  offset?: number;
  limit?: number;
}

/**
 * GET /api/sessions/:id/items/:uuid/content/:name.
 * @throws RelayError SESSION_NOT_FOUND, CONTENT_NOT_FOUND, SESSION_NOT_RESOLVED, NOT_SUPPORTED_BY_DEVICE, DEVICE_OFFLINE, DEVICE_TIMEOUT,
 *   DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
export async function readContent(
  deps: Operations,
  userId: string,
  { sessionId, uuid, name, offset = 0, limit = transcriptLimits.pieceBytes }: ContentRange,
): Promise<ItemContent> {
  const place = await requirePlace(deps, userId, sessionId);
  const { deviceId, id, nativeId } = place;
  if (!(await capabilitiesOf(deps.database, deviceId)).includes(capabilities.content))
    throw new RelayError(
      'NOT_SUPPORTED_BY_DEVICE',
      'The daemon of this device keeps no images and no whole outputs, or does not send them. Update it.',
    );
  requireNamed(place, 'content');
  const command = { v: 1, kind: 'ask_content', sessionId: nativeId, uuid, name, offset, limit } as const;
  const { mime, size, cut, data } = await askDaemon(deps, deviceId, command, 'item_content');
  const end = offset + Buffer.byteLength(data, 'base64');
  const more = end > offset && end < size ? { next: end } : {};
  return { sessionId: id, uuid, name, offset, mime, size, ...(cut ? { cut } : {}), data, ...more };
}
