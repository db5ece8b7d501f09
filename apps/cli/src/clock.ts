/** Waiting that can be called off. */
import { setTimeout } from 'node:timers/promises';

/** Resolves after `delayMs`; at once when the signal is or becomes aborted. Never rejects. */
export const pause = (delayMs: number, signal?: AbortSignal): Promise<void> =>
  setTimeout(delayMs, undefined, { signal }).catch(() => undefined);
