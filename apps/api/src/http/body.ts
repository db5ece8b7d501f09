/** The body of a request: JSON, at most 1 MiB, valid UTF-8, an object. The only file that knows the body parser. */
import express, { type Request, type Response } from 'express';
import { RelayError, limits, parseJson } from '@relay/protocol';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const collect = express.raw({ type: () => true, limit: limits.requestBodyBytes });

/** @throws RelayError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_REQUEST. No body at all is an empty object. */
export async function readJson(request: Request, response: Response): Promise<Record<string, unknown>> {
  await new Promise<void>((resolve, reject) => {
    collect(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(refusalOf(error))));
  });
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

/** Errors of the body parser carry a status, and most of them a `type` (body-parser's documentation). */
function refusalOf(error: unknown): Error {
  const { type, status } = error as { type?: unknown; status?: unknown };
  if (type === 'entity.too.large') return new RelayError('PAYLOAD_TOO_LARGE', 'The body exceeds 1 MiB.');
  if (type === 'encoding.unsupported')
    return new RelayError('UNSUPPORTED_MEDIA_TYPE', 'Use no Content-Encoding, or gzip, deflate or br.');
  if (typeof status === 'number' && status < 500)
    return new RelayError('INVALID_REQUEST', 'The body did not arrive completely, or not in its Content-Encoding.');
  return error as Error;
}
