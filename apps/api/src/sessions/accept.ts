/** The common part of creating a session and sending a message: limits, time to live, and one answer per idempotency key. */
import { createHash } from 'node:crypto';
import { RelayError, type RouteName, limits } from '@relay/protocol';
import { type Db, findReplay, keepReplay } from '@relay/database';
import type { Operations } from '../deps.ts';
import { requireText } from '../devices/names.ts';

/** An answer, and whether it was given before under the same Idempotency-Key. */
export interface Accepted<T> {
  response: T;
  replayed: boolean;
}

/** The time limit of a task that must not wait (`queueTtlSeconds: 0`), from the database to the live socket. */
const handOverMs = 5000;

/** @throws RelayError INVALID_REQUEST (blank), PAYLOAD_TOO_LARGE (over 256 KiB) */
export function checkMessage(text: string, field: string): void {
  requireText(text, field);
  if (Buffer.byteLength(text) > limits.messageBytes)
    throw new RelayError('PAYLOAD_TOO_LARGE', `"${field}" exceeds 256 KiB.`);
}

/**
 * How long a task can wait, in milliseconds. With 0 seconds the device must be connected now.
 * @throws RelayError DEVICE_OFFLINE
 */
export async function timeToLive(deps: Operations, deviceId: string, seconds: number | undefined): Promise<number> {
  const ttlSeconds = seconds ?? deps.config.queueTtlDefaultSeconds;
  if (ttlSeconds > 0) return ttlSeconds * 1000;
  const owners = await deps.backplane.owners([deviceId]);
  if (!owners.has(deviceId)) throw new RelayError('DEVICE_OFFLINE', { retryAfter: 10 });
  return handOverMs;
}

interface Idempotent<T> {
  userId: string;
  route: RouteName;
  /** The header, or undefined. */
  key: string | undefined;
  /** The request that a key stands for: the fields of the body that have a meaning, always in the same order. */
  request: readonly (string | number | undefined)[];
  status: number;
  /** True if an answer kept under this key concerns the same thing; ids in the path might have changed since. */
  isAboutSame?(earlier: T): Promise<boolean>;
}

/** @throws RelayError INVALID_REQUEST */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.length === 0 || header.length > limits.idempotencyKeyCharacters) {
    throw new RelayError('INVALID_REQUEST', 'Idempotency-Key must have 1 to 200 characters.');
  }
  return header;
}

/** Hashes a request that a key stands for. */
export const hashOf = (request: Idempotent<unknown>['request']): string =>
  createHash('sha256').update(JSON.stringify(request)).digest('base64url');

const withContent = <T extends { message: { content: string } }>(response: T, content: string | undefined): T =>
  content === undefined ? response : { ...response, message: { ...response.message, content } };

export const conflict = () => new RelayError('IDEMPOTENCY_CONFLICT');

/**
 * Runs `work` unless this key was answered before, and keeps the answer in the same transaction. Only successes are kept.
 * `content`: the message itself is not kept, since a repeated request carries it again; undefined if the request does not carry
 * it.
 * @throws RelayError IDEMPOTENCY_CONFLICT, and the errors of `work`
 */
export async function onceOnly<T extends { message: { content: string } }>(
  tx: Db,
  input: Idempotent<NoInfer<T>>,
  ttlSeconds: number,
  content: string | undefined,
  work: () => Promise<T>,
): Promise<Accepted<T>> {
  const { userId, route, key, status } = input;
  if (key === undefined) return { response: await work(), replayed: false };
  const bodyHash = hashOf(input.request);
  const earlier = await findReplay(tx, userId, route, key, ttlSeconds);
  if (earlier) {
    const response = earlier.response as T;
    if (earlier.bodyHash !== bodyHash || (await input.isAboutSame?.(response)) === false) throw conflict();
    return { response: withContent(response, content), replayed: true };
  }
  const response = await work();
  const kept = content === undefined ? response : withContent(response, '');
  if (!(await keepReplay(tx, { userId, route, key, bodyHash, status, response: kept, ttlSeconds }))) throw conflict();
  return { response, replayed: false };
}
