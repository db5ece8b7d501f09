/** The body of a request: JSON, at most 1 MiB, valid UTF-8, an object. */
import type { Request } from 'express';
import { RelayError, parseJson } from '@relay/protocol';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws RelayError UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST. No body at all is an empty object. */
export function readJson(request: Request): Record<string, unknown> {
  const bytes: unknown = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return {};
  if (!request.is(['application/json', '+json'])) {
    throw new RelayError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as JSON, with "Content-Type: application/json".');
  }
  let value: unknown;
  try {
    value = parseJson(utf8.decode(bytes));
  } catch {
    throw new RelayError('INVALID_REQUEST', 'The body is not valid JSON in UTF-8.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RelayError('INVALID_REQUEST', 'The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}
