/** Something that is loaded: what it is by now, since when it is awaited, and why it did not come. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { type Refusal, isAway, refusalOf } from '../api/refusal.ts';

export type Resource<T> = (
  { kind: 'loading'; sinceMs: number } | { kind: 'ready'; value: T } | { kind: 'failed'; refusal: Refusal }
) & {
  /**
   * Loads again. The current value, or one from an earlier load that finishes meanwhile, stays until the new one has arrived, which is
   * asked for until the relay answers.
   */
  reload: () => void;
  /**
   * Changes what is there, after a change that the relay told us about; what is being loaded, too, when it has come. `change` may
   * be called for both, and for something that has the change already.
   */
  change: (change: (value: T) => T) => void;
};

/** Changes while something is loaded that are kept; the newest ones. */
const keptChanges = 1000;

/** Loads in a row to which the relay had no answer. */
interface Missed {
  times: number;
  retryAfterSeconds: number | undefined;
}

type Inner<T> =
  | { kind: 'loading'; sinceMs: number }
  | { kind: 'ready'; value: T; missed?: Missed | undefined }
  | { kind: 'failed'; refusal: Refusal; missed?: Missed | undefined };

/** From a second to half a minute, and not in the same instant as other pages. Importing `backoffMs` would split the chunk of the client. */
const pauseMs = ({ times, retryAfterSeconds = 0 }: Missed): number =>
  retryAfterSeconds * 1000 + Math.min(1000 * 2 ** (times - 1), 30_000) * (0.5 + Math.random() / 2);
const mayPass = (refusal: Refusal): boolean => isAway(refusal) || refusal.status === 429;

/** Loads on the first render and whenever `key` changes. */
export function useResource<T>(key: string, load: () => Promise<T>): Resource<T> {
  const [inner, setInner] = useState<Inner<T>>(() => ({ kind: 'loading', sinceMs: Date.now() }));
  const newest = useRef(load);
  const run = useRef(0);
  /** Loads that began before this run belong to another key, or to none. */
  const oldest = useRef(0);
  /** Changes since the load began: the loaded value may be older than they are. */
  const meanwhile = useRef<((value: T) => T)[]>([]);
  useEffect(() => {
    newest.current = load;
  });

  const start = useCallback(() => {
    const mine = ++run.current;
    meanwhile.current = [];
    newest.current().then(
      (loaded) => {
        if (mine < oldest.current) return;
        const isNewest = mine === run.current;
        const value = meanwhile.current.reduce((before, how) => how(before), loaded);
        if (isNewest) meanwhile.current = [];
        setInner((now) => (isNewest || now.kind !== 'ready' ? { kind: 'ready', value } : now));
      },
      (error: unknown) => {
        if (mine !== run.current) return;
        const refusal = refusalOf(error);
        // An old list is better than none, and no frame may come that asks for a newer one.
        setInner((now) => {
          const before = now.kind === 'loading' ? 0 : (now.missed?.times ?? 0);
          const { retryAfterSeconds } = refusal;
          const missed = mayPass(refusal) ? { times: before + 1, retryAfterSeconds } : undefined;
          return now.kind === 'ready' ? { ...now, missed } : { kind: 'failed', refusal, missed };
        });
      },
    );
  }, []);

  useEffect(() => {
    setInner({ kind: 'loading', sinceMs: Date.now() });
    start();
    return () => void (oldest.current = ++run.current);
  }, [key, start]);

  const missed = inner.kind === 'loading' ? undefined : inner.missed;
  useEffect(() => {
    if (!missed) return undefined;
    const timer = setTimeout(start, pauseMs(missed));
    return () => clearTimeout(timer);
  }, [missed, start]);

  const reload = useCallback(() => {
    setInner((now) => (now.kind === 'failed' ? { kind: 'loading', sinceMs: Date.now() } : now));
    start();
  }, [start]);
  const change = useCallback((how: (value: T) => T) => {
    meanwhile.current.push(how);
    if (meanwhile.current.length > keptChanges) meanwhile.current.shift();
    setInner((now) => {
      if (now.kind !== 'ready') return now;
      const value = how(now.value);
      return value === now.value ? now : { ...now, value };
    });
  }, []);
  return { ...inner, reload, change };
}
