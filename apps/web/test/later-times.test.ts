/** The times of messages in another zone than that of the browser. */
import { expect, it } from '@jest/globals';
import { momentIn, offeredAt } from '../src/later/times.ts';

it.each([
  ['Asia/Tokyo', '2026-11-30T09:00', '2026-11-30T00:00:00.000Z'],
  ['America/New_York', '2026-11-30T23:30', '2026-12-01T04:30:00.000Z'],
  ['Africa/Casablanca', '2027-02-08T09:00', '2027-02-08T09:00:00.000Z'],
  // The clock goes from 2:00 to 3:00: the same span after the gap.
  ['Europe/Paris', '2027-03-28T02:30', '2027-03-28T01:30:00.000Z'],
  ['Europe/Paris', '2027-03-28T03:30', '2027-03-28T01:30:00.000Z'],
  ['Australia/Lord_Howe', '2027-10-03T02:15', '2027-10-02T15:45:00.000Z'],
])('the clock of %s shows %s at %s', (zone, value, expected) => {
  expect(momentIn(zone, value).toISOString()).toBe(expected);
});

it('offers the reset of a limit until it has passed', () => {
  const now = new Date('2026-11-29T12:00:00.000Z');
  const names = (resetsAt?: string) => offeredAt(now, resetsAt).map(({ name }) => name);
  expect(names('2026-11-29T15:00:00.000Z')).toContain('reset');
  expect(names('2026-11-29T11:00:00.000Z')).not.toContain('reset');
  expect(names()).not.toContain('reset');
});
