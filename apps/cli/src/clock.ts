/** Abortable waits. */
import { setTimeout } from 'node:timers/promises';

/** Resolves after `delayMs`, or when the signal aborts. Never rejects. */
export const pause = (delayMs: number, signal?: AbortSignal): Promise<void> =>
  setTimeout(delayMs, undefined, { signal }).catch(() => undefined);
