/** The body of a request: bytes, or JSON in valid UTF-8 that is an object. The only file that knows the body parser. */
import express, { type Request, type Response } from 'express';
import { RelayError, limits, parseJson } from '@relay/protocol';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const empty = Buffer.alloc(0);

/** Reads bodies of at most `maxBytes`, whatever is in them. */
export function bodyReader(maxBytes: number): (request: Request, response: Response) => Promise<Buffer> {
  const collect = express.raw({ type: () => true, limit: maxBytes });
  /** @throws RelayError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_REQUEST. No body at all is an empty buffer. */
  return async (request, response) => {
    await new Promise<void>((resolve, reject) => {
      collect(request, response, (error?: unknown) =>
        error === undefined ? resolve() : reject(refusalOf(error, maxBytes)),
      );
    });
    const bytes: unknown = request.body;
    return Buffer.isBuffer(bytes) ? bytes : empty;
  };
}

type ReadJson = (request: Request, response: Response) => Promise<Record<string, unknown>>;

/**
 * Reads JSON. Only what a large field holds may make a body larger than the usual.
 * @throws RelayError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_REQUEST. No body at all is an empty object.
 */
export function jsonReader(largeField?: string): ReadJson {
  if (largeField === undefined) {
    const read = bodyReader(limits.requestBodyBytes);
    return async (request, response) => jsonIn(request, await read(request, response));
  }
  const read = bodyReader(limits.imageRequestBytes);
  return async (request, response) => {
    const bytes = await read(request, response);
    if (bytes.length <= limits.requestBodyBytes) return jsonIn(request, bytes);
    const body = orTooLarge(() => jsonIn(request, bytes));
    if (bytes.length - lengthOf(body[largeField]) > limits.requestBodyBytes) throw tooLarge(limits.requestBodyBytes);
    return body;
  };
}

/** Characters of the texts in a list: of base64, at most what they are in the body. */
function lengthOf(list: unknown): number {
  if (!Array.isArray(list)) return 0;
  return (list as unknown[]).reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

/** What is large and no JSON has nothing in it that may be large. */
function orTooLarge<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw (error as RelayError).code === 'INVALID_REQUEST' ? tooLarge(limits.requestBodyBytes) : error;
  }
}

/** @throws RelayError UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST. No bytes are an empty object. */
export function jsonIn(request: Request, bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0) return {};
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

const sizeOf = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / (1024 * 1024)} MiB`;

const tooLarge = (maxBytes: number) => new RelayError('PAYLOAD_TOO_LARGE', `The body exceeds ${sizeOf(maxBytes)}.`);

/** Errors of the body parser carry a status, and most of them a `type` (body-parser's documentation). */
function refusalOf(error: unknown, maxBytes: number): Error {
  const { type, status } = error as { type?: unknown; status?: unknown };
  if (type === 'entity.too.large') return tooLarge(maxBytes);
  if (type === 'encoding.unsupported')
    return new RelayError('UNSUPPORTED_MEDIA_TYPE', 'Use no Content-Encoding, or gzip, deflate or br.');
  if (typeof status === 'number' && status < 500)
    return new RelayError('INVALID_REQUEST', 'The body did not arrive completely, or not in its Content-Encoding.');
  return error as Error;
}
