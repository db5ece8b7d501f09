/** Search in the transcripts of a device, which its daemon has: the relay keeps only the last message of a session (rules, 6.28). */
import { capabilitiesOf, findDevice, findNativeSession } from '@relay/database';
import { RelayError, type SearchHits, capabilities } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon } from '../sessions/ask-daemon.ts';

/**
 * GET /api/devices/:id/search. Sessions that the relay does not show, or no longer, are left out.
 * @throws RelayError DEVICE_NOT_FOUND, NOT_SUPPORTED_BY_DEVICE, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR
 */
export async function searchMessages(
  deps: Operations,
  userId: string,
  deviceId: string,
  query: string,
): Promise<SearchHits> {
  const db = deps.database;
  const device = await findDevice(db, userId, deviceId);
  if (!device) throw new RelayError('DEVICE_NOT_FOUND');
  if (!(await capabilitiesOf(db, device.id)).includes(capabilities.search))
    throw new RelayError('NOT_SUPPORTED_BY_DEVICE');
  const { hits, more } = await askDaemon(deps, device.id, { v: 1, kind: 'ask_search', query }, 'device_hits');
  const nativeIds = [...new Set(hits.map(({ sessionId }) => sessionId))];
  const records = await Promise.all(nativeIds.map((nativeId) => findNativeSession(db, device.id, nativeId)));
  const sessions = new Map(nativeIds.map((nativeId, at) => [nativeId, records[at]?.session]));
  const shown = hits.flatMap(({ sessionId, ...hit }) => {
    const session = sessions.get(sessionId);
    return session ? [{ sessionId: session.id, title: session.title, ...hit }] : [];
  });
  return { hits: shown, ...(more ? { more } : {}) };
}
