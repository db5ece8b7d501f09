/**
 * When a schedule runs (rules, 26.18). The five fields of cron are read on the wall clock of an IANA zone, whose offsets `Intl` knows. A time
 * that the clock skips is the first minute after the gap, and a time that comes twice is its first coming. Pure.
 */

interface Rule {
  cron: string;
  zone: string;
}

/** Not a rule of five fields, an unknown zone, or no time within a year. */
export class InvalidRule extends Error {}

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** A year and the day after it. */
const daysAhead = 367;

interface Field {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const fields: readonly Field[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  // 7 is Sunday, too.
  { least: 0, most: 7, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

function valueOf(text: string, { least, most, names }: Field): number {
  const name = names?.indexOf(text.toLowerCase()) ?? -1;
  if (name >= 0) return name + (least === 1 ? 1 : 0);
  const value = /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most)) throw new InvalidRule(`"${text}" is not a value of this field.`);
  return value;
}

/** Lists, ranges and steps: `1,15`, `mon-fri`, `*`/`2`. */
function valuesOf(text: string, field: Field): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [range = '', step, ...more] = part.split('/');
    const by = step === undefined ? 1 : /^\d{1,2}$/.test(step) ? Number(step) : 0;
    const [first = '', last, ...others] = range.split('-');
    if (by < 1 || more.length > 0 || others.length > 0)
      throw new InvalidRule(`"${part}" is neither a value nor a range.`);
    const from = first === '*' && last === undefined ? field.least : valueOf(first, field);
    const end = field.most === 7 ? 6 : field.most;
    const to = last !== undefined ? valueOf(last, field) : first === '*' || step !== undefined ? end : from;
    if (from > to) throw new InvalidRule(`"${part}" ends before it begins.`);
    for (let value = from; value <= to; value += by) values.add(field.most === 7 ? value % 7 : value);
  }
  return values;
}

interface Parsed {
  /** Minutes of a day, in their order. */
  readonly minutes: readonly number[];
  readonly isDay: (reading: Date) => boolean;
}

/** @throws InvalidRule */
function parse(cron: string): Parsed {
  const texts = cron.trim().split(/\s+/);
  if (texts.length !== 5)
    throw new InvalidRule('A rule has five fields: minute, hour, day of month, month, day of week.');
  const [minutes, hours, days, months, weekdays] = texts.map((text, index) => valuesOf(text, fields[index]!));
  const [anyDay, anyWeekday] = [texts[2]!.startsWith('*'), texts[4]!.startsWith('*')];
  const inOrder = (values: ReadonlySet<number>) => [...values].sort((a, b) => a - b);
  return {
    minutes: inOrder(hours!).flatMap((hour) => inOrder(minutes!).map((minute) => hour * 60 + minute)),
    isDay: (reading) => {
      if (!months!.has(reading.getUTCMonth() + 1)) return false;
      const [isDay, isWeekday] = [days!.has(reading.getUTCDate()), weekdays!.has(reading.getUTCDay())];
      // A rule with both fields matches a day by either.
      return anyDay || anyWeekday ? isDay && isWeekday : isDay || isWeekday;
    },
  };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** @throws InvalidRule */
function formatOf(zone: string): Intl.DateTimeFormat {
  const cached = formats.get(zone);
  if (cached) return cached;
  // An offset is not a zone: its clock never changes.
  if (!/^[A-Za-z]/.test(zone)) throw new InvalidRule('The zone must be a name such as Europe/Paris.');
  try {
    const format = new Intl.DateTimeFormat('en', {
      ...{ timeZone: zone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23', year: 'numeric' },
      ...{ month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
    // People type a handful of zones; names of any spelling are accepted.
    if (formats.size >= 500) formats.clear();
    formats.set(zone, format);
    return format;
  } catch {
    throw new InvalidRule(`There is no zone "${zone.slice(0, 64)}".`);
  }
}

/** The wall clock of the zone minus UTC, at this moment. */
function offsetAt(zone: string, ms: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(ms)) parts[type] = Number(value);
  const { year, month, day, hour, minute, second } = parts;
  return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000;
}

/** The first moment with this reading of the wall clock; if the clock skips it, the moment of the change. `reading`: as if it were UTC. */
function momentOf(zone: string, reading: number): number {
  const [before, after] = [offsetAt(zone, reading - dayMs), offsetAt(zone, reading + dayMs)];
  const exact = [reading - before, reading - after].filter((ms) => ms + offsetAt(zone, ms) === reading);
  if (exact.length > 0) return Math.min(...exact);
  // The clock skips the reading: the change is between the two moments that it could be.
  let [low, high] = [reading - after, reading - before];
  while (high - low > minuteMs) {
    const middle = low + Math.floor((high - low) / 2 / minuteMs) * minuteMs;
    if (offsetAt(zone, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}

/** Times of the rule after `after`, earliest first, up to a year ahead of it. @throws InvalidRule */
function* timesAfter({ cron, zone }: Rule, after: number): Generator<number> {
  const { minutes, isDay } = parse(cron);
  const here = new Date(after + offsetAt(zone, after));
  const day = Date.UTC(here.getUTCFullYear(), here.getUTCMonth(), here.getUTCDate());
  let last = after;
  for (let n = 0; n < daysAhead; n += 1) {
    const reading = day + n * dayMs;
    if (!isDay(new Date(reading))) continue;
    for (const minute of minutes) {
      const at = momentOf(zone, reading + minute * minuteMs);
      // Several times of one gap are one time.
      if (at <= last) continue;
      last = at;
      yield at;
    }
  }
}

/** The first `count` times after `after`; fewer if a year has fewer. @throws InvalidRule */
export function nextTimes(rule: Rule, after: Date, count: number): Date[] {
  const times: Date[] = [];
  for (const at of timesAfter(rule, after.getTime())) {
    times.push(new Date(at));
    if (times.length >= count) break;
  }
  return times;
}

/** Times after `after`, `until` included, at most `most` of them: the newest. @throws InvalidRule */
export function timesBetween(rule: Rule, after: Date, until: Date, most: number): Date[] {
  let times: Date[] = [];
  for (let from = after.getTime(); ;) {
    let next: number | undefined;
    for (const at of timesAfter(rule, from)) {
      if (at > until.getTime()) return times.slice(-most);
      next = at;
      times.push(new Date(at));
      if (times.length > 2 * most) times = times.slice(-most);
    }
    if (next === undefined || next <= from) return times.slice(-most);
    from = next;
  }
}

/** Checks a rule: it has a time within a year after `now`, and no two of them are nearer than `apartMs`. @throws InvalidRule */
export function isTooOften(rule: Rule, now: Date, apartMs: number): boolean {
  const { minutes, isDay } = parse(rule.cron);
  const [first] = nextTimes(rule, now, 1);
  if (first === undefined) throw new InvalidRule('The rule has no time within a year.');
  const apart = apartMs / minuteMs;
  if (minutes.some((minute, index) => index > 0 && minute - minutes[index - 1]! < apart)) return true;
  const isNear = 1440 - minutes.at(-1)! + minutes[0]! < apart;
  const here = now.getTime() + offsetAt(rule.zone, now.getTime());
  const today = Math.floor(here / dayMs) * dayMs;
  for (let n = 0; n < daysAhead; n += 1) {
    const day = today + n * dayMs;
    if (!isDay(new Date(day))) continue;
    if (isNear && isDay(new Date(day + dayMs))) return true;
    // A clock that changes on this day moves its times.
    const noon = 12 * 3_600_000;
    if (offsetAt(rule.zone, day - noon) === offsetAt(rule.zone, day + dayMs + noon)) continue;
    const times = minutes.map((minute) => momentOf(rule.zone, day + minute * minuteMs));
    const gaps = times.map((at, index) => (index === 0 || at === times[index - 1] ? Infinity : at - times[index - 1]!));
    if (Math.min(...gaps) < apartMs) return true;
  }
  return false;
}
