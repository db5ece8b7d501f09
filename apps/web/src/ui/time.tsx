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

/** Not read out: it would never stop. */
const Clock = ({ ms }: { ms: number }) => (
  <span className="clock" aria-hidden="true">
    {lasted(ms)}
  </span>
);

/** Seconds since. */
export const Elapsed = ({ sinceMs }: { sinceMs: number }) => <Clock ms={useNow(1000) - sinceMs} />;

/** Seconds until. */
export const Remaining = ({ untilMs }: { untilMs: number }) => <Clock ms={untilMs - useNow(1000)} />;
