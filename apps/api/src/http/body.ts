/**
 * Reads the body of a request: bytes, or JSON in valid UTF-8 that is an object. Our own code instead of a library, because an
 * oversized body must be refused where it passes the limit, and a stalled body must time out (rules, 6.7).
 */
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { RelayError, limits, parseJson } from '@relay/protocol';
import { BodyPace } from './body-pace.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const empty = Buffer.alloc(0);
/** A body that sends nothing for this long is given up. Node closes requests that take a minute in all. */
const defaultStallMs = 15_000;
/** How long the rest of a refused body is read and discarded, so that the sender gets to read the answer. */
const lingerMs = 1000;

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** One for the whole process, because it protects the event loop. */
const pace = new BodyPace();

const incomplete = () =>
  new RelayError('INVALID_REQUEST', 'The body did not arrive completely, or not in its Content-Encoding.');

/** The stream of the bytes as they were before they were encoded. @throws RelayError UNSUPPORTED_MEDIA_TYPE */
function decodedOf(request: Request): Readable {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return request;
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (!decoder) throw new RelayError('UNSUPPORTED_MEDIA_TYPE', 'Use no Content-Encoding, or gzip, deflate or br.');
  return request.pipe(decoder());
}

/** Collects at most `maxBytes`, at the pace allowed to `payer`. The stream can continue after a rejection. */
function collect(request: Request, payer: string, maxBytes: number, stallMs: number): Promise<Buffer> {
  // Something read it before, or there is nothing to read.
  if (request.readableEnded) return Promise.resolve(empty);
  const source = decodedOf(request);
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let rest: NodeJS.Timeout | undefined;
    const settle = (act: () => void) => {
      clearTimeout(timer);
      clearTimeout(rest);
      source.removeListener('data', onData).removeListener('end', onEnd);
      request.removeListener('aborted', onBroken);
      act();
    };
    const onData = (chunk: Buffer) => {
      timer.refresh();
      bytes += chunk.length;
      if (bytes > maxBytes) return settle(() => reject(tooLarge(maxBytes)));
      chunks.push(chunk);
      const restMs = pace.charge(payer, chunk.length);
      if (restMs > 0) {
        source.pause();
        rest = setTimeout(() => (timer.refresh(), source.resume()), restMs);
      }
    };
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, bytes)));
    const onBroken = () => settle(() => reject(incomplete()));
    const timer = setTimeout(() => settle(() => reject(new RelayError('REQUEST_TIMEOUT'))), stallMs);
    timer.unref();
    source.on('data', onData).once('end', onEnd).on('error', onBroken);
    request.once('aborted', onBroken).on('error', onBroken);
  });
}

/** Discards further bytes, at the pace allowed to `payer`, and cuts the connection if the body does not finish soon. */
export function linger(request: Request, response: Response, payer: string): void {
  request.unpipe();
  request.on('data', (chunk: Buffer) => {
    const restMs = pace.charge(payer, chunk.length);
    if (restMs === 0) return;
    request.pause();
    setTimeout(() => request.resume(), restMs).unref();
  });
  request.resume();
  response.once('finish', () => {
    if (request.complete) return;
    const timer = setTimeout(() => request.socket.destroy(), lingerMs);
    timer.unref();
    request.once('end', () => clearTimeout(timer));
  });
}

/** Reads bodies of at most `maxBytes`, with any content, at the pace allowed to `payer`, a person or an address (rules, 6.7). */
export function bodyReader(
  maxBytes: number,
  stallMs = defaultStallMs,
): (request: Request, response: Response, payer: string) => Promise<Buffer> {
  /**
   * An absent body is an empty buffer. A rejection does not wait for the rest of the body.
   * @throws RelayError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_REQUEST, REQUEST_TIMEOUT
   */
  return async (request, response, payer) => {
    try {
      if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
      return await collect(request, payer, maxBytes, stallMs);
    } catch (error) {
      linger(request, response, payer);
      throw error;
    }
  };
}

type ReadJson = (request: Request, response: Response, payer: string) => Promise<Record<string, unknown>>;

/**
 * Reads JSON. Only the content of a large field can make a body larger than usual. An absent body is an empty object.
 * @throws RelayError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_REQUEST
 */
export function jsonReader(largeField?: string): ReadJson {
  if (largeField === undefined) {
    const read = bodyReader(limits.requestBodyBytes);
    return async (request, response, payer) => jsonIn(request, await read(request, response, payer));
  }
  const read = bodyReader(limits.imageRequestBytes);
  return async (request, response, payer) => {
    const bytes = await read(request, response, payer);
    if (bytes.length <= limits.requestBodyBytes) return jsonIn(request, bytes);
    const body = orTooLarge(() => jsonIn(request, bytes));
    if (bytes.length - lengthOf(body[largeField]) > limits.requestBodyBytes) throw tooLarge(limits.requestBodyBytes);
    return body;
  };
}

/** Characters of the texts in a list; for base64, at most their size in the body. */
function lengthOf(list: unknown): number {
  if (!Array.isArray(list)) return 0;
  return (list as unknown[]).reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

/** A large body that is not JSON cannot contain a large field. */
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
