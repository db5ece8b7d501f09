/**
 * A person must have signed in recently to let a machine or a program in (rules, 8.12): an unattended token or browser
 * is not enough.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser, type TestRelay, password, pkce, redeem, signedInCli, signedInWeb, startRelay } from '@relay/testing';

const notRecent = { status: 403, body: { code: 'SIGN_IN_NOT_RECENT' } };

describe('letting a machine or a program in', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ identity: true, apis: 2 });
  });
  afterAll(() => relay.stop());

  const ask = async () => {
    const body = { hostname: 'laptop', agent_type: 'scripted' };
    const answer = await relay.call('requestCode', { user: null, body });
    return answer.body as { user_code: string; device_code: string };
  };
  const decide = (token: string, code: string, what: 'approve' | 'deny' = 'approve', api = 0) =>
    relay.call('POST', `/api/devices/code/${code}/${what}`, {
      user: null,
      api,
      headers: { Authorization: `Bearer ${token}` },
    });
  const poll = ({ device_code }: { device_code: string }) =>
    relay.call('pollCode', { user: null, body: { device_code } });
  const signedInAgo = (userId: string, seconds: number) =>
    relay.database.models.login.updateMany({
      where: { userId },
      data: { createdAt: new Date(Date.now() - seconds * 1000), confirmedAt: null },
    });

  it('S18: approving needs a recent token of another issuer, by auth_time or by iat; denying accepts any', async () => {
    const code = await ask();
    for (const old of [{ issuedSecondsAgo: 901 }, { signedInSecondsAgo: 901 }]) {
      const refused = await decide(relay.token('tern', old), code.user_code);
      expect(refused).toMatchObject(notRecent);
      expect(refused.headers['www-authenticate']).toContain('max_age="900"');
    }
    expect((await poll(code)).body).toMatchObject({ error: 'authorization_pending' });
    const recent = relay.token('tern', { issuedSecondsAgo: 2000, signedInSecondsAgo: 800 });
    expect((await decide(recent, code.user_code)).status).toBe(200);
    expect((await poll(code)).status).toBe(200);
    const other = await ask();
    expect((await decide(relay.token('tern', { signedInSecondsAgo: 901 }), other.user_code, 'deny')).status).toBe(200);
  });

  it('S18: an old sign-in learns nothing about a code, and uses up no guess', async () => {
    for (let n = 0; n < 8; n += 1)
      expect(await decide(relay.token('skua', { signedInSecondsAgo: 901 }), 'BBBB-BBBB')).toMatchObject(notRecent);
    expect((await decide(relay.token('skua'), (await ask()).user_code)).status).toBe(200);
  });

  it('S18: after the password again, the browser and its programs can approve the same code on every instance', async () => {
    const browser = new Browser(relay);
    const userId = await browser.signUp('dunlin@example.com');
    const web = (await signedInWeb(browser)).access_token;
    const cli = (await signedInCli(browser)).access_token;
    await signedInAgo(userId, 901);
    const [first, second] = [await ask(), await ask()];
    expect(await decide(web, first.user_code)).toMatchObject(notRecent);
    expect(await decide(cli, second.user_code)).toMatchObject(notRecent);
    const confirm = (secret: string) => browser.send('POST', '/auth/relay/confirm', { body: { password: secret } });
    expect((await confirm('something else')).status).toBe(400);
    expect(await decide(web, first.user_code)).toMatchObject(notRecent);
    expect((await confirm(password)).status).toBe(200);
    expect((await decide(web, first.user_code)).status).toBe(200);
    expect((await decide(cli, second.user_code, 'approve', 1)).status).toBe(200);
    // A new sign-in in one browser does not make another one recent.
    await signedInAgo(userId, 901);
    const elsewhere = new Browser(relay);
    expect((await elsewhere.signIn('dunlin@example.com')).status).toBe(200);
    const third = await ask();
    expect(await decide(web, third.user_code)).toMatchObject(notRecent);
    expect((await decide((await signedInWeb(elsewhere)).access_token, third.user_code)).status).toBe(200);
  });

  it('S18: allowing a program needs the password again after 15 minutes, denying it does not; the request stays valid', async () => {
    const browser = new Browser(relay);
    const userId = await browser.signUp('godwit@example.com');
    const { verifier, challenge } = pkce();
    const page = await browser.authorize('relay-cli', challenge);
    expect(page.pathname).toBe('/consent');
    await signedInAgo(userId, 901);
    const allow = () =>
      browser.send('POST', '/auth/oauth2/consent', { body: { accept: true, oauth_query: page.search.slice(1) } });
    expect(await allow()).toMatchObject(notRecent);
    const denied = await browser.consent(await browser.authorize('relay-cli', challenge), false);
    expect(denied.searchParams.get('error')).toBe('access_denied');
    expect((await browser.send('POST', '/auth/relay/confirm', { body: { password } })).status).toBe(200);
    const answer = await allow();
    expect(answer.status).toBe(200);
    const code = new URL(answer.body.url as string).searchParams.get('code')!;
    expect((await redeem(relay, 'relay-cli', code, verifier)).status).toBe(200);
    // No other value in the body bypasses this.
    await signedInAgo(userId, 901);
    const again = await browser.authorize('relay-cli', challenge);
    for (const accept of [true, 'true', 1])
      expect(
        (await browser.send('POST', '/auth/oauth2/consent', { body: { accept, oauth_query: again.search.slice(1) } }))
          .status,
      ).toBeGreaterThanOrEqual(400);
  });
});
