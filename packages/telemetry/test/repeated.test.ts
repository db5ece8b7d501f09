import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { lines } from './lines.ts';

describe('a warning that comes again and again', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const repeated = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; repeated?: number; deviceId?: string })
      .map(({ msg, repeated: count, deviceId }) => [msg, count, deviceId]);

  it('R8: is written once, then as a count per interval with the fields of the newest, by all children together', () => {
    const { log, text } = lines('info', 1000);
    for (let n = 0; n < 500; n += 1)
      log.child({ deviceId: `d${n}` }).warn({ err: new Error('gone') }, 'a frame for apps could not be published');
    log.warn('something else');
    expect(repeated(text())).toEqual([
      ['a frame for apps could not be published', undefined, 'd0'],
      ['something else', undefined, undefined],
    ]);
    jest.advanceTimersByTime(1000);
    expect(repeated(text()).slice(2)).toEqual([['a frame for apps could not be published', 499, 'd499']]);
    expect(text().trim().split('\n').at(-1)).toContain('"message":"gone"');
    log.warn('a frame for apps could not be published');
    log.warn('a frame for apps could not be published');
    jest.advanceTimersByTime(1000);
    expect(repeated(text()).slice(3)).toEqual([['a frame for apps could not be published', 2, undefined]]);
  });

  it('R8: is written at once again after an interval without one', () => {
    const { log, text } = lines('info', 1000);
    log.warn('it happens');
    jest.advanceTimersByTime(1000);
    log.warn('it happens');
    expect(repeated(text())).toEqual([
      ['it happens', undefined, undefined],
      ['it happens', undefined, undefined],
    ]);
    jest.advanceTimersByTime(3000);
    expect(repeated(text())).toHaveLength(2);
  });

  it('R8: lets everything else through: information, errors, and warnings that differ', () => {
    const { log, text } = lines('info', 1000);
    for (const n of [1, 2, 3]) {
      log.info('again');
      log.error('again');
      log.warn(`warning ${n}`);
    }
    expect(repeated(text())).toHaveLength(9);
  });
});
