/** Times for people: how long ago, how long already, how long still. */
import { useEffect, useState } from 'react';

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

function ago(ms: number): string {
  const words = new Intl.RelativeTimeFormat(navigator.language, { numeric: 'auto' });
  for (const [unit, length] of steps) if (ms >= length) return words.format(-Math.floor(ms / length), unit);
  return 'just now';
}

export const fullTime = (iso: string): string =>
  new Intl.DateTimeFormat(navigator.language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));

export function Ago({ at }: { at: string }) {
  const now = useNow(20_000);
  return (
    <time dateTime={at} title={fullTime(at)}>
      {ago(now - Date.parse(at))}
    </time>
  );
}

function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
}

/** Seconds since. Not read out: it would never stop. */
export function Elapsed({ sinceMs }: { sinceMs: number }) {
  const now = useNow(1000);
  return (
    <span className="clock" aria-hidden="true">
      {clock(now - sinceMs)}
    </span>
  );
}

/** Seconds until. */
export function Remaining({ untilMs }: { untilMs: number }) {
  const now = useNow(1000);
  return (
    <span className="clock" aria-hidden="true">
      {clock(untilMs - now)}
    </span>
  );
}
