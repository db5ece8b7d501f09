/**
 * Batches work for devices: items that arrive during a statement wait, and go with the next one. When thousands of
 * daemons reconnect at once, the database writes hundreds at a time. Independent of the work itself.
 */

import type { Lane } from '@relay/database';

/** So many at a time, that their locks are held for milliseconds. */
const maxDevices = 100;

/** Answers by device. A device that is left out is handled alone. */
type DoMany<I, T> = (inputs: readonly I[]) => Promise<ReadonlyMap<string, T>>;

interface Waiting<I, T> {
  readonly input: I;
  readonly resolve: (answer: T | Promise<T>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function that does something for one device, together with all other waiting items of its turn, and never
 * twice at a time for one device.
 * `alone` handles the items that `many` left out, without blocking the lane. Rejects, for all of a turn, with the error
 * of `many`.
 */
export function inTurns<I extends { readonly deviceId: string }, T>(
  lane: Lane,
  many: DoMany<I, T>,
  alone: (input: I) => Promise<T>,
): (input: I) => Promise<T> {
  let waiting: Waiting<I, T>[] = [];
  let planned = false;

  /** The first item of each device, in order of arrival. */
  const take = (): Map<string, Waiting<I, T>> => {
    const taken = new Map<string, Waiting<I, T>>();
    const left: Waiting<I, T>[] = [];
    for (const one of waiting) {
      const { deviceId } = one.input;
      if (taken.size < maxDevices && !taken.has(deviceId)) taken.set(deviceId, one);
      else left.push(one);
    }
    waiting = left;
    return taken;
  };

  const turn = async (): Promise<void> => {
    planned = false;
    const taken = [...take().values()];
    if (waiting.length > 0) plan();
    try {
      const answers = await many(taken.map(({ input }) => input));
      for (const { input, resolve } of taken) {
        const answer = answers.get(input.deviceId);
        resolve(answer ?? alone(input));
      }
    } catch (error) {
      for (const { reject } of taken) reject(error);
    }
  };

  const plan = () => {
    if (planned) return;
    planned = true;
    // Further calls of this tick join the batch.
    setImmediate(() => void lane(turn));
  };

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      plan();
    });
}
