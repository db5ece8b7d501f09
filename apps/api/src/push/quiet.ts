/**
 * Quiet hours on the wall clock of a zone (rules, 14.13): quiet is every moment at which that clock shows a time between `start`
 * and `end`. A clock change therefore moves the quiet hours with the clock: a repeated hour is quiet twice, and a skipped one not
 * at all.
 */
import {
  type ChosenCause,
  type DeliveryCause,
  type QuietHours,
  type Weekday,
  chosenCauseOf,
  weekdays,
} from '@relay/protocol';

const minuteMs = 60_000;
const dayMinutes = 24 * 60;
const passesByDefault: readonly ChosenCause[] = ['needs_you'];

const clocks = new Map<string, Intl.DateTimeFormat>();
const maxClocks = 500;

/** @throws RangeError for an unknown zone */
function clockOf(timeZone: string): Intl.DateTimeFormat {
  const cached = clocks.get(timeZone);
  if (cached) return cached;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (clocks.size >= maxClocks) clocks.clear();
  clocks.set(timeZone, made);
  return made;
}

/** True for an IANA name that this system knows; an offset such as `+02:00` has no clock changes and does not count. */
export function isTimeZone(timeZone: string): boolean {
  if (!/^[A-Za-z]/.test(timeZone)) return false;
  try {
    return clockOf(timeZone) !== undefined;
  } catch {
    return false;
  }
}

const minutesOf = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

/** The clock of a zone: the weekday and the minutes since midnight. */
function wall(timeZone: string, at: number): { day: number; minutes: number } {
  const parts = new Map(
    clockOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return {
    day: weekdays.indexOf((parts.get('weekday') ?? '').toLowerCase() as Weekday),
    minutes: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
  };
}

function isQuiet({ start, end, timeZone, days }: QuietHours, at: number): boolean {
  const { day, minutes } = wall(timeZone, at);
  const begins = (of: number) => days === undefined || days.includes(weekdays[of]!);
  const [from, to] = [minutesOf(start), minutesOf(end)];
  if (from < to) return from <= minutes && minutes < to && begins(day);
  return (minutes >= from && begins(day)) || (minutes < to && begins((day + 6) % 7));
}

/** Returns when the quiet hours that hold this cause are over, in ms since 1970; undefined outside quiet hours. */
export function quietEnd(quiet: QuietHours | null, cause: DeliveryCause, now: number): number | undefined {
  const chosen = cause === 'test' ? undefined : chosenCauseOf(cause);
  if (quiet === null || chosen === undefined || (quiet.passes ?? passesByDefault).includes(chosen)) return undefined;
  if (!isQuiet(quiet, now)) return undefined;
  const thisMinute = Math.floor(now / minuteMs) * minuteMs;
  const left = (minutesOf(quiet.end) - wall(quiet.timeZone, now).minutes + dayMinutes) % dayMinutes;
  const direct = thisMinute + left * minuteMs;
  // If no clock change comes first, the difference on the clock is the real duration.
  if (!isQuiet(quiet, direct) && isQuiet(quiet, direct - minuteMs)) return direct;
  for (let at = thisMinute + minuteMs; ; at += minuteMs) if (!isQuiet(quiet, at)) return at;
}
