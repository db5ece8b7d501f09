/** Numbers, dates, lists and plurals in the language of the pages. */
import { locale } from './language.ts';

/** Made at its first use: one takes milliseconds, which would delay the sign-in. */
const lazily = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => (made ??= make());
};
const format = (options: Intl.DateTimeFormatOptions) => lazily(() => new Intl.DateTimeFormat(locale, options));
const formats = {
  time: format({ timeStyle: 'short' }),
  day: format({ weekday: 'long', day: 'numeric', month: 'long' }),
  year: format({ day: 'numeric', month: 'long', year: 'numeric' }),
  full: format({ dateStyle: 'medium', timeStyle: 'short' }),
  weekday: format({ weekday: 'short' }),
  dayMonth: format({ day: 'numeric', month: 'short' }),
};
const whole = lazily(() => new Intl.NumberFormat(locale));
const pluralRules = lazily(() => new Intl.PluralRules(locale));
const phrases = lazily(() => new Intl.ListFormat(locale, { type: 'unit', style: 'short' }));
const parts = lazily(() => new Intl.ListFormat(locale, { type: 'unit', style: 'narrow' }));
const relative = lazily(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
const units = new Map<string, Intl.NumberFormat>();
function inUnits(value: number, unit: string, unitDisplay: 'narrow' | 'short' | 'long', digits = 0): string {
  const key = `${unit} ${unitDisplay} ${digits}`;
  let made = units.get(key);
  if (!made) {
    made = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay, maximumFractionDigits: digits });
    units.set(key, made);
  }
  return made.format(value);
}
/** The formats of the list of sessions, in steps of some tens of milliseconds each on a slow phone, for idle time. */
export const listFormats: readonly (() => unknown)[] = [
  () => shortAgo(new Date().toISOString(), Date.now()),
  () => inUnits(2, 'minute', 'narrow'),
  () => formats.time().format(0),
  () => formats.weekday().format(0),
  () => formats.dayMonth().format(0),
  () => formats.full().format(0),
  () => plural(2, { other: '#' }),
];
const valid = (iso: string) => !Number.isNaN(Date.parse(iso));

export const number = (value: number): string => whole().format(value);
/** The form for a count, `#` being the number. */
export const plural = (
  count: number,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string },
): string => (forms[pluralRules().select(count)] ?? forms.other).replace('#', number(count));
export const listOf = (all: readonly string[]): string => phrases().format(all);
/** Capitalizes the first letter. */
export const capital = (text: string): string => text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);

export const timeOf = (iso: string): string => (valid(iso) ? formats.time().format(new Date(iso)) : '');
export const fullTime = (iso: string): string => (valid(iso) ? formats.full().format(new Date(iso)) : '');

/** Since when something is known: the time of today, else with its day. */
export const momentOf = (iso: string): string =>
  dayKey(iso) === new Date().toDateString() ? timeOf(iso) : fullTime(iso);

/** Formats a range: `23 Nov 2026, 18:52 – 19:10`. */
export const spanOf = (from: string, to: string): string =>
  valid(from) && valid(to) ? formats.full().formatRange(new Date(from), new Date(to)) : '';

/** A local day as a key; empty for an invalid time. */
export const dayKey = (iso: string): string => (valid(iso) ? new Date(iso).toDateString() : '');
/** `Today`, `Yesterday`, `Friday, 2 October`, `2 October 2025`. */
export function dayOf(iso: string, now = new Date()): string {
  if (!valid(iso)) return '';
  const at = new Date(iso);
  const days = Math.round(
    (new Date(now.toDateString()).getTime() - new Date(at.toDateString()).getTime()) / 86_400_000,
  );
  if (days === 0 || days === 1) return capital(relative().format(-days, 'day'));
  return (at.getFullYear() === now.getFullYear() ? formats.day : formats.year)().format(at);
}

/** `now`, `4m`, `9:12`, `Fri`, `12 Oct`: how long ago, in as few signs as a list has room for. */
export function shortAgo(iso: string, nowMs: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return '';
  const minutes = Math.floor((nowMs - at) / 60_000);
  if (minutes < 1) return relative().format(0, 'second');
  if (minutes < 60) return inUnits(minutes, 'minute', 'narrow');
  if (new Date(at).toDateString() === new Date(nowMs).toDateString()) return timeOf(iso);
  return (nowMs - at < 6 * 86_400_000 ? formats.weekday : formats.dayMonth)().format(new Date(at));
}

const steps: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
/** `4 minutes ago`, `yesterday`; empty for less than a minute. */
export function ago(ms: number): string {
  for (const [unit, length] of steps) if (ms >= length) return relative().format(-Math.floor(ms / length), unit);
  return '';
}

/** `8s`, `1m 12s`, `2h 5m`. */
export function lasted(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const pair = (first: [number, string], second: [number, string]) =>
    parts().format([inUnits(...first, 'narrow'), inUnits(...second, 'narrow')]);
  if (seconds < 60) return inUnits(seconds, 'second', 'narrow');
  if (minutes < 60) return pair([minutes, 'minute'], [seconds % 60, 'second']);
  return pair([Math.floor(minutes / 60), 'hour'], [minutes % 60, 'minute']);
}

/** `512 bytes`, `1.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return inUnits(bytes, 'byte', 'long');
  return bytes < 1_000_000
    ? inUnits(bytes / 1000, 'kilobyte', 'short', 1)
    : inUnits(bytes / 1_000_000, 'megabyte', 'short', 1);
}
