/**
 * Usage limits in the form of each agent. A message counts only where the agent failed, never in an answer. A limit without a reset, and a short limit
 * that passes by itself, are ordinary errors. Pure.
 */
import type { UsageLimit } from '@relay/protocol';
import type { ReachedLimit } from '@relay/daemon-kit';
import { AgentFailure } from './process.ts';
import type { Quirks } from './presets.ts';

interface Form {
  /** Whether the failure is a limit with a reset. */
  isLimit: (failure: AgentFailure) => boolean;
  /** The figures of the limit that was reached. */
  isReached: (limit: UsageLimit) => boolean;
  /** The time in the message; it can be past. `isClock`: it has neither a date nor a zone. */
  timeIn: (words: string, now: Date) => { at: Date | undefined; isClock?: boolean } | undefined;
}

const internalError = -32603;

const forms: Readonly<Record<NonNullable<Quirks['limit']>, Form>> = {
  claude: {
    isLimit: ({ code, data, message }) =>
      code === internalError &&
      data.errorKind === 'rate_limit' &&
      /^(?:Internal error: )?You\u2019?'?ve (?:hit your|reached your|used your)/i.test(message),
    isReached: ({ state }) => state === 'rejected',
    timeIn: (words, now) => {
      // "resets 5:40pm (Europe/Berlin)", "resets Jul 11 at 12pm (Asia/Singapore)", "resets Jan 3, 2027, 2:50am (UTC)": the zone is in the message.
      const found =
        /resets (?:(?<month>[A-Z][a-z]{2}) (?<day>\d{1,2}),? (?:(?<year>\d{4}),? )?(?:at )?)?(?<hour>\d{1,2})(?::(?<minute>\d{2}))?\s?(?<half>[ap]m) \((?<zone>[A-Za-z_+\-/0-9]+)\)/i.exec(
          words,
        )?.groups;
      return found && { at: zonedTime(found, now) };
    },
  },
  codex: {
    isLimit: ({ code, data }) => code === internalError && data.codexErrorInfo === 'usageLimitExceeded',
    isReached: ({ used }) => used !== undefined && used >= 1,
    timeIn: (words, now) => {
      const span = /\bin (?=\d)(?:(\d+) days?)?\s?(?:(\d+) hours?)?\s?(?:(\d+) minutes?)?/.exec(words);
      const [days = 0, hours = 0, minutes = 0] = (span?.slice(1) ?? []).map((part) => Number(part ?? 0));
      const ms = ((days * 24 + hours) * 60 + minutes) * 60_000;
      if (ms > 0) return { at: new Date(now.getTime() + ms) };
      // "at 4:45 AM", "at Sep 19th, 2026 4:12 AM": by the clock of this machine.
      const found =
        /at (?:(?<month>[A-Z][a-z]{2}) (?<day>\d{1,2})(?:st|nd|rd|th)?, (?<year>\d{4}) )?(?<hour>\d{1,2}):(?<minute>\d{2}) (?<half>[AP]M)/.exec(
          words,
        )?.groups;
      const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
      return found && { at: zonedTime({ ...found, zone }, now), isClock: found.month === undefined };
    },
  },
};

/** The limit that a failure of the agent reports; undefined for any other failure. `known`: the newest figures. */
export function limitIn(
  quirk: Quirks['limit'],
  error: unknown,
  reported: readonly UsageLimit[],
  now: Date,
): ReachedLimit | undefined {
  if (quirk === undefined || !(error instanceof AgentFailure)) return undefined;
  const { isLimit, isReached, timeIn } = forms[quirk];
  if (!isLimit(error)) return undefined;
  // If several limits hold, the one with the latest reset counts.
  const [figures] = reported
    .filter((limit) => isReached(limit) && limit.resets !== undefined && Date.parse(limit.resets) > now.getTime())
    .sort((a, b) => Date.parse(b.resets!) - Date.parse(a.resets!));
  if (figures) return { name: figures.name, resets_at: figures.resets!, source: 'figures' };
  const { message: plain } = error.data;
  const found = timeIn(typeof plain === 'string' ? `${plain} ${error.message}` : error.message, now);
  const isAhead = found?.at !== undefined && found.at > now;
  return {
    name: '',
    ...(isAhead ? { resets_at: found.at!.toISOString() } : {}),
    source: found?.isClock ? 'clock' : 'words',
  };
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

type Found = Readonly<Record<string, string | undefined>>;

/** A clock time in a zone: without a date the next one. Undefined for a zone or a date that does not exist. */
function zonedTime(found: Found, now: Date): Date | undefined {
  const { month, day, year, hour = '', minute = '0', half = '', zone = '' } = found;
  const hours = (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  const today = wallClock(now, zone);
  if (!today || Number(hour) > 12 || Number(minute) > 59) return undefined;
  const at = (y: number, m: number, d: number) => fromWallClock(Date.UTC(y, m, d, hours, Number(minute)), zone);
  if (month !== undefined) {
    const index = months.indexOf(month.toLowerCase());
    if (index < 0) return undefined;
    const inYear = (y: number) => at(y, index, Number(day));
    const first = inYear(Number(year ?? today.getUTCFullYear()));
    // A date of the year before means the next year: "Jan 2" in December.
    return year === undefined && first && first <= now ? inYear(today.getUTCFullYear() + 1) : first;
  }
  const on = (days: number) => at(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + days);
  const first = on(0);
  return first && first <= now ? on(1) : first;
}

/** The reading of a clock in the zone, as if it were UTC. */
function wallClock(at: Date, zone: string): Date | undefined {
  try {
    const format = new Intl.DateTimeFormat('en', {
      ...{ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    return new Date(Date.UTC(part.year!, part.month! - 1, part.day, part.hour, part.minute, part.second));
  } catch {
    return undefined;
  }
}

/** The first moment with this reading. A time that the clock skips in spring moves by the gap. */
function fromWallClock(reading: number, zone: string): Date | undefined {
  const offsetAt = (ms: number) => (wallClock(new Date(ms), zone)?.getTime() ?? NaN) - Math.floor(ms / 1000) * 1000;
  const candidates = [reading - 86_400_000, reading + 86_400_000]
    .map((near) => reading - offsetAt(near))
    .filter((ms) => !Number.isNaN(ms));
  const exact = candidates.filter((ms) => wallClock(new Date(ms), zone)?.getTime() === reading);
  const ms = exact.length > 0 ? Math.min(...exact) : Math.max(...candidates);
  return Number.isFinite(ms) ? new Date(ms) : undefined;
}
