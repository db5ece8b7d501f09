/** Passkeys: a sign-in without a password, and the bypasses that must not exist (rules, 8.25). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Authenticator,
  Browser,
  type TestRelay,
  password,
  pkce,
  redeem,
  setUpSecondFactor,
  startRelay,
} from '@relay/testing';
import { createLogger } from '@relay/telemetry';
import { type PeopleDeps, peopleOf } from '../../src/account/people.ts';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ identity: true, apis: 2, config: { signInPerMinute: 1000 } });
});
afterAll(() => relay.stop());

let people = 0;
/** A user with a passkey, in the browser where they added it. */
async function person() {
  people += 1;
  const email = `person${people}@example.com`;
  const browser = new Browser(relay);
  const id = await browser.signUp(email);
  const device = new Authenticator();
  expect(await device.register(browser, 'My phone')).toMatchObject({ status: 200, body: { name: 'My phone' } });
  return { id, email, browser, device };
}

/** Another browser, on the other instance. */
const elsewhere = (): Browser => {
  const browser = new Browser(relay);
  browser.api = 1;
  return browser;
};
const listed = async (browser: Browser) =>
  ((await browser.send('GET', '/auth/relay/passkeys')).body as { passkeys: { id: string; name: string }[] }).passkeys;
const statusOf = async (browser: Browser) => (await browser.send('GET', '/auth/relay/me')).status;
const refusal = (status: number, code: string) =>
  expect.objectContaining({ status, body: expect.objectContaining({ code }) });
const signedInAgo = (userId: string, seconds: number) =>
  relay.database.models.login.updateMany({
    where: { userId },
    data: { createdAt: new Date(Date.now() - seconds * 1000), confirmedAt: null },
  });

describe('passkeys', () => {
  it('sign in without the password, on every instance, and are listed with their last use', async () => {
    const { id, browser, device } = await person();
    expect(await listed(browser)).toEqual([
      { id: expect.any(String), name: 'My phone', createdAt: expect.any(String), synced: false },
    ]);
    const other = elsewhere();
    expect(await device.signIn(other)).toMatchObject({ status: 200, body: { user: { id } } });
    expect(await statusOf(other)).toBe(200);
    expect(await listed(other)).toMatchObject([{ name: 'My phone', lastUsedAt: expect.any(String) }]);
  });

  it('complete the sign-in of a waiting program', async () => {
    const { device } = await person();
    const other = elsewhere();
    const { verifier, challenge } = pkce();
    const page = await other.authorize('relay-web', challenge);
    const { body } = await device.signIn(other, {}, { oauth_query: page.search.slice(1) });
    const code = new URL(body.url as string).searchParams.get('code')!;
    const redirectUri = `${relay.config.publicUrl}/callback`;
    expect((await redeem(relay, 'relay-web', code, verifier, redirectUri)).status).toBe(200);
  });

  it('count as two steps: the device, and its check of the person', async () => {
    const { email, browser, device } = await person();
    await setUpSecondFactor(browser);
    const other = elsewhere();
    expect((await device.signIn(other, { checksPerson: false })).status).toBe(403);
    expect(await statusOf(other)).toBe(401);
    expect((await device.signIn(other)).status).toBe(200);
    expect(await statusOf(other)).toBe(200);
    // Also during a password sign-in that waits for its code.
    const half = elsewhere();
    await half.signIn(email);
    expect(await statusOf(half)).toBe(401);
    expect((await device.signIn(half)).status).toBe(200);
    expect(await statusOf(half)).toBe(200);
  });

  it('require a recent sign-in to be added; the password makes one recent', async () => {
    const { id, browser } = await person();
    await signedInAgo(id, 901);
    const device = new Authenticator();
    expect(await device.register(browser)).toEqual(refusal(403, 'SIGN_IN_NOT_RECENT'));
    expect(await browser.send('POST', '/auth/passkey/verify-registration', { body: { response: {} } })).toEqual(
      refusal(403, 'SIGN_IN_NOT_RECENT'),
    );
    // The library considers yesterday's sign-in stale, although the user entered a password since.
    await signedInAgo(id, 2 * 86_400);
    await browser.send('POST', '/auth/relay/confirm', { body: { password } });
    expect((await device.register(browser)).status).toBe(200);
    expect(await listed(browser)).toHaveLength(2);
    expect((await device.register(new Browser(relay))).status).toBe(401);
  });

  it('make a sign-in recent', async () => {
    const { id, browser, device } = await person();
    await signedInAgo(id, 901);
    expect((await new Authenticator().register(browser)).status).toBe(403);
    expect((await device.signIn(browser)).status).toBe(200);
    expect((await new Authenticator().register(browser)).status).toBe(200);
  });

  it('are refused from another page, without user verification, with an earlier challenge, and if another device signs', async () => {
    const { browser, device } = await person();
    expect(await new Authenticator().register(browser, 'x', { checksPerson: false })).toEqual(
      refusal(403, 'PASSKEY_UNVERIFIED'),
    );
    expect(await new Authenticator().register(browser, 'x', { origin: 'https://evil.example' })).toEqual(
      refusal(400, 'INVALID_REQUEST'),
    );
    const other = elsewhere();
    expect(await device.signIn(other, { origin: 'https://evil.example' })).toEqual(
      refusal(400, 'AUTHENTICATION_FAILED'),
    );
    expect(await device.signIn(other, { checksPerson: false })).toEqual(refusal(403, 'PASSKEY_UNVERIFIED'));
    expect(await new Authenticator().signIn(other)).toEqual(refusal(401, 'PASSKEY_NOT_FOUND'));

    const asked = await other.send('GET', '/auth/passkey/generate-authenticate-options');
    const { challenge, rpId } = asked.body as { challenge: string; rpId: string };
    const response = device.answer(other, challenge, rpId);
    const forged = {
      ...response,
      ...new Authenticator().answer(other, challenge, rpId),
      id: (response as { id: string }).id,
    };
    const give = (body: object) => other.send('POST', '/auth/passkey/verify-authentication', { body });
    expect(await give({ response: { ...forged, rawId: forged.id } })).toEqual(refusal(400, 'AUTHENTICATION_FAILED'));
    // The forged answer used the challenge up.
    expect(await give({ response })).toEqual(refusal(400, 'CHALLENGE_NOT_FOUND'));
    expect(await statusOf(other)).toBe(401);
    expect((await device.signIn(other)).status).toBe(200);
  });

  it('can be renamed and removed by their user only; a removed one no longer signs in', async () => {
    const { browser, device } = await person();
    const stranger = (await person()).browser;
    const { id } = (await listed(browser))[0]!;
    const rename = (by: Browser, name: string) =>
      by.send('POST', '/auth/passkey/update-passkey', { body: { id, name } });
    const remove = (by: Browser) => by.send('POST', '/auth/passkey/delete-passkey', { body: { id } });
    expect((await rename(stranger, 'Mine')).status).toBe(401);
    expect((await remove(stranger)).status).toBe(401);
    expect(await rename(browser, 'x'.repeat(201))).toEqual(refusal(400, 'NAME_TOO_LONG'));
    expect((await rename(browser, 'Old phone')).status).toBe(200);
    expect(await listed(browser)).toMatchObject([{ id, name: 'Old phone' }]);
    expect((await remove(browser)).status).toBe(200);
    expect(await listed(browser)).toEqual([]);
    expect(await device.signIn(elsewhere())).toEqual(refusal(401, 'PASSKEY_NOT_FOUND'));
  });

  it('appear in the audit, with refusals, and the user gets a notification of one added or removed', async () => {
    const { id, browser, device } = await person();
    await device.signIn(elsewhere(), { checksPerson: false });
    await device.signIn(elsewhere());
    const passkey = (await listed(browser))[0]!;
    await browser.send('POST', '/auth/passkey/update-passkey', { body: { id: passkey.id, name: 'Mine' } });
    await browser.send('POST', '/auth/passkey/delete-passkey', { body: { id: passkey.id } });
    const rows = await relay.database.models.auditEntry.findMany({ where: { userId: id }, orderBy: { id: 'asc' } });
    expect(rows.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
      'signIn done',
      'addPasskey done',
      'signInWithPasskey PASSKEY_UNVERIFIED',
      'signInWithPasskey done',
      'renamePasskey done',
      'removePasskey done',
    ]);
    const notices = await relay.database.models.notification.findMany({
      where: { userId: id },
      orderBy: { id: 'asc' },
    });
    expect(notices.map(({ name }) => name)).toEqual([
      'A passkey was added. It signs in without the password.',
      'A passkey was removed.',
    ]);
  });

  it('are limited to 20', async () => {
    const { id, browser } = await person();
    await relay.database.sql.execute`
      INSERT INTO passkeys (id, public_key, user_id, credential_id, counter, device_type, backed_up)
      SELECT id || n, public_key, user_id, credential_id || n, counter, device_type, backed_up
      FROM passkeys, generate_series(1, 18) n WHERE user_id = ${id}`;
    expect((await new Authenticator().register(browser)).status).toBe(200);
    expect(await new Authenticator().register(browser)).toEqual(refusal(403, 'TOO_MANY_PASSKEYS'));
  });

  it('refuse a disabled user, and are removed when the operator sets a password', async () => {
    const { id, email, device } = await person();
    const operator = peopleOf({
      ...relay,
      ...{
        backplane: relay.apis[0]!.backplane,
        logger: createLogger({ level: 'silent', name: 'test', instance: 'test' }),
      },
      // Needed only to delete an account.
      deviceVerifier: {} as PeopleDeps['deviceVerifier'],
    });
    await operator.setDisabled(email, true);
    expect(await device.signIn(elsewhere())).toEqual(refusal(403, 'ACCOUNT_DISABLED'));
    await operator.setDisabled(email, false);
    expect((await device.signIn(elsewhere())).status).toBe(200);
    await operator.resetPassword(email);
    expect(await relay.database.models.passkey.count({ where: { userId: id } })).toBe(0);
    expect(await device.signIn(elsewhere())).toEqual(refusal(401, 'PASSKEY_NOT_FOUND'));
  });

  it('require a password: a user of an upstream service cannot add one', async () => {
    const { id, browser } = await person();
    await relay.database.models.credential.updateMany({ where: { userId: id }, data: { password: null } });
    expect(await new Authenticator().register(browser)).toEqual(refusal(403, 'PASSWORD_REQUIRED'));
  });
});
