/** Rules and times of schedules in the language of the pages. */
import { momentOf, timeOf, words } from '../catalogue.ts';
import { formOf } from './rule.ts';

/** `Every weekday 7:30 AM`; the five fields of another rule. */
export function ruleOf(cron: string): string {
  const { every, time, hours } = formOf(cron);
  if (every === 'rule') return cron;
  return every === 'hours'
    ? words.later.everyHours(hours)
    : `${words.later.every[every]} ${timeOf(`2026-01-01T${time}`)}`;
}

/** `Mon, 30 Nov, 7:30 AM` on the wall clock of a zone. */
export function timeIn(zone: string, iso: string): string {
  try {
    return new Date(iso).toLocaleString(document.documentElement.lang, {
      ...{ weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit', timeZone: zone },
    });
  } catch {
    // The relay knows a zone that this browser does not.
    return momentOf(iso);
  }
}
