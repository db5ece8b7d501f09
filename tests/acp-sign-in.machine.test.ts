/**
 * Promise: an ACP client that a person authorised, by a token or by the built-in sign-in, reaches exactly what they
 * granted, until they revoke it.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser, type TestRelay, callWith, password, pkce, redeem, signedInWeb, startRelay } from '@relay/testing';
import { openAcp } from './acp-scene.ts';

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('an ACP client', () => {
  let relay: TestRelay;
  let people = 0;

  beforeAll(async () => {
    relay = await startRelay({ identity: true, apis: 2 });
  });
  afterAll(() => relay.stop());

  /** A person with a machine, signed in on the pages. */
  async function person() {
    const browser = new Browser(relay);
    people += 1;
    await browser.signUp(`person${people}@example.com`);
    const headers = bearer((await signedInWeb(browser)).access_token);
    const machine = { user: null, body: { hostname: 'laptop', agent_type: 'scripted' } };
    const { userCode, deviceCode } = (await relay.call('requestCode', machine)).body;
    expect((await relay.call('approveCode', { user: null, headers, params: { userCode } })).status).toBe(200);
    const { deviceId } = (await relay.call('pollCode', { user: null, body: { device_code: deviceCode } })).body as {
      deviceId: string;
    };
    return { browser, headers, deviceId };
  }
  type Person = Awaited<ReturnType<typeof person>>;

  const connect = ({ deviceId }: Person, token: string, api = 0) =>
    openAcp(relay, deviceId, { headers: bearer(token), api });
  const tokenFor = async ({ headers, deviceId }: Person) => {
    const { status, body } = await relay.call('createAcpToken', { user: null, headers, body: { deviceId } });
    expect(status).toBe(201);
    return body.token;
  };

  const endings: readonly [name: string, end: (browser: Browser) => Promise<{ status: number }>][] = [
    ['signs out everywhere', (browser) => browser.send('POST', '/auth/relay/sign-out-everywhere', { body: {} })],
    [
      'takes a new password',
      (browser) =>
        browser.send('POST', '/auth/change-password', {
          body: { currentPassword: password, newPassword: 'another long password' },
        }),
    ],
  ];

  it.each(endings)(
    'loses its token on every instance when its person %s; the token of another person stays valid',
    async (_how, end) => {
      const [mine, theirs] = [await person(), await person()];
      const [token, other] = [await tokenFor(mine), await tokenFor(theirs)];
      const open = await Promise.all([0, 1].map((api) => connect(mine, token, api)));
      const spared = await connect(theirs, other, 1);
      expect((await end(mine.browser)).status).toBe(200);
      expect(await Promise.all(open.map(({ closed }) => closed))).toEqual([4401, 4401]);
      for (const api of [0, 1])
        await expect(connect(mine, token, api)).rejects.toMatchObject({ status: 401, body: { code: 'INVALID_TOKEN' } });
      expect(spared.socket.readyState).toBe(spared.socket.OPEN);
      spared.socket.close();
      (await connect(theirs, other)).socket.close();
    },
  );

  it('can sign its person in for its own address, with access to sessions only', async () => {
    const mine = await person();
    const resource = `${relay.config.publicUrl}/acp`;
    const { verifier, challenge } = pkce();
    const scope = 'sessions:read sessions:write offline_access';
    const code = await mine.browser.code('relay-cli', challenge, { resource, scope });
    const { access_token: token } = (await redeem(relay, 'relay-cli', code, verifier)).body as { access_token: string };
    const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8'));
    expect(payload).toMatchObject({ aud: resource });
    for (const api of [0, 1]) (await connect(mine, token, api)).socket.close();
    expect((await callWith(relay, token, '/api/sessions')).status).toBe(200);
    expect(await callWith(relay, token, '/api/devices')).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_SCOPE' },
    });
    const more = pkce();
    const wide = await mine.browser.code('relay-cli', more.challenge, { resource, scope: `${scope} devices:write` });
    expect((await redeem(relay, 'relay-cli', wide, more.verifier)).body).toMatchObject({ scope });
  });
});
