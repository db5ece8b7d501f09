/** When schedules run, over both clock changes of a year (rules, 26.18). */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InvalidRule, isTooOften, nextTimes, timesBetween } from '../src/schedule-times.ts';

const minuteMs = 60_000;
const iso = (times: readonly Date[]) => times.map((at) => at.toISOString().slice(0, 16));
const next = (cron: string, zone: string, after: string, count = 3) =>
  iso(nextTimes({ cron, zone }, new Date(`${after}Z`), count));

/** The wall clock of a zone, written by another formatter than the one under test. */
const wall = (at: Date, zone: string) =>
  at.toLocaleString('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });

describe('the times of a schedule', () => {
  it.each([
    // The clock goes from 2:00 to 3:00.
    ['30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00', ['2027-03-28T01:00', '2027-03-29T00:30', '2027-03-30T00:30']],
    ['0 * * * *', 'Europe/Berlin', '2027-03-28T00:00', ['2027-03-28T01:00', '2027-03-28T02:00', '2027-03-28T03:00']],
    // It goes from 3:00 back to 2:00.
    ['30 2 * * *', 'Europe/Berlin', '2027-10-30T12:00', ['2027-10-31T00:30', '2027-11-01T01:30', '2027-11-02T01:30']],
    ['0 */2 * * *', 'Europe/Berlin', '2027-10-30T22:00', ['2027-10-31T00:00', '2027-10-31T03:00', '2027-10-31T05:00']],
    [
      '30 2 * * *',
      'America/New_York',
      '2027-03-13T12:00',
      ['2027-03-14T07:00', '2027-03-15T06:30', '2027-03-16T06:30'],
    ],
    [
      '30 1 * * *',
      'America/New_York',
      '2027-11-06T12:00',
      ['2027-11-07T05:30', '2027-11-08T06:30', '2027-11-09T06:30'],
    ],
    // Half an hour: from 2:00 to 2:30 on the first Sunday of October, back to 1:30 on that of April.
    [
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2027-10-02T12:00',
      ['2027-10-02T15:30', '2027-10-03T15:15', '2027-10-04T15:15'],
    ],
    [
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2027-04-03T12:00',
      ['2027-04-03T14:45', '2027-04-04T15:15', '2027-04-05T15:15'],
    ],
    // At midnight, in a country whose day then begins at 1:00.
    ['0 0 * * *', 'America/Santiago', '2027-09-04T12:00', ['2027-09-05T04:00', '2027-09-06T03:00', '2027-09-07T03:00']],
    // Ramadan: the clock goes from 3:00 back to 2:00 when it begins, and from 2:00 to 3:00 when it is over.
    [
      '30 2 * * *',
      'Africa/Casablanca',
      '2027-02-06T12:00',
      ['2027-02-07T01:30', '2027-02-08T02:30', '2027-02-09T02:30'],
    ],
    [
      '30 2 * * *',
      'Africa/Casablanca',
      '2027-03-13T12:00',
      ['2027-03-14T02:00', '2027-03-15T01:30', '2027-03-16T01:30'],
    ],
    ['0 9 * * 1-5', 'Europe/Paris', '2026-11-28T00:00', ['2026-11-30T08:00', '2026-12-01T08:00', '2026-12-02T08:00']],
    ['0 9 13 * fri', 'UTC', '2026-11-10T00:00', ['2026-11-13T09:00', '2026-11-20T09:00', '2026-11-27T09:00']],
    ['0 12 1,15 jan-mar *', 'UTC', '2026-11-10T00:00', ['2027-01-01T12:00', '2027-01-15T12:00', '2027-02-01T12:00']],
    ['0 0 * * 7', 'UTC', '2026-11-28T00:00', ['2026-11-29T00:00', '2026-12-06T00:00', '2026-12-13T00:00']],
  ])('of %s in %s after %s', (cron, zone, after, expected) => {
    expect(next(cron, zone, after)).toEqual(expected);
  });

  const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca'];
  const rules = fc.record({
    zone: fc.constantFrom(...zones),
    minute: fc.constantFrom('0', '15', '*/30', '5,45'),
    hour: fc.constantFrom('0', '1', '2', '3', '*', '1-3', '*/2'),
    weekday: fc.constantFrom('*', 'sun', 'sat,sun', '1-5'),
  });
  /** Nights of the clock changes in these zones. */
  const nights = fc.constantFrom(
    '2027-02-07',
    '2027-03-14',
    '2027-03-28',
    '2027-04-03',
    '2027-04-04',
    '2027-10-02',
    '2027-10-31',
    '2027-11-07',
  );

  it('come true, each once and with the reading of its fields', () => {
    fc.assert(
      fc.property(
        rules,
        nights,
        fc.integer({ min: -2880, max: 1440 }),
        ({ zone, minute, hour, weekday }, night, shift) => {
          const rule = { cron: `${minute} ${hour} * * ${weekday}`, zone };
          const from = new Date(Date.parse(`${night}T00:00Z`) + shift * minuteMs);
          const times = nextTimes(rule, from, 40);
          // Asked again after each of them, as the relay does after a run.
          let at = from;
          for (const time of times) {
            [at] = nextTimes(rule, at, 1) as [Date];
            expect(at).toEqual(time);
          }
          const readings = times.map((time) => wall(time, zone));
          expect(new Set(readings).size).toBe(times.length);
          expect([...readings].sort()).toEqual(readings);
          expect(timesBetween(rule, from, times.at(-1)!, 100)).toEqual(times);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('have each day once, for a daily time at any minute of the night', () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), nights, fc.integer({ min: 0, max: 239 }), (zone, night, minute) => {
        const rule = { cron: `${minute % 60} ${Math.floor(minute / 60)} * * *`, zone };
        const days = nextTimes(rule, new Date(Date.parse(`${night}T00:00Z`) - 3 * 1440 * minuteMs), 6).map((at) =>
          Date.parse(`${wall(at, zone).slice(0, 10)}T00:00Z`),
        );
        expect(days).toEqual(days.map((_, index) => days[0]! + index * 1440 * minuteMs));
      }),
      { numRuns: 60 },
    );
  });

  it('are the newest ones of a long time', () => {
    const rule = { cron: '*/15 * * * *', zone: 'UTC' };
    const times = timesBetween(rule, new Date('2026-01-01T00:00Z'), new Date('2026-01-03T00:00Z'), 5);
    expect(iso(times)).toEqual([
      '2026-01-02T23:00',
      '2026-01-02T23:15',
      '2026-01-02T23:30',
      '2026-01-02T23:45',
      '2026-01-03T00:00',
    ]);
  });
});

describe('a rule', () => {
  const check = (cron: string, zone = 'Europe/Berlin') =>
    isTooOften({ cron, zone }, new Date('2026-11-29T12:00Z'), 15 * minuteMs);

  it.each([
    ['* * * * *', true],
    ['*/15 * * * *', false],
    ['*/14 * * * *', true],
    ['0,50 * * * *', true],
    ['55 23 * * *', false],
    ['5,55 0,23 * * *', true],
    // The times from 2:00 to 3:00 are one at 3:00, in the night of March.
    ['30 2 * * *', false],
    ['5,30 2,3 * * *', true],
  ])('%s is too often: %s', (cron, expected) => {
    expect(check(cron)).toBe(expected);
  });

  it.each([
    ['0 9 * *'],
    ['0 0 9 * * *'],
    ['@daily'],
    ['60 9 * * *'],
    ['0 24 * * *'],
    ['0 9 31 2 *'],
    ['0 9 * * mo'],
    ['0 9 L * *'],
    ['0 9 5-1 * *'],
    ['0 9 */0 * *'],
    ['0 9 1-2-3 * *'],
    ['0 9 * * ?'],
  ])('%s is refused', (cron) => {
    expect(() => check(cron)).toThrow(InvalidRule);
  });

  it.each([['Mars/Olympus'], ['+01:00'], [''], ['Europe/Berlin; DROP']])('of the zone “%s” is refused', (zone) => {
    expect(() => check('0 9 * * *', zone)).toThrow(InvalidRule);
  });
});
