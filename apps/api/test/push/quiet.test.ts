import { describe, expect, it } from '@jest/globals';
import type { QuietHours } from '@relay/protocol';
import { isTimeZone, quietEnd } from '../../src/push/quiet.ts';

/** Rules, 14.13. Times in UTC; in 2026 the clocks of Berlin change on 29 March and 25 October, those of New York on 8 March and 1 November. */
describe('quiet hours', () => {
  const night: QuietHours = { start: '22:00', end: '07:00', timeZone: 'Europe/Berlin' };
  const end = (quiet: QuietHours, now: string, cause: 'done' | 'needs_you' = 'done') => {
    const at = quietEnd(quiet, cause, Date.parse(now));
    return at === undefined ? undefined : new Date(at).toISOString().slice(0, 16);
  };

  it.each<[name: string, quiet: QuietHours, now: string, ends: string | undefined]>([
    ['begin on time', night, '2026-01-14T20:59:59.999Z', undefined],
    ['hold from the first moment', night, '2026-01-14T21:00:00.000Z', '2026-01-15T06:00'],
    ['hold after midnight', night, '2026-01-15T02:30:41.123Z', '2026-01-15T06:00'],
    ['stop on time', night, '2026-01-15T06:00:00.000Z', undefined],
    ['can lie within one day', { ...night, start: '12:00', end: '13:30' }, '2026-01-14T11:10:00Z', '2026-01-14T12:30'],
    ['are an hour shorter when clocks go forward', night, '2026-03-28T21:00:00Z', '2026-03-29T05:00'],
    ['are an hour longer when clocks go back', night, '2026-10-24T20:00:00Z', '2026-10-25T06:00'],
    [
      'stop after the gap that contains their end time',
      { ...night, end: '02:30' },
      '2026-03-29T00:40:00Z',
      '2026-03-29T01:00',
    ],
    ['do not begin in the gap', { ...night, start: '02:15', end: '02:45' }, '2026-03-29T01:00:00Z', undefined],
    ['stop at the first of two 02:30', { ...night, end: '02:30' }, '2026-10-24T23:00:00Z', '2026-10-25T00:30'],
    ['apply again in the repeated hour', { ...night, end: '02:30' }, '2026-10-25T01:10:00Z', '2026-10-25T01:30'],
    ['support other zones', { ...night, timeZone: 'America/New_York' }, '2026-03-08T03:00:00Z', '2026-03-08T11:00'],
    [
      'follow the change back there',
      { ...night, timeZone: 'America/New_York' },
      '2026-11-01T02:00:00Z',
      '2026-11-01T12:00',
    ],
    ['support half-hour offsets', { ...night, timeZone: 'Asia/Kolkata' }, '2026-06-01T20:00:00Z', '2026-06-02T01:30'],
    [
      'work across the date line',
      { ...night, timeZone: 'Pacific/Kiritimati' },
      '2026-06-01T12:00:00Z',
      '2026-06-01T17:00',
    ],
    [
      'support a change of half an hour',
      { ...night, timeZone: 'Australia/Lord_Howe' },
      '2026-04-04T12:00:00Z',
      '2026-04-04T20:30',
    ],
  ])('%s', (_name, quiet, now, ends) => expect(end(quiet, now)).toBe(ends));

  it('belong to the day on which they begin', () => {
    const weekend: QuietHours = { ...night, days: ['fri', 'sat'] };
    expect(end(weekend, '2026-01-16T21:30:00Z')).toBe('2026-01-17T06:00');
    expect(end(weekend, '2026-01-18T05:00:00Z')).toBe('2026-01-18T06:00');
    expect(end(weekend, '2026-01-18T21:30:00Z')).toBeUndefined();
    expect(end(weekend, '2026-01-16T05:00:00Z')).toBeUndefined();
  });

  it('let questions through by default, and any cause the user chose', () => {
    const now = '2026-01-15T02:00:00Z';
    expect(end(night, now, 'needs_you')).toBeUndefined();
    expect(end({ ...night, passes: [] }, now, 'needs_you')).toBe('2026-01-15T06:00');
    expect(end({ ...night, passes: ['done'] }, now)).toBeUndefined();
    const at = Date.parse(now);
    expect([quietEnd(night, 'test', at), quietEnd(night, 'device_allowed', at)]).toEqual([undefined, undefined]);
    expect(quietEnd(night, 'device_conflict', at)).toBeDefined();
  });

  it('agree with the clock of every minute of a year, in zones with and without a change', () => {
    for (const timeZone of ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']) {
      const quiet = { ...night, timeZone };
      const clock = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
      for (let day = 0; day < 366; day += 1) {
        const now = Date.parse('2026-01-01T23:17:00Z') + day * 86_400_000;
        const ends = quietEnd(quiet, 'done', now);
        const shown = clock.format(now);
        expect(ends === undefined).toBe(shown < '22:00' && shown >= '07:00');
        if (ends !== undefined) expect(clock.format(ends)).toBe('07:00');
      }
    }
  });

  it.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['Etc/GMT+3', true],
    ['+02:00', false],
    ['Mars/Olympus', false],
    ['', false],
  ])('accept the zone %s: %s', (zone, known) => expect(isTimeZone(zone)).toBe(known));
});
