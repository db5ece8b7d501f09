/** Rules of schedules in the form of the page. */
import { describe, expect, it } from '@jest/globals';
import { cronOf, formOf } from '../src/later/rule.ts';

describe('the form of a schedule', () => {
  it.each([
    ['30 7 * * *', { every: 'day', time: '07:30' }],
    ['30 7 * * 1-5', { every: 'weekday', time: '07:30' }],
    ['0 6 * * 0', { every: 'week', time: '06:00', weekday: 0 }],
    ['5 16 31 * *', { every: 'month', time: '16:05', day: 31 }],
    ['15 */4 * * *', { every: 'hours', time: '00:15', hours: 4 }],
    ['0 * * * *', { every: 'hours', time: '00:00', hours: 1 }],
    ['0 9 1 * 1', { every: 'rule', cron: '0 9 1 * 1' }],
    ['0 9 * jan mon-fri', { every: 'rule', cron: '0 9 * jan mon-fri' }],
    ['0 */5 * * *', { every: 'rule', cron: '0 */5 * * *' }],
  ])('reads and writes %s', (cron, expected) => {
    expect(formOf(cron)).toMatchObject(expected);
    expect(cronOf(formOf(cron))).toBe(cron);
  });
});
