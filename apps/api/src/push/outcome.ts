/** The meaning of an answer, or of a missing answer, for a delivery (rules, 14.8). */
import type { ClaimedDelivery, DeliveryOutcome } from '@relay/database';
import type { SubscriptionKind } from '@relay/protocol';
import { AddressRefused, notPublic } from './guard.ts';
import type { PostAnswer } from './post.ts';
import { quietEnd } from './quiet.ts';
import { isOfProgram } from './targets.ts';

const retryMs = [5000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000];
const leastDelayMs = 1000;

/** Raised instead of an answer: a service of the operator does not accept this relay. */
export class ServiceRefused extends Error {
  override readonly name = 'ServiceRefused';
  readonly status: number;

  constructor(status: number) {
    super(`the service answered ${status}`);
    this.status = status;
  }
}

/** The operator can repair this and the person cannot, so the address stays, and the delivery waits until it is out of date. */
const refused = (httpStatus: number, attempts: number, random: () => number): DeliveryOutcome => ({
  state: 'pending',
  isRefused: true,
  httpStatus,
  reason: 'The service does not accept this relay. Its operator has to look after the key.',
  delayMs: delayAfter(attempts, random),
});

/** Full jitter: a service that was away is not met by everyone at once. */
function delayAfter(attempts: number, random: () => number): number {
  const bound = retryMs[Math.min(attempts, retryMs.length) - 1] ?? leastDelayMs;
  return Math.max(leastDelayMs, Math.round(random() * bound));
}

export function outcomeOf(
  answer: PostAnswer,
  { attempts, kind }: { attempts: number; kind: SubscriptionKind },
  random: () => number = Math.random,
): DeliveryOutcome {
  const { status: httpStatus, retryAfterMs, meaning } = answer;
  const reason = `The service answered ${httpStatus}.`;
  if (httpStatus >= 200 && httpStatus < 300) return { state: 'accepted', httpStatus };
  // These services check a token of this relay: its key, its contact or its clock is wrong, not the address.
  const isToken = (httpStatus === 401 || httpStatus === 403) && (kind === 'webpush' || kind === 'unifiedpush');
  if (meaning === 'ours' || isToken) return refused(httpStatus, attempts, random);
  if (meaning === 'stale') return { state: 'pending', httpStatus, reason, delayMs: delayAfter(attempts, random) };
  if (httpStatus === 408 || httpStatus === 425 || httpStatus === 429 || httpStatus >= 500) {
    // "0", or a date that has passed, would be a loop without a pause.
    const hasRetryAfter = retryAfterMs !== undefined && retryAfterMs >= leastDelayMs;
    return {
      state: 'pending',
      httpStatus,
      reason,
      delayMs: hasRetryAfter ? retryAfterMs : delayAfter(attempts, random),
    };
  }
  // A browser or app that left. The relay keeps an address that a person typed, so that the person can correct it.
  if (meaning === 'gone' || ((httpStatus === 404 || httpStatus === 410) && isOfProgram(kind)))
    return { state: 'gone', httpStatus, reason };
  if ([400, 401, 403, 404, 410].includes(httpStatus))
    return { state: 'failed', httpStatus, reason, pause: `The service answered ${httpStatus}. Check the address.` };
  return { state: 'failed', httpStatus, reason };
}

/** The outcome of an attempt without an answer. */
export function outcomeOfError(error: unknown, attempts: number, random: () => number = Math.random): DeliveryOutcome {
  if (error instanceof AddressRefused) {
    return { state: 'failed', reason: notPublic, pause: notPublic };
  }
  if (error instanceof ServiceRefused) return refused(error.status, attempts, random);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
  return { state: 'pending', reason: `The service did not answer${code}.`, delayMs: delayAfter(attempts, random) };
}

/** The outcome of a delivery that is not sent now: it is over, or quiet hours began since it was written. */
export function skippedOf(
  { cause, over, awaitsReading, quietHours }: ClaimedDelivery,
  now: number,
): DeliveryOutcome | undefined {
  if (over && awaitsReading)
    return { state: 'suppressed', reason: 'An app showed the session, and it was read there.' };
  if (over && cause === 'needs_you') return { state: 'superseded', reason: 'The question was answered before.' };
  if (over) return { state: 'superseded', reason: 'It was over before it was sent.' };
  const end = quietEnd(quietHours, cause, now);
  if (end === undefined) return undefined;
  return { state: 'held', reason: 'Held until your quiet hours end.', delayMs: end - now };
}

/** A failed attempt in a group hands over to the next address at once: with a retry, both would arrive. */
export const handedOn = (outcome: DeliveryOutcome, { hasNext }: Pick<ClaimedDelivery, 'hasNext'>): DeliveryOutcome =>
  hasNext && outcome.state === 'pending' ? { ...outcome, state: 'failed', delayMs: 0 } : outcome;
