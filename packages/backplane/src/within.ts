/** A promise with a timeout. */
import { BackplaneError } from './errors.ts';

/** Waits for a promise, at most `timeoutMs`. @throws BackplaneError UNAVAILABLE with `reason` when that is over */
export async function within<T>(promise: Promise<T>, timeoutMs: number, reason: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BackplaneError('UNAVAILABLE', reason)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
