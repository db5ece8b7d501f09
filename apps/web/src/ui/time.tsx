/** Times for people: how long ago, how long already, how long still. */
import { useEffect, useState } from 'react';
import { ago, fullTime, lasted, words } from '../catalogue.ts';

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export { fullTime };

export function Ago({ at }: { at: string }) {
  const now = useNow(20_000);
  return (
    <time dateTime={at} title={fullTime(at)}>
      {ago(now - Date.parse(at)) || words.justNow}
    </time>
  );
}

/** Seconds since. Not read out: it would never stop. */
export function Elapsed({ sinceMs }: { sinceMs: number }) {
  const now = useNow(1000);
  return (
    <span className="clock" aria-hidden="true">
      {lasted(now - sinceMs)}
    </span>
  );
}

/** Seconds until. */
export function Remaining({ untilMs }: { untilMs: number }) {
  const now = useNow(1000);
  return (
    <span className="clock" aria-hidden="true">
      {lasted(untilMs - now)}
    </span>
  );
}
