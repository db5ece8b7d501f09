/** A value that is loaded: its current state, the start of the wait, and the error. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { type Refusal, isAway, refusalOf } from '../api/refusal.ts';

export type Resource<T> = (
  { kind: 'loading'; sinceMs: number } | { kind: 'ready'; value: T } | { kind: 'failed'; refusal: Refusal }
) & {
  /**
   * Loads again. The current value stays until the new one arrives; a value from an earlier load that finishes first is shown as
   * well. Retries until the relay answers.
   */
  reload: () => void;
  /**
   * Changes the current value after the relay reported a change, and the value being loaded once it arrives. `change` can be
   * called for both, and for a value that has the change already.
   */
  change: (change: (value: T) => T) => void;
};

/** Changes while something is loaded that are kept; the newest ones. */
const keptChanges = 1000;

/** Loads in a row that the relay did not answer. */
interface Missed {
  times: number;
  retryAfterSeconds: number | undefined;
}

type Inner<T> =
  | { kind: 'loading'; sinceMs: number }
  | { kind: 'ready'; value: T; missed?: Missed | undefined }
  | { kind: 'failed'; refusal: Refusal; missed?: Missed | undefined };

/**
 * Pauses from a second to half a minute, spread so that pages do not retry at the same instant. Importing `backoffMs` would split
 * the chunk of the client.
 */
const pauseMs = ({ times, retryAfterSeconds = 0 }: Missed): number =>
  retryAfterSeconds * 1000 + Math.min(1000 * 2 ** (times - 1), 30_000) * (0.5 + Math.random() / 2);
const mayPass = (refusal: Refusal): boolean => isAway(refusal) || refusal.status === 429;

/** Loads on the first render and whenever `key` changes. */
export function useResource<T>(key: string, load: () => Promise<T>): Resource<T> {
  const [inner, setInner] = useState<Inner<T>>(() => ({ kind: 'loading', sinceMs: Date.now() }));
  const newest = useRef(load);
  const run = useRef(0);
  /** Loads that began before this run belong to an earlier key. */
  const oldest = useRef(0);
  /** Changes since the load began: the loaded value can be older than they are. */
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
        // An outdated list is better than an empty one, and no frame might trigger the next load.
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
