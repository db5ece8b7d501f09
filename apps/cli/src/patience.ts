/** For commands that listen until interrupted: their reads wait through transient failures, like their stream. */
import { type CallArguments, backoffMs, pause } from '@relay/client';
import type { RouteName } from '@relay/protocol';
import { Failure } from '@relay/machine';
import { exitCodes } from './failure.ts';
import { untilInterrupted } from './interruption.ts';
import type { Relay } from './relay.ts';

export type Wait =
  { type: 'connection'; state: 'lost'; why: string; waitMs: number } | { type: 'connection'; state: 'back' };

/** Resolves when `work` is done or interrupted; true if interrupted. `report` is called when a read starts and stops waiting. */
export const listening = (
  relay: Relay,
  report: (wait: Wait) => void,
  work: (relay: Relay, signal: AbortSignal) => Promise<void>,
): Promise<boolean> =>
  untilInterrupted(async (signal) => {
    try {
      await work(patient(relay, report, signal), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return signal.aborted;
  });

/** Retries transient failures until the signal aborts. Calls with their own `retries` fail as usual. */
export function patient(relay: Relay, report: (wait: Wait) => void, signal: AbortSignal): Relay {
  const request = async <N extends RouteName>(name: N, ...[input]: CallArguments<N>) => {
    for (let step = 0; ; step += 1) {
      try {
        const answer = await relay.request(name, ...([{ signal, ...input }] as CallArguments<N>));
        if (step > 0) report({ type: 'connection', state: 'back' });
        return answer;
      } catch (error) {
        if (signal.aborted || input?.retries !== undefined || !passes(error)) throw error;
        const { status, retryAfter } = error.more as { status?: number; retryAfter?: number };
        const waitMs = backoffMs(step, Math.random(), retryAfter);
        const why = status === undefined ? 'the relay cannot be reached' : `the relay answered ${status}`;
        report({ type: 'connection', state: 'lost', why, waitMs });
        await pause(waitMs, signal);
      }
    }
  };
  return { ...relay, request, call: async (...input) => (await request(...input)).body };
}

/** If a daemon does not answer, or answers with an error, the relay is not the cause. */
const passes = (error: unknown): error is Failure =>
  error instanceof Failure &&
  !error.code.startsWith('DEVICE_') &&
  (error.exitCode === exitCodes.temporary || error.more.status === 500);
