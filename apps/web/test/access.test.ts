import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Refusal } from '../src/api/refusal.ts';
import { createAccess } from '../src/auth/access.ts';
import type { Token } from '../src/auth/sign-in-flow.ts';

const tokenOf = (sub: string, number: number): string => `e30.${btoa(JSON.stringify({ sub, number }))}.x`;

/** A sign-in; the test sets its next result. */
function signIn() {
  const answers: (() => Promise<Token | undefined>)[] = [];
  let asked = 0;
  const token = (sub = 'ada'): Token => ({ text: tokenOf(sub, asked), expiresAtMs: Date.now() + 600_000 });
  return {
    fetchToken: () => {
      asked += 1;
      return (answers.shift() ?? (() => Promise.resolve(token())))();
    },
    next: (answer: () => Promise<Token | undefined>) => void answers.push(answer),
    token,
    get asked() {
      return asked;
    },
  };
}

describe('access', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is opened by the sign-in of the browser', async () => {
    const access = createAccess({ fetchToken: signIn().fetchToken, onOtherPerson: () => undefined });
    expect(access.state.kind).toBe('opening');
    await access.open();
    expect(access.state.kind).toBe('in');
  });

  it('asks once for all concurrent requests of a token', async () => {
    const source = signIn();
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson: () => undefined });
    const [first, second] = await Promise.all([access.bearer(), access.bearer()]);
    expect(second).toBe(first);
    expect(await access.bearer()).toBe(first);
    expect(source.asked).toBe(1);
  });

  it('renews a refused token once for all its users', async () => {
    const source = signIn();
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson: () => undefined });
    const old = await access.bearer();
    const fresh = await access.renew(old);
    expect(fresh).not.toBe(old);
    expect(await access.renew(old)).toBe(fresh);
    expect(source.asked).toBe(2);
  });

  it('renews the token before it expires, and reports the new one', async () => {
    const source = signIn();
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson: () => undefined });
    await access.open();
    const told: string[] = [];
    access.onToken((token) => told.push(token));
    await jest.advanceTimersByTimeAsync(540_000);
    expect(told).toEqual([await access.bearer()]);
    expect(source.asked).toBe(2);
  });

  it('is out after the sign-in of the browser has expired', async () => {
    const source = signIn();
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson: () => undefined });
    const token = await access.bearer();
    source.next(() => Promise.resolve(undefined));
    await expect(access.renew(token)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(access.state).toEqual({ kind: 'out', ended: true });
  });

  it('stays signed in during a network failure', async () => {
    const source = signIn();
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson: () => undefined });
    const token = await access.bearer();
    source.next(() => Promise.reject(new Refusal('OFFLINE', '')));
    await expect(access.renew(token)).rejects.toMatchObject({ code: 'OFFLINE' });
    expect(access.state.kind).toBe('in');
    expect(await access.renew(token)).not.toBe(token);
  });

  it('reports a failure to open, and opens later', async () => {
    const source = signIn();
    source.next(() => Promise.reject(new Refusal('OFFLINE', '')));
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson: () => undefined });
    await access.open();
    expect(access.state).toMatchObject({ kind: 'trouble', refusal: { code: 'OFFLINE' } });
    await access.open();
    expect(access.state.kind).toBe('in');
  });

  it('notices that another person has signed in', async () => {
    const source = signIn();
    const onOtherPerson = jest.fn();
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson });
    const token = await access.bearer();
    await access.renew(token);
    expect(onOtherPerson).not.toHaveBeenCalled();
    source.next(() => Promise.resolve(source.token('bob')));
    await access.renew(await access.bearer());
    expect(onOtherPerson).toHaveBeenCalledTimes(1);
  });

  it('delays renewals until the sign-in is replaced', async () => {
    const source = signIn();
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson: () => undefined });
    const token = await access.bearer();
    let replaced: () => void = () => undefined;
    const work = access.during(() => new Promise<void>((resolve) => (replaced = resolve)));
    const renewed = access.renew(token);
    await jest.advanceTimersByTimeAsync(0);
    expect(source.asked).toBe(1);
    replaced();
    await work;
    expect(await renewed).not.toBe(token);
  });

  it('requests nothing after the person has left', async () => {
    const source = signIn();
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson: () => undefined });
    const token = await access.bearer();
    let left: () => void = () => undefined;
    const leaving = access.leave(() => new Promise<void>((resolve) => (left = resolve)));
    const refused = expect(access.renew(token)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    left();
    await leaving;
    await refused;
    expect(access.state).toEqual({ kind: 'out', ended: false });
    expect(source.asked).toBe(1);
  });

  it('signs out after all work that needs this person', async () => {
    const source = signIn();
    const access = createAccess({ fetchToken: source.fetchToken, onOtherPerson: () => undefined });
    const token = await access.bearer();
    const done: string[] = [];
    access.beforeLeaving(async () => {
      // A renewal does not wait for the sign-out, which waits for it.
      done.push((await access.renew(token)) === token ? 'with the old token' : 'with a new token');
    });
    access.beforeLeaving(() => Promise.reject(new Error('not any longer')))();
    await access.leave(() => Promise.resolve(done.push('signed out')));
    expect(done).toEqual(['with a new token', 'signed out']);
  });

  it('stays signed in when the sign-out fails', async () => {
    const access = createAccess({ fetchToken: signIn().fetchToken, onOtherPerson: () => undefined });
    await access.open();
    await expect(access.leave(() => Promise.reject(new Refusal('OFFLINE', '')))).rejects.toMatchObject({
      code: 'OFFLINE',
    });
    expect(access.state.kind).toBe('in');
  });
});
