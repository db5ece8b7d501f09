/** Times that a person may want, in the zone of the browser. */

const at = (now: Date, days: number, hours: number) =>
  new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hours);

interface Offered {
  name: 'hour' | 'tonight' | 'tomorrow' | 'reset';
  at: Date;
}

/** The relay accepts times that are at least this far ahead; an agent accepts messages some time after its limit has reset. */
const marginMs = 60_000;

/** Tonight is offered until an hour before. A time that the clock skips is the same span after the gap. */
export function offeredAt(now: Date, resetsAt = ''): Offered[] {
  const tonight = at(now, 0, 20);
  const reset = Date.parse(resetsAt);
  return [
    { name: 'hour', at: new Date(now.getTime() + 3_600_000) },
    ...(tonight.getTime() - now.getTime() > 3_600_000 ? [{ name: 'tonight' as const, at: tonight }] : []),
    { name: 'tomorrow', at: at(now, 1, 9) },
    ...(reset > now.getTime() ? [{ name: 'reset' as const, at: new Date(reset + marginMs) }] : []),
  ];
}

export const zoneHere = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The moment at which the wall clock of a zone shows the value of a field. A time that the clock skips is the same span after the gap. */
export function momentIn(zone: string, value: string): Date {
  const reading = Date.parse(`${value}Z`);
  const wall = (ms: number) =>
    Date.parse(`${new Date(ms).toLocaleString('sv-SE', { timeZone: zone }).replace(' ', 'T')}Z`);
  const first = reading - (wall(reading) - reading);
  return new Date(reading - (wall(first) - first));
}

const two = (number: number) => String(number).padStart(2, '0');

/** For a field of the kind `datetime-local`. */
export const fieldValue = (date: Date): string =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;

/** The earliest and the latest time that the relay takes, with a minute to choose. */
export const boundsAt = (now: Date): { min: string; max: string } => ({
  min: fieldValue(new Date(now.getTime() + 120_000)),
  max: fieldValue(new Date(now.getTime() + 89 * 86_400_000)),
});
