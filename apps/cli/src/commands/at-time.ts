/** `--at`, `--in` and `--at-reset`: the time to send a message. Times use this computer's clock and zone. */
import { type Session, limits } from '@relay/protocol';
import { Failure } from '@relay/machine';
import { usage } from '../failure.ts';

export interface TimeOptions {
  at?: string;
  in?: string;
  atReset?: boolean;
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const wallClock = /^(?:(today|tomorrow) )?(\d{1,2}):(\d{2})$/;
const dated = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{1,2}):(\d{2})$/;

/** Returns the time in ISO 8601; undefined if both options are absent. @throws Failure BAD_USAGE */
export function timeOf(options: TimeOptions, now = new Date()): string | undefined {
  if ([options.at, options.in, options.atReset].filter((given) => given !== undefined).length > 1)
    throw usage('Give only one of --at, --in and --at-reset.');
  const at = options.in === undefined ? options.at && moment(options.at, now) : later(options.in, now);
  return at ? at.toISOString() : undefined;
}

/** Returns when a session continues after its usage limit. @throws Failure NO_LIMIT */
export function resetOf({ limit }: Pick<Session, 'limit'>, now = new Date()): { notBefore: string; because: 'limit' } {
  if (limit?.resetsAt === undefined)
    throw new Failure(
      'NO_LIMIT',
      limit
        ? 'The agent did not report when its limit resets. Choose a time with --at or --in.'
        : 'This session has no usage limit to wait for. Send the message now, or choose a time with --at or --in.',
    );
  const atMs = Date.parse(limit.resetsAt) + limits.continueFromMs + Math.random() * limits.continueWithinMs;
  // The relay takes no time that is nearer.
  const notBefore = new Date(Math.max(atMs, now.getTime() + limits.laterFromMs + 5000)).toISOString();
  return { notBefore, because: 'limit' };
}

function later(typed: string, now: Date): Date {
  if (!/^(?:\d+[mhd])+$/.test(typed)) throw usage('--in must be a duration such as 90m, 2h, 1h30m or 3d.');
  const ms = [...typed.matchAll(/(\d+)([mhd])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * unitMs[unit!]!,
    0,
  );
  return new Date(now.getTime() + ms);
}

/** A clock time without a day is its next occurrence. */
function moment(typed: string, now: Date): Date {
  const clock = wallClock.exec(typed);
  if (clock) {
    const [, day, hours, minutes] = clock;
    const on = (days: number) => at(typed, now.getFullYear(), now.getMonth(), now.getDate() + days, hours!, minutes!);
    if (day === 'tomorrow') return on(1);
    const today = on(0);
    return day === undefined && today <= now ? on(1) : today;
  }
  const date = dated.exec(typed);
  if (date) {
    const [year, month, day] = [Number(date[1]), Number(date[2]), Number(date[3])];
    if (month < 1 || month > 12 || day < 1 || day > new Date(year, month, 0).getDate())
      throw usage(`"${typed}" is not a date.`);
    return at(typed, year, month - 1, day, date[4]!, date[5]!);
  }
  const exact = /[Zz]$|[+-]\d\d:\d\d$/.test(typed) ? new Date(typed) : new Date(NaN);
  if (Number.isNaN(exact.getTime()))
    throw usage('--at must be a time such as 20:00, "tomorrow 9:00", "2027-03-01 09:00" or 2027-03-01T09:00:00Z.');
  return exact;
}

/** Uses the zone of this computer. A time in a daylight-saving gap moves to the same span after the gap. */
function at(typed: string, year: number, month: number, day: number, hours: string, minutes: string): Date {
  if (Number(hours) > 23 || Number(minutes) > 59) throw usage(`"${typed}" is not a time of day.`);
  return new Date(year, month, day, Number(hours), Number(minutes));
}
