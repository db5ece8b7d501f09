/** An action of a person: one at a time, with its error. */
import { type SyntheticEvent, useCallback, useEffect, useRef, useState } from 'react';
import { type Refusal, refusalOf } from '../api/refusal.ts';

export interface Action<Args extends unknown[]> {
  busy: boolean;
  refusal: Refusal | undefined;
  /** The newest run succeeded. */
  done: boolean;
  /** The arguments of the newest run. */
  args: Args | undefined;
  /** Does nothing while it is being done already. Never rejects; true when it succeeded. */
  run: (...args: Args) => Promise<boolean>;
  clear: () => void;
}

export function useAction<Args extends unknown[]>(work: (...args: Args) => Promise<unknown>): Action<Args> {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const [done, setDone] = useState(false);
  const [args, setArgs] = useState<Args>();
  const running = useRef(false);
  const newest = useRef(work);
  useEffect(() => {
    newest.current = work;
  });

  const run = useCallback(async (...given: Args): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setDone(false);
    setArgs(given);
    setRefusal(undefined);
    try {
      await newest.current(...given);
      setDone(true);
      return true;
    } catch (error) {
      setRefusal(refusalOf(error));
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  }, []);
  return { busy, refusal, done, args, run, clear: useCallback(() => setRefusal(undefined), []) };
}

/** A handler that submits a form by `work` instead of the browser. A form around it, such as the composer around a dialog, gets no event. */
export const submitting = (work: () => unknown) => (event: SyntheticEvent) => {
  event.preventDefault();
  event.stopPropagation();
  work();
};
