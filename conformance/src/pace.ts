/**
 * Stays within the limits of a real relay: 100 requests a minute and 10 session creations. Reads the remainder from the
 * `X-RateLimit-*` headers of every answer; at zero, the next request waits for the next window.
 */
import type { Answer } from './http.ts';

interface Window {
  remaining: number;
  endsAtMs: number;
}

export interface Pace {
  /** Waits until the limits allow a request of this kind. */
  turn(who: string, creates: boolean): Promise<void>;
  /** Reads the remaining requests from the headers of an answer. */
  learn(who: string, creates: boolean, answer: Answer): void;
  /** Waits for the time that a 429 asks for. */
  refused(answer: Answer): Promise<void>;
}

const creationsOf = (who: string) => `${who}, session creation`;

export function createPace(progress: (text: string) => void): Pace {
  const windows = new Map<string, Window>();
  /** The limit over all routes, by caller, to distinguish it from the tighter limit of session creation. */
  const generalLimits = new Map<string, number>();

  const pause = async (ms: number, why: string) => {
    progress(`${why}: waiting ${Math.ceil(ms / 1000)} s for the window to end`);
    await new Promise((resolve) => setTimeout(resolve, ms));
  };

  const turnOf = async (bucket: string) => {
    for (let window = windows.get(bucket); window && window.remaining <= 0; window = windows.get(bucket)) {
      const waitMs = window.endsAtMs - Date.now();
      if (waitMs <= 0) windows.delete(bucket);
      else await pause(waitMs, `the limit of ${bucket} is used up`);
    }
    const window = windows.get(bucket);
    if (window) window.remaining -= 1;
  };

  return {
    turn: async (who, creates) => {
      if (creates) await turnOf(creationsOf(who));
      await turnOf(who);
    },
    learn: (who, creates, { headers }) => {
      const limit = Number(headers['x-ratelimit-limit'] ?? Number.NaN);
      const remaining = Number(headers['x-ratelimit-remaining'] ?? Number.NaN);
      const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
      if (Number.isNaN(limit) || Number.isNaN(remaining) || Number.isNaN(reset)) return;
      // The relay's own clock: the two machines need not agree.
      const nowMs = headers.date === undefined ? Date.now() : Date.parse(headers.date);
      const endsAtMs = Date.now() + Math.min(60_000, Math.max(0, reset * 1000 - nowMs)) + 250;
      const general = generalLimits.get(who);
      const ofCreation = creates && general !== undefined && limit !== general;
      if (!creates) generalLimits.set(who, limit);
      windows.set(ofCreation ? creationsOf(who) : who, { remaining, endsAtMs });
    },
    refused: async ({ headers }) => {
      const seconds = Number(headers['retry-after'] ?? 1);
      await pause(Math.min(60, Number.isNaN(seconds) ? 1 : seconds) * 1000 + 250, 'the relay answered 429');
    },
  };
}
