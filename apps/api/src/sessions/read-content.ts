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

/** Asks the daemon for one piece. */
async function pieceOf(
  deps: Operations,
  userId: string,
  { sessionId, uuid, name, offset = 0, limit = transcriptLimits.pieceBytes }: ContentRange,
) {
  const place = await requirePlace(deps, userId, sessionId);
  const { deviceId, id, nativeId } = place;
  if (!(await capabilitiesOf(deps.database, deviceId)).includes(capabilities.content))
    throw new RelayError('NOT_SUPPORTED_BY_DEVICE');
  requireNamed(place, 'content');
  const command = { v: 1, kind: 'ask_content', sessionId: nativeId, uuid, name, offset, limit } as const;
  const { mime, size, cut, name: fileName, data } = await askDaemon(deps, deviceId, command, 'item_content');
  return { sessionId: id, offset, mime, size, cut, fileName, data };
}

/**
 * GET /api/sessions/:id/items/:uuid/content/:name.
 * @throws RelayError SESSION_NOT_FOUND, CONTENT_NOT_FOUND, SESSION_NOT_RESOLVED, NOT_SUPPORTED_BY_DEVICE, DEVICE_OFFLINE, DEVICE_TIMEOUT,
 *   DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
export async function readContent(deps: Operations, userId: string, range: ContentRange): Promise<ItemContent> {
  const { uuid, name } = range;
  const { sessionId, offset, mime, size, cut, data } = await pieceOf(deps, userId, range);
  const end = offset + Buffer.byteLength(data, 'base64');
  const more = end > offset && end < size ? { next: end } : {};
  return { sessionId, uuid, name, offset, mime, size, ...(cut ? { cut } : {}), data, ...more };
}

/**
 * The same with `download=1`: all bytes, piece by piece, with headers that make a browser save them and never show them (rules, 27.7).
 * @throws RelayError as above; the bytes reject when the content is gone or changed in between
 */
export async function downloadContent(
  deps: Operations,
  userId: string,
  range: Pick<ContentRange, 'sessionId' | 'uuid' | 'name'>,
): Promise<{ headers: Readonly<Record<string, string>>; bytes: AsyncIterable<Uint8Array> }> {
  const first = await pieceOf(deps, userId, range);
  const bytes = async function* () {
    let offset = 0;
    for (let piece = first; ; piece = await pieceOf(deps, userId, { ...range, offset })) {
      const part = Buffer.from(piece.data, 'base64');
      if (piece.size !== first.size || (part.length === 0 && offset < first.size))
        throw new RelayError('CONTENT_NOT_FOUND');
      offset += part.length;
      yield part;
      if (offset >= first.size) return;
    }
  };
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Length': String(first.size),
    'Content-Disposition': dispositionOf(first.fileName ?? range.name),
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': 'sandbox',
    'Cache-Control': 'no-store',
  };
  return { headers, bytes: bytes() };
}

/** RFC 6266: an ASCII name, and the whole one in UTF-8 (RFC 8187). */
function dispositionOf(name: string): string {
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.replace(/\p{Cs}/gu, '_')).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
