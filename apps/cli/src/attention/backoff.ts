/** Whether and when to connect again (contract §6, §7). Pure: how a connection ended in, a verdict out. */
import { closeCodes } from '@relay/protocol';

/** How one attempt to be connected ended. */
export type Ending =
  /** The upgrade was answered with an HTTP status. */
  | { kind: 'refused'; status: number; code: string | undefined; message: string; retryAfterMs: number | undefined }
  /** A live socket closed. */
  | { kind: 'closed'; code: number; reason: string }
  /** No answer at all: name, network, TLS, time-out. */
  | { kind: 'failed'; message: string };

export interface BackoffTimings {
  /** Ceiling of the first wait. */
  initialDelayMs: number;
  maxDelayMs: number;
}

export const backoffTimings: BackoffTimings = { initialDelayMs: 1000, maxDelayMs: 30_000 };

/** `credential`: come back with a new token. `forbidden`: coming back cannot help. */
export function verdictOf(ending: Ending): 'again' | 'credential' | 'forbidden' {
  if (ending.kind === 'failed') return 'again';
  if (ending.kind === 'closed') {
    if (ending.code === closeCodes.credential.code) return 'credential';
    const known = Object.values(closeCodes).find(({ code }) => code === ending.code);
    return known && !known.comeBack ? 'forbidden' : 'again';
  }
  if (ending.status === 401) return 'credential';
  return ending.status === 429 || ending.status >= 500 ? 'again' : 'forbidden';
}

/**
 * Milliseconds of the wait number `step` (0 = the first one after a live socket was lost): the ceiling doubles up to the maximum,
 * and the wait lies anywhere in its upper half, so that programs that lost the same relay do not come back in the same instant.
 * A Retry-After is added to, never undercut. `random` is in [0, 1).
 */
export function backoffMs(ending: Ending, step: number, random: number, timings = backoffTimings): number {
  const ceiling = Math.min(timings.initialDelayMs * 2 ** Math.min(step, 30), timings.maxDelayMs);
  const waitMs = Math.round(ceiling / 2 + (ceiling / 2) * random);
  const told = ending.kind === 'refused' ? ending.retryAfterMs : undefined;
  return told === undefined ? waitMs : told + Math.min(waitMs, 1000);
}

/** The relay asked to back off: the waits go on growing as if the socket had never been open. */
export const asksToBackOff = (ending: Ending): boolean =>
  ending.kind === 'closed' && (ending.code === closeCodes.overloaded.code || ending.code === closeCodes.tooMany.code);

export function sentenceOf(ending: Ending): string {
  if (ending.kind === 'failed') return `the relay cannot be reached (${ending.message})`;
  if (ending.kind === 'refused')
    return `the relay answered ${ending.status}${ending.message ? `: ${ending.message}` : ''}`;
  if (ending.code === 1006) return 'the connection was lost';
  return `the relay closed the connection (${ending.code}${ending.reason ? `, ${ending.reason}` : ''})`;
}
