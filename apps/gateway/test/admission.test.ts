import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Admission } from '../src/door/admission.ts';

describe('the admission of a device that connects too often', () => {
  let admission: Admission;

  beforeEach(() => {
    jest.useFakeTimers();
    admission = new Admission();
  });
  afterEach(() => {
    admission.stop();
    jest.useRealTimers();
  });

  const claims = async (count: number, device = 'd') => {
    for (let index = 0; index < count; index += 1) expect(await admission.admit(device)).toBe(true);
  };

  it('is free for ten claims a minute, and then one a second', async () => {
    await claims(10);
    const eleventh = admission.admit('d');
    await jest.advanceTimersByTimeAsync(999);
    const settled = jest.fn();
    void eleventh.then(settled);
    await jest.advanceTimersByTimeAsync(0);
    expect(settled).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(await eleventh).toBe(true);
    const twelfth = admission.admit('d');
    await jest.advanceTimersByTimeAsync(1000);
    expect(await twelfth).toBe(true);
  });

  it('gives the turn to the newest that waits and sends the others away', async () => {
    await claims(10);
    const waiting = [admission.admit('d'), admission.admit('d'), admission.admit('d')];
    expect(await waiting[0]).toBe(false);
    expect(await waiting[1]).toBe(false);
    await jest.advanceTimersByTimeAsync(1000);
    expect(await waiting[2]).toBe(true);
  });

  it('gives a turn every second however many come in between: the newest does not restart its wait', async () => {
    await claims(10);
    let admitted = 0;
    for (let tenth = 0; tenth < 50; tenth += 1) {
      void admission.admit('d').then((turn) => (admitted += turn ? 1 : 0));
      await jest.advanceTimersByTimeAsync(100);
    }
    expect(admitted).toBe(5);
  });

  it('forgets after a quiet minute, and one device does not slow another', async () => {
    await claims(10);
    await claims(10, 'another');
    await jest.advanceTimersByTimeAsync(60_000);
    await claims(10);
  });

  it('sends away who waits when it stops', async () => {
    await claims(10);
    const waiting = admission.admit('d');
    admission.stop();
    expect(await waiting).toBe(false);
  });
});
