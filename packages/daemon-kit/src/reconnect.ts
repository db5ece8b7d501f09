/**
 * Decides whether and when to connect again (specification §6.4; rules, 13.1). Pure: takes a closed connection, returns a
 * verdict.
 */
import { closeCodes } from '@relay/protocol';

/** The outcome of one connection attempt. */
export type AttemptEnd =
  /** The upgrade was answered with an HTTP status. */
  | { kind: 'refused'; status: number; message: string; retryAfterMs?: number | undefined }
  /** A live socket closed. */
  | { kind: 'closed'; code: number; reason: string }
  /** No answer at all: name, network, TLS, time-out. */
  | { kind: 'failed'; message: string };

type StopReason = 'stopped' | 'credential' | 'deleted' | 'forbidden' | 'replaced' | 'outdated';
export interface Stop {
  reason: StopReason;
  /** One sentence for people. */
  message: string;
}

export interface BackoffTimings {
  /** Delay after the first failure. */
  initialDelayMs: number;
  maxDelayMs: number;
}

const again = 'Run "relay-daemon register --force" to register this machine again.';
const stops: Readonly<Record<Exclude<StopReason, 'stopped'>, string>> = {
  credential: `The relay does not accept the credential of this device (revoked, expired or unknown). ${again}`,
  deleted: `This device was removed from the relay. ${again}`,
  forbidden: `The relay does not allow this device to connect. ${again}`,
  replaced:
    'Another daemon with the same credential took over this device. Only one may run: stop the other one, or register this machine separately.',
  outdated: 'The relay no longer supports this version of the daemon. Update it, then start it again.',
};
const stop = (reason: keyof typeof stops): Stop => ({ reason, message: stops[reason] });

/** Returns the sentence to stop with if connecting again cannot help; undefined if it can. */
export function stopOf(ending: AttemptEnd): Stop | undefined {
  if (ending.kind === 'refused') return ending.status === 401 ? stop('credential') : undefined;
  if (ending.kind === 'failed') return undefined;
  switch (ending.code) {
    case closeCodes.credential.code:
      return stop('credential');
    case closeCodes.deviceDeleted.code:
      return stop('deleted');
    case closeCodes.forbidden.code:
      return stop('forbidden');
    case closeCodes.replaced.code:
      return stop('replaced');
    case closeCodes.updateRequired.code:
      return stop('outdated');
    default:
      return undefined;
  }
}

/**
 * Milliseconds of the wait number `step` (0 = the first one after a live socket was lost): doubles from the initial delay to the
 * maximum, and lies anywhere in the upper half of that, so that daemons that lost the same relay do not come back in the
 * same instant. `random` is in [0, 1).
 */
export function backoffMs(step: number, random: number, { initialDelayMs, maxDelayMs }: BackoffTimings): number {
  const ceiling = Math.min(initialDelayMs * 2 ** Math.min(step, 30), maxDelayMs);
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}

/** Milliseconds of a wait soon after the machine woke. */
export const wakeDelayMs = (random: number): number => Math.round(2000 + 1000 * random);

/**
 * Returns the step of the next wait from the step of the last one (-1: the first wait). A successful open starts over; but a
 * close that asks to back off continues as if the socket had never been open.
 */
export function stepAfter(ending: AttemptEnd, last: { step: number; opened: boolean }): number {
  const pushedBack =
    ending.kind === 'closed' && (ending.code === closeCodes.overloaded.code || ending.code === closeCodes.tooMany.code);
  return last.opened && !pushedBack ? 0 : last.step + 1;
}

/** Wait for this ending: the back-off, but never less than the relay asked for with Retry-After (429 and 503). */
export function waitMs(ending: AttemptEnd, backoff: number): number {
  if (ending.kind !== 'refused' || (ending.status !== 429 && ending.status !== 503)) return backoff;
  // Added, not the larger of the two: all daemons received the same number.
  return ending.retryAfterMs === undefined ? backoff : ending.retryAfterMs + Math.min(backoff, 1000);
}
