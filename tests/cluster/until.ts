/** Waits until a condition holds. Asks again and again; an error counts as "not yet". */
import { setTimeout as delay } from 'node:timers/promises';

export async function until(what: string, isSo: () => Promise<boolean> | boolean, withinMs = 90_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      if (await isSo()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline)
      throw new Error(`never came true within ${withinMs} ms: ${what}`, last === undefined ? {} : { cause: last });
    await delay(100);
  }
}

/** The duration of a fault: an input of a test, never a proof. */
export const lasting = (ms: number): Promise<void> => delay(ms);
