/** The times of `--at` and `--in`, by this computer's clock. */
import { describe, expect, it } from '@jest/globals';
import { resetOf, timeOf } from '../src/commands/at-time.ts';

const now = new Date(2026, 10, 29, 14, 30, 12);
const local = (...[year, month, day, hours, minutes]: [number, number, number, number, number]) =>
  new Date(year, month - 1, day, hours, minutes).toISOString();

describe('the time of a message', () => {
  it.each([
    [{ at: '20:00' }, local(2026, 11, 29, 20, 0)],
    [{ at: '9:00' }, local(2026, 11, 30, 9, 0)],
    [{ at: 'today 20:00' }, local(2026, 11, 29, 20, 0)],
    [{ at: 'tomorrow 9:05' }, local(2026, 11, 30, 9, 5)],
    [{ at: '2027-02-28 07:30' }, local(2027, 2, 28, 7, 30)],
    [{ at: '2027-03-01T09:00:00Z' }, '2027-03-01T09:00:00.000Z'],
    [{ in: '90m' }, new Date(now.getTime() + 90 * 60_000).toISOString()],
    [{ in: '1h30m' }, new Date(now.getTime() + 90 * 60_000).toISOString()],
    [{ in: '3d' }, new Date(now.getTime() + 3 * 86_400_000).toISOString()],
    [{}, undefined],
  ])('%j is %s', (options, expected) => {
    expect(timeOf(options, now)).toBe(expected);
  });

  it.each([
    { at: '25:00' },
    { at: '9:60' },
    { at: '2027-02-29 09:00' },
    { at: '2027-13-01 09:00' },
    { at: 'soon' },
    { at: '2027-03-01T09:00:00' },
    { in: '2' },
    { in: '2w' },
    { at: '9:00', in: '2h' },
  ])('%j is refused', (options) => {
    expect(() => timeOf(options, now)).toThrow();
  });
});

describe('--at-reset', () => {
  const now = new Date('2026-11-29T12:00:00Z');

  it('is 30 s to 2 minutes after the reset of the session’s limit', () => {
    const limit = { name: 'five_hour', resetsAt: '2026-11-29T15:00:00Z', at: '2026-11-29T11:00:00Z' };
    const { notBefore, because } = resetOf({ limit }, now);
    expect(because).toBe('limit');
    expect(notBefore >= '2026-11-29T15:00:30' && notBefore <= '2026-11-29T15:02:01').toBe(true);
    const past = { ...limit, resetsAt: '2026-11-29T11:30:00Z' };
    expect(resetOf({ limit: past }, now).notBefore).toBe('2026-11-29T12:00:35.000Z');
  });

  it('needs a limit with a reset, and takes no other time beside it', () => {
    expect(() => resetOf({}, now)).toThrow('no usage limit');
    expect(() => resetOf({ limit: { name: '', at: '2026-11-29T11:00:00Z' } }, now)).toThrow('did not report');
    expect(() => timeOf({ in: '2h', atReset: true }, now)).toThrow();
  });
});
