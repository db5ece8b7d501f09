/** Rules of schedules as a form has them. A rule that the form cannot show stays as its five fields. Pure. */

export const every = ['day', 'weekday', 'week', 'month', 'hours', 'rule'] as const;
export type Every = (typeof every)[number];

export interface Form {
  every: Every;
  /** `07:30`. */
  time: string;
  /** 0 is Sunday. */
  weekday: number;
  day: number;
  hours: number;
  cron: string;
}

export const hourSteps = [1, 2, 3, 4, 6, 8, 12];
export const newForm: Form = { every: 'weekday', time: '09:00', weekday: 1, day: 1, hours: 4, cron: '' };

const two = (value: string | number) => String(value).padStart(2, '0');

/** The five fields of a rule. */
export function cronOf({ every: kind, time, weekday, day, hours, cron }: Form): string {
  if (kind === 'rule') return cron.trim();
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  if (kind === 'hours') return `${minute} ${hours === 1 ? '*' : `*/${hours}`} * * *`;
  const date = kind === 'month' ? day : '*';
  const days = kind === 'weekday' ? '1-5' : kind === 'week' ? weekday : '*';
  return `${minute} ${hour} ${date} * ${days}`;
}

export function formOf(cron: string): Form {
  const form = { ...newForm, cron };
  const hourly = /^(\d{1,2}) \*(?:\/(\d{1,2}))? \* \* \*$/.exec(cron);
  if (hourly && hourSteps.includes(Number(hourly[2] ?? 1)))
    return { ...form, every: 'hours', time: `00:${two(hourly[1]!)}`, hours: Number(hourly[2] ?? 1) };
  const found = /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|[0-6]|1-5)$/.exec(cron);
  if (!found) return { ...form, every: 'rule' };
  const [, minute, hour, day, weekday] = found;
  const at = { ...form, time: `${two(hour!)}:${two(minute!)}` };
  if (day === '*' && weekday === '*') return { ...at, every: 'day' };
  if (day === '*')
    return weekday === '1-5' ? { ...at, every: 'weekday' } : { ...at, every: 'week', weekday: Number(weekday) };
  return weekday === '*' ? { ...at, every: 'month', day: Number(day) } : { ...form, every: 'rule' };
}
