/** Which device sent this token? Knows tokens and device records; the caller supplies the lookup. */
import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AuthError } from './auth-error.ts';
import { hashDeviceToken, isDeviceToken } from './device-token.ts';
import type { DevicePrincipal } from './principal.ts';

const cacheMs = 60_000;
const maxDevices = 20_000;
/** Apart from the others: strangers who invent ids must not push real devices out. */
const maxUnknown = 10_000;
const maxIdLength = 512;

/** The record of a device. */
export interface DeviceRecord {
  /** As `hashDeviceToken` writes it; null when the credential was removed. */
  readonly tokenHash: string | null;
  readonly ownerId: string;
  readonly agentType: string;
  readonly removedAt: Date | null;
  readonly revokedAt: Date | null;
  /** Absent or null: never expires. */
  readonly expiresAt?: Date | null;
}

interface DeviceVerifierOptions {
  /** Undefined: no such device. Called once for identical questions at the same time, and at most once a minute per device. */
  readonly lookup: (deviceId: string) => Promise<DeviceRecord | undefined>;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

export interface DeviceVerifier {
  /**
   * @throws AuthError INVALID_TOKEN (garbage, without a lookup; unknown device; token of another device), TOKEN_REVOKED
   * (revoked or removed), TOKEN_EXPIRED; and any error of `lookup`, unchanged and not cached: an unavailable database
   * is not evidence against a credential, and daemons in the field give up after five refusals.
   */
  verify(token: string, deviceId: string): Promise<DevicePrincipal>;
  /** The next question about the device looks again; answers to a lookup that is still under way are not trusted either. */
  forget(deviceId: string): void;
}

interface Cached {
  readonly record: DeviceRecord | undefined;
  readonly until: number;
}

interface Question {
  readonly answer: Promise<DeviceRecord | undefined>;
  outdated: boolean;
}

function sameHash(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function isDeviceId(text: string): boolean {
  // An id that no database can store is invalid.
  return text !== '' && text.length <= maxIdLength && !/[:\u0000-\u001f\u007f]/.test(text);
}

function principalOf(deviceId: string, record: DeviceRecord | undefined, token: string, now: number): DevicePrincipal {
  const gone = record !== undefined && (record.removedAt !== null || record.revokedAt !== null);
  // A revoked device can have lost its hash; then no caller can prove its identity, or needs to.
  const proven = record?.tokenHash ? sameHash(record.tokenHash, hashDeviceToken(token)) : gone;
  if (!record || !proven) throw invalid();
  if (gone || record.tokenHash === null) {
    throw new AuthError('TOKEN_REVOKED', 'This device was removed. Register it again.');
  }
  if (record.expiresAt && record.expiresAt.getTime() <= now) {
    throw new AuthError('TOKEN_EXPIRED', 'This device was away for too long. Register it again.');
  }
  return { kind: 'device', deviceId, ownerId: record.ownerId, agentType: record.agentType };
}

function invalid(): AuthError {
  return new AuthError(
    'INVALID_TOKEN',
    'The device id and the token do not belong together. Register the device again.',
  );
}

/** Caches the result of `lookup` for 60 s, whether it found a record or not. */
export function createDeviceVerifier(options: DeviceVerifierOptions): DeviceVerifier {
  const clock = options.clock ?? Date.now;
  // `max` would reserve memory for all entries now.
  const found = new LRUCache<string, Cached>({ maxSize: maxDevices, sizeCalculation: () => 1 });
  const unknown = new LRUCache<string, Cached>({ maxSize: maxUnknown, sizeCalculation: () => 1 });
  /** One per device that is being looked up; the server that accepts connections bounds their number. */
  const inFlight = new Map<string, Question>();

  function remembered(deviceId: string): Cached | undefined {
    const entry = found.get(deviceId) ?? unknown.get(deviceId);
    return entry && entry.until > clock() ? entry : undefined;
  }

  function remember(deviceId: string, record: DeviceRecord | undefined): void {
    (record ? unknown : found).delete(deviceId);
    (record ? found : unknown).set(deviceId, { record, until: clock() + cacheMs });
  }

  function ask(deviceId: string): Question {
    const answer = (async () => options.lookup(deviceId))();
    const question: Question = { answer, outdated: false };
    inFlight.set(deviceId, question);
    const settled = (keep: () => void): void => {
      // After `forget`, another lookup might have replaced this one.
      if (question.outdated) return;
      inFlight.delete(deviceId);
      keep();
    };
    // Registered before any caller waits, so that the answer is remembered before it is used. Failures are theirs to see.
    answer.then(
      (record) => settled(() => remember(deviceId, record)),
      () => settled(() => undefined),
    );
    return question;
  }

  async function recordOf(deviceId: string): Promise<DeviceRecord | undefined> {
    for (;;) {
      const entry = remembered(deviceId);
      if (entry) return entry.record;
      const question = inFlight.get(deviceId) ?? ask(deviceId);
      const record = await question.answer;
      // Forgotten during the lookup: the answer might be older than the change, so look again.
      if (!question.outdated) return record;
    }
  }

  return {
    async verify(token, deviceId) {
      if (!isDeviceToken(token) || !isDeviceId(deviceId)) throw invalid();
      return principalOf(deviceId, await recordOf(deviceId), token, clock());
    },
    forget(deviceId) {
      found.delete(deviceId);
      unknown.delete(deviceId);
      const question = inFlight.get(deviceId);
      if (question) question.outdated = true;
      inFlight.delete(deviceId);
    },
  };
}
