/** The second step of a sign-in with a password, and the bypasses that must not exist (rules, 8.22). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '@relay/database';
import {
  Browser,
  type TestRelay,
  giveCode,
  giveRecoveryCode,
  oneTimeCode,
  password,
  pkce,
  redeem,
  setUpSecondFactor,
  signedInWeb,
  startRelay,
} from '@relay/testing';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ identity: true, apis: 2, config: { signInPerMinute: 1000 } });
});
afterAll(() => relay.stop());

let people = 0;
/** A user with a second factor, in the browser where they set it up. */
async function person() {
  people += 1;
  const email = `person${people}@example.com`;
  const browser = new Browser(relay);
  const id = await browser.signUp(email);
  return { id, email, browser, ...(await setUpSecondFactor(browser)) };
}

/** Another browser, on the other instance, with the correct password. */
async function halfWay(email: string): Promise<Browser> {
  const browser = new Browser(relay);
  browser.api = 1;
  expect(await browser.signIn(email)).toMatchObject({
    status: 200,
    body: { twoFactorRedirect: true, twoFactorMethods: ['totp'] },
  });
  return browser;
}

const statusOf = async (browser: Browser) => (await browser.send('GET', '/auth/relay/me')).status;
const stateOf = async (browser: Browser) => (await browser.send('GET', '/auth/relay/second-factor')).body as object;
const refusal = (code: string) => expect.objectContaining({ body: expect.objectContaining({ code }) });

describe('one-time codes', () => {
  it('follow the password, and complete the sign-in', async () => {
    const { email, uri } = await person();
    const browser = await halfWay(email);
    expect(await statusOf(browser)).toBe(401);
    expect((await giveCode(browser, oneTimeCode(uri, 1))).status).toBe(200);
    expect(await statusOf(browser)).toBe(200);
    expect((await signedInWeb(browser)).access_token).toEqual(expect.any(String));
  });

  it("are off until the app's first code was correct, and need only the password to set up", async () => {
    const browser = new Browser(relay);
    await browser.signUp('setting-up@example.com');
    expect(await stateOf(browser)).toEqual({ on: false, hasPassword: true });
    const begin = (secret: string) => browser.send('POST', '/auth/two-factor/enable', { body: { password: secret } });
    expect(await begin('not the password')).toEqual(refusal('INVALID_PASSWORD'));
    const { body } = await begin(password);
    expect(body.totpURI).toMatch(/^otpauth:\/\/totp\/Relay%20localhost:setting-up%40example\.com\?secret=[A-Z2-7]+&/);
    expect(await giveCode(browser, '000000')).toEqual(refusal('INVALID_CODE'));
    expect(await stateOf(browser)).toEqual({ on: false, hasPassword: true });
    expect((await new Browser(relay).signIn('setting-up@example.com')).body).toHaveProperty('user');
    expect((await giveCode(browser, oneTimeCode(body.totpURI as string))).status).toBe(200);
    expect(await stateOf(browser)).toEqual({ on: true, hasPassword: true, recoveryCodesLeft: 10 });
    expect(await begin(password)).toEqual(refusal('TOTP_ALREADY_ENABLED'));
  });

  it('complete the sign-in of a waiting program, and not before', async () => {
    const { email, uri } = await person();
    const browser = new Browser(relay);
    const { verifier, challenge } = pkce();
    const page = await browser.authorize('relay-web', challenge);
    const oauth_query = page.search.slice(1);
    const half = await browser.send('POST', '/auth/sign-in/email', { body: { email, password, oauth_query } });
    expect(half.body).toEqual({ twoFactorRedirect: true, twoFactorMethods: ['totp'] });
    const { body } = await giveCode(browser, oneTimeCode(uri, 1), { oauth_query });
    const code = new URL(body.url as string).searchParams.get('code')!;
    const redirectUri = `${relay.config.publicUrl}/callback`;
    expect((await redeem(relay, 'relay-web', code, verifier, redirectUri)).status).toBe(200);
  });

  it('can be turned off with the password, which deletes all their data', async () => {
    const { id, email, uri, browser } = await person();
    const off = (secret: string) =>
      browser.send('POST', '/auth/two-factor/disable', { body: { password: secret, code: oneTimeCode(uri, 1) } });
    expect(await off('not the password')).toEqual(refusal('INVALID_PASSWORD'));
    expect((await off(password)).status).toBe(200);
    expect(await stateOf(browser)).toEqual({ on: false, hasPassword: true });
    expect(await relay.database.models.secondFactor.count({ where: { userId: id } })).toBe(0);
    expect((await new Browser(relay).signIn(email)).body).toHaveProperty('user');
  });

  it('work after a crash between the two rows that turn them on', async () => {
    const { id, email, uri } = await person();
    await relay.database.models.secondFactor.updateMany({ where: { userId: id }, data: { verified: false } });
    const browser = new Browser(relay);
    await browser.signIn(email);
    expect((await giveCode(browser, oneTimeCode(uri, 1))).status).toBe(200);
  });

  it('appear in the audit and in notifications: set up, requested, refused, accepted, turned off', async () => {
    const { id, email, uri, usedCode, browser, recoveryCodes } = await person();
    const other = await halfWay(email);
    await giveCode(other, '000000');
    await giveCode(other, usedCode);
    await giveCode(other, oneTimeCode(uri, 1));
    const third = await halfWay(email);
    await giveRecoveryCode(third, 'none-such0');
    await giveRecoveryCode(third, recoveryCodes[0]!);
    const renewed = await browser.send('POST', '/auth/two-factor/generate-backup-codes', {
      body: { password, code: recoveryCodes[1]! },
    });
    const { backupCodes } = renewed.body as { backupCodes: string[] };
    await browser.send('POST', '/auth/two-factor/disable', { body: { password, code: backupCodes[0]! } });
    const rows = await relay.database.models.auditEntry.findMany({ where: { userId: id }, orderBy: { id: 'asc' } });
    expect(rows.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'signIn done',
      'setUpSecondFactor done',
      'turnOnSecondFactor done',
      'signIn done',
      'signOut done',
      'signIn SECOND_FACTOR_REQUIRED',
      'signIn INVALID_CODE',
      'signIn ONE_TIME_CODE_USED',
      'signIn done',
      'signIn SECOND_FACTOR_REQUIRED',
      'useRecoveryCode INVALID_BACKUP_CODE',
      'signIn done',
      'useRecoveryCode done',
      'renewRecoveryCodes done',
      'turnOffSecondFactor done',
      'signIn done',
      'signOut done',
    ]);
    const notices = await relay.database.models.notification.findMany({
      where: { userId: id },
      orderBy: { id: 'asc' },
    });
    expect(notices.map(({ cause, name }) => `${cause}: ${name}`)).toEqual([
      'account_changed: The second step at sign-in was turned on.',
      'account_changed: A recovery code was used to sign in.',
      'account_changed: New recovery codes replaced the old ones.',
      'account_changed: The second step at sign-in was turned off.',
    ]);
  });

  it('are encrypted in the database, like the recovery codes', async () => {
    const { id, uri, recoveryCodes } = await person();
    const [row] = await relay.database.sql.query<{ text: string }>(
      sql`SELECT s::text AS text FROM second_factors s WHERE user_id = ${id}`,
    );
    const secret = new URL(uri).searchParams.get('secret')!;
    for (const plain of [secret, ...recoveryCodes]) expect(row!.text).not.toContain(plain);
  });
});

describe('recovery codes', () => {
  it('sign in once each', async () => {
    const { email, recoveryCodes } = await person();
    expect(new Set(recoveryCodes).size).toBe(10);
    const browser = await halfWay(email);
    expect((await giveRecoveryCode(browser, recoveryCodes[3]!)).status).toBe(200);
    expect(await stateOf(browser)).toMatchObject({ recoveryCodesLeft: 9 });
    expect(await giveRecoveryCode(await halfWay(email), recoveryCodes[3]!)).toEqual(refusal('INVALID_BACKUP_CODE'));
  });

  it('sign one browser in when two use the same code at the same time', async () => {
    const { email, recoveryCodes } = await person();
    const both = [await halfWay(email), await halfWay(email)];
    await Promise.all(both.map((browser) => giveRecoveryCode(browser, recoveryCodes[0]!)));
    const statuses = await Promise.all(both.map(statusOf));
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it('are replaced by ten new ones, with the password', async () => {
    const { email, browser, recoveryCodes } = await person();
    const renew = (secret: string) =>
      browser.send('POST', '/auth/two-factor/generate-backup-codes', { body: { password: secret } });
    expect(await renew('not the password')).toEqual(refusal('INVALID_PASSWORD'));
    const fresh = (await renew(password)).body.backupCodes as string[];
    const other = await halfWay(email);
    expect(await giveRecoveryCode(other, recoveryCodes[0]!)).toEqual(refusal('INVALID_BACKUP_CODE'));
    expect((await giveRecoveryCode(other, fresh[0]!)).status).toBe(200);
  });
});

describe('an attacker with the password and a signed-in browser', () => {
  it.each(['/relay/confirm', '/two-factor/disable', '/two-factor/generate-backup-codes'])(
    'S8: gets nothing from %s without a code, and each code counts once',
    async (path) => {
      const { id, email, uri, usedCode, browser, recoveryCodes } = await person();
      const send = (body: object) => browser.send('POST', `/auth${path}`, { body });
      await relay.database.models.login.updateMany({
        where: { userId: id },
        data: { createdAt: new Date(0), confirmedAt: null },
      });
      expect(await send({ password })).toEqual(refusal('SECOND_FACTOR_REQUIRED'));
      for (const code of ['', '   ', null])
        expect(await send({ password, code })).toEqual(refusal('SECOND_FACTOR_REQUIRED'));
      for (const code of ['000000', oneTimeCode(uri, 10), oneTimeCode(uri, -10), 'none-such0', 'undefined', '[]'])
        expect([code, await send({ password, code })]).toEqual([code, refusal('INVALID_CODE')]);
      // Used, or too old by then.
      expect((await send({ password, code: usedCode })).body.code).toMatch(/^(?:ONE_TIME_CODE_USED|INVALID_CODE)$/);
      for (const code of [123456, { a: 1 }, ['000000']]) expect((await send({ password, code })).status).toBe(400);
      // Codes of another user, and field names of the library.
      expect(await send({ password, code: (await person()).recoveryCodes[0] })).toEqual(refusal('INVALID_CODE'));
      expect(await send({ password, totp: oneTimeCode(uri, 1) })).toEqual(refusal('SECOND_FACTOR_REQUIRED'));
      // A wrong password uses no code.
      expect(await send({ password: 'not the password', code: recoveryCodes[0] })).toEqual(refusal('INVALID_PASSWORD'));
      expect(await stateOf(browser)).toMatchObject({ on: true, recoveryCodesLeft: 10 });
      const [login] = await relay.database.models.login.findMany({ where: { user: { email } } });
      expect(login!.confirmedAt).toBeNull();

      // Made once: a new half minute between two would make two codes.
      const next = ` ${oneTimeCode(uri, 1)} `;
      const both = await Promise.all([1, 2].map(() => send({ password, code: next })));
      // The first request removes the account's second step.
      const isOff = path === '/two-factor/disable';
      expect(both.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
      if (!isOff) expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    },
  );

  it('S8: cannot change the password without a code after an old sign-in', async () => {
    const { id, email, browser, recoveryCodes } = await person();
    const change = (more: object, newPassword = 'another good password') =>
      browser.send('POST', '/auth/change-password', { body: { currentPassword: password, newPassword, ...more } });
    const where = { where: { userId: id }, data: { createdAt: new Date(0), confirmedAt: null } };
    await relay.database.models.login.updateMany(where);
    expect(await change({})).toEqual(refusal('SECOND_FACTOR_REQUIRED'));
    expect(await change({ code: '000000' })).toEqual(refusal('INVALID_CODE'));
    expect(await change({ password, code: '' })).toEqual(refusal('SECOND_FACTOR_REQUIRED'));
    // A wrong password uses no code.
    const wrong = { currentPassword: 'not the password', code: recoveryCodes[0] };
    expect(await change(wrong)).toEqual(refusal('INVALID_PASSWORD'));
    expect((await new Browser(relay).signIn(email)).body).toHaveProperty('twoFactorRedirect');
    expect((await change({ code: recoveryCodes[0] })).status).toBe(200);
    expect((await new Browser(relay).signIn(email, 'another good password')).body).toHaveProperty('twoFactorRedirect');
  });

  it('S8: a recovery code confirms once, and is used up', async () => {
    const { browser, recoveryCodes } = await person();
    const send = (code: string) => browser.send('POST', '/auth/relay/confirm', { body: { password, code } });
    expect((await send(recoveryCodes[0]!)).status).toBe(200);
    expect(await send(recoveryCodes[0]!)).toEqual(refusal('INVALID_CODE'));
    expect(await stateOf(browser)).toMatchObject({ recoveryCodesLeft: 9 });
  });

  it('S8: a user without a second step needs the password alone', async () => {
    const browser = new Browser(relay);
    await browser.signUp('plain-step-up@example.com');
    expect((await browser.send('POST', '/auth/relay/confirm', { body: { password } })).status).toBe(200);
  });
});

describe('an attacker with the password', () => {
  it('reaches nothing without the code', async () => {
    const { email } = await person();
    const browser = await halfWay(email);
    const sends: [string, string, object?][] = [
      ['GET', '/auth/relay/me'],
      ['GET', '/auth/relay/second-factor'],
      ['GET', '/auth/relay/browsers'],
      ['GET', '/auth/relay/applications'],
      ['POST', '/auth/relay/invitations', {}],
      ['POST', '/auth/relay/confirm', { password }],
      ['POST', '/auth/relay/sign-out-everywhere', {}],
      ['POST', '/auth/update-user', { name: 'Eve' }],
      ['POST', '/auth/change-password', { currentPassword: password, newPassword: 'another good password' }],
      ['POST', '/auth/two-factor/enable', { password }],
      ['POST', '/auth/two-factor/disable', { password }],
      ['POST', '/auth/two-factor/generate-backup-codes', { password }],
      ['POST', '/auth/oauth2/consent', { accept: true }],
    ];
    for (const [method, path, body] of sends) {
      const { status } = await browser.send(method, path, body ? { body } : {});
      expect([path, status >= 400 && status < 500]).toEqual([path, true]);
    }
    expect((await browser.send('GET', '/auth/get-session')).body).toBeNull();
    expect((await browser.authorize('relay-cli', pkce().challenge)).pathname).toBe('/sign-in');
    const silent = await browser.authorize('relay-web', pkce().challenge, { prompt: 'none' });
    expect(silent.searchParams.get('error')).toBe('login_required');
    expect(await relay.database.models.login.count({ where: { user: { email } } })).toBe(1);
  });

  it('cannot reuse a code: not from the set-up, nor from a sign-in, nor twice at the same time', async () => {
    const { email, uri, usedCode } = await person();
    const first = await halfWay(email);
    expect(await giveCode(first, usedCode)).toEqual(refusal('ONE_TIME_CODE_USED'));
    const code = oneTimeCode(uri, 1);
    const both = [first, await halfWay(email)];
    const statuses = (await Promise.all(both.map((browser) => giveCode(browser, code)))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 401]);
    expect(await giveCode(await halfWay(email), code)).toEqual(refusal('ONE_TIME_CODE_USED'));
  });

  it('has five guesses, then starts again, and after ten the account accepts no code for a while', async () => {
    const { email, uri } = await person();
    for (let round = 0; round < 2; round += 1) {
      const browser = await halfWay(email);
      for (let guess = 0; guess < 5; guess += 1)
        expect(await giveCode(browser, '000000')).toEqual(refusal('INVALID_CODE'));
      const last = await giveCode(browser, oneTimeCode(uri, 1));
      expect(last.body.code).toBe(round === 0 ? 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE' : 'ACCOUNT_TEMPORARILY_LOCKED');
      expect(await statusOf(browser)).toBe(401);
    }
    const locked = await giveCode(await halfWay(email), oneTimeCode(uri, 1));
    expect(locked).toMatchObject({ status: 429, body: { message: expect.stringContaining('15 minutes') } });
    await relay.database.models.secondFactor.updateMany({ data: { lockedUntil: new Date(Date.now() - 1) } });
    expect((await giveCode(await halfWay(email), oneTimeCode(uri, 1))).status).toBe(200);
  });

  it('gets no more guesses by sending them at the same time', async () => {
    const { id, email } = await person();
    const browser = await halfWay(email);
    await Promise.all(Array.from({ length: 20 }, () => giveCode(browser, '000000')));
    const row = await relay.database.models.secondFactor.findUnique({ where: { userId: id } });
    expect(row!.failedVerificationCount).toBeLessThanOrEqual(5);
  });

  it("cannot make a user complete the attacker's sign-in, or replay the state of a completed one", async () => {
    const victim = await person();
    const attacker = await person();
    const planted = await halfWay(attacker.email);
    const browser = new Browser(relay);
    for (const [name, value] of planted.cookies) browser.cookies.set(name, value);
    expect(await giveCode(browser, oneTimeCode(victim.uri, 1))).toEqual(refusal('INVALID_CODE'));

    const half = await halfWay(victim.email);
    const before = new Map(half.cookies);
    expect((await giveCode(half, oneTimeCode(victim.uri, 1))).status).toBe(200);
    const late = new Browser(relay);
    for (const [name, value] of before) late.cookies.set(name, value);
    expect(await giveCode(late, oneTimeCode(victim.uri, -1))).toEqual(refusal('INVALID_TWO_FACTOR_COOKIE'));
    expect(await statusOf(late)).toBe(401);
    for (const [name, value] of before) expect([name, half.cookies.get(name) === value]).toEqual([name, false]);
  });

  it('cannot mark the browser as trusted, or forge the cookie of the pending step', async () => {
    const { email, uri } = await person();
    const browser = await halfWay(email);
    await giveCode(browser, oneTimeCode(uri, 1), { trustDevice: true });
    expect([...browser.cookies.keys()].filter((name) => name.includes('trust'))).toEqual([]);
    expect((await browser.signIn(email)).body).toHaveProperty('twoFactorRedirect', true);
    const forged = new Browser(relay);
    for (const [name, value] of browser.cookies) forged.cookies.set(name, `${value.slice(0, -6)}aaaa%3D`);
    expect(await giveCode(forged, oneTimeCode(uri, -1))).toEqual(refusal('INVALID_TWO_FACTOR_COOKIE'));
  });

  it('loses a pending sign-in when the user changes the password or signs out everywhere', async () => {
    const { email, uri, browser } = await person();
    const early = await halfWay(email);
    const body = { currentPassword: password, newPassword: 'another good password' };
    expect((await browser.send('POST', '/auth/change-password', { body })).status).toBe(200);
    expect(await giveCode(early, oneTimeCode(uri, 1))).toEqual(refusal('INVALID_TWO_FACTOR_COOKIE'));
    const late = new Browser(relay);
    await late.signIn(email, body.newPassword);
    await browser.send('POST', '/auth/relay/sign-out-everywhere', { body: {} });
    expect(await giveCode(late, oneTimeCode(uri, 1))).toEqual(refusal('INVALID_TWO_FACTOR_COOKIE'));
  });

  it('finds no other path of the second step open', async () => {
    const { browser } = await person();
    for (const path of ['get-totp-uri', 'send-otp', 'verify-otp', 'view-backup-codes'])
      expect((await browser.send('POST', `/auth/two-factor/${path}`, { body: { password } })).status).toBe(404);
  });

  it('guesses the password of a signed-in browser no more often here than elsewhere', async () => {
    const { browser } = await person();
    const guess = (path: string) => browser.send('POST', `/auth/two-factor/${path}`, { body: { password: 'wrong' } });
    for (let round = 0; round < 10; round += 1) {
      expect((await guess('disable')).status).toBe(400);
      expect((await guess('generate-backup-codes')).status).toBe(400);
    }
    expect((await guess('disable')).status).toBe(429);
    expect((await guess('enable')).status).toBe(429);
  });
});

describe('AUTH_SECRET', () => {
  it('can be rotated: a start with both encrypts again, and codes still work without the old one', async () => {
    const first = await startRelay({ identity: true });
    const { database } = first;
    const on = async <T>(authSecret: string[], work: (relay: TestRelay, log: string[]) => Promise<T>): Promise<T> => {
      const log: string[] = [];
      const write = (line: string) => void log.push(line);
      const next = await startRelay({
        identity: true,
        database,
        config: { authSecret, logLevel: 'warn' },
        log: { write },
      });
      return work(next, log).finally(() => next.stop());
    };
    const browser = new Browser(first);
    await browser.signUp('rotated@example.com');
    const { uri, recoveryCodes } = await setUpSecondFactor(browser);
    const signIn = async (at: TestRelay, code: string) => {
      const other = new Browser(at);
      await other.signIn('rotated@example.com');
      return (await giveCode(other, code)).status;
    };
    try {
      const secret = 'the next secret, with more than 32 characters';
      await on([secret, ...first.config.authSecret], () => Promise.resolve());
      await on([secret], async (at) => {
        expect(await signIn(at, oneTimeCode(uri, 1))).toBe(200);
        const other = new Browser(at);
        await other.signIn('rotated@example.com');
        expect((await giveRecoveryCode(other, recoveryCodes[0]!)).status).toBe(200);
      });
      await on(['a secret without any of those before, 32 or more'], async (at, log) => {
        expect(log.join('')).toContain('relay-admin reset-second-factor');
        expect(await signIn(at, oneTimeCode(uri, -1))).toBe(409);
      });
    } finally {
      await first.stop();
    }
  });
});
