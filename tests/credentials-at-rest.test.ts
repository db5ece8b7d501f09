/** Promise (docs/security.md, Encryption): the database holds credentials, addresses and keys only as hashes or sealed. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Browser, type TestRelay, openPushKeys, password, signedInCli, startRelay } from '@relay/testing';
import { dumpDatabase } from './erasure-scene.ts';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ identity: true, config: { pushSecret: ['p'.repeat(32)] } });
});
afterAll(() => relay.stop());

it('keeps hashes of credentials, and sealed addresses and keys', async () => {
  const browser = new Browser(relay);
  await browser.signUp('ada@example.com');
  const { access_token: access, refresh_token: refresh } = await signedInCli(browser);
  const as = { user: null, headers: { Authorization: `Bearer ${access}` } };
  const ask = async <T>(answer: Promise<{ status: number; body: T }>): Promise<T> => {
    const { status, body } = await answer;
    expect([status, status < 300 ? '' : body]).toEqual([status, '']);
    return body;
  };
  const body = { hostname: 'laptop', agent_type: 'demo' };
  const open = await ask(relay.call('requestCode', { user: null, body }));
  const { userCode, deviceCode } = await ask(relay.call('requestCode', { user: null, body }));
  await ask(relay.call('approveCode', { ...as, params: { userCode } }));
  const device = await ask(relay.call('pollCode', { user: null, body: { device_code: deviceCode } }));
  const { deviceId } = device;
  const client = await ask(relay.call('createAcpToken', { ...as, body: { deviceId } }));
  const key = await ask(relay.call('createDeviceKey', { ...as, body: {} }));
  const { ticket } = await ask(relay.call('createTicket', as));
  const invitation = await browser.send('POST', '/auth/relay/invitations', { body: {} });
  expect(invitation.status).toBe(201);
  const ntfy = { kind: 'ntfy', topic: 'garden-topic-of-ada', token: 'tk_0123456789abcdefghij' } as const;
  await ask(relay.call('addSubscription', { ...as, body: ntfy }));
  const { keys } = openPushKeys();
  const endpoint = 'https://push.example.com/secret-path-of-ada';
  await ask(relay.call('addSubscription', { ...as, body: { kind: 'webpush', endpoint, keys } }));
  const dump = await dumpDatabase(relay);
  for (const known of ['ada@example.com', deviceId, 'laptop']) expect(dump).toContain(known);
  const secrets = {
    ...{ password, access, refresh, ticket, deviceCode },
    openDeviceCode: open.deviceCode,
    ...{ device: device.refreshToken, client: client.token, key: key.key },
    ...{ invitation: /[\w-]{40,}/.exec(invitation.text)?.[0] },
    ...{ ntfy: ntfy.token, endpoint: 'secret-path-of-ada', auth: keys.auth, p256dh: keys.p256dh },
    ...Object.fromEntries(browser.cookies),
    authSecret: relay.config.authSecret[0],
  };
  for (const [name, secret] of Object.entries(secrets)) {
    expect([name, typeof secret, (secret ?? '').length >= 8]).toEqual([name, 'string', true]);
    expect([name, dump.includes(secret!)]).toEqual([name, false]);
    expect([name, dump.includes(secret!.replaceAll('-', ''))]).toEqual([name, false]);
  }
  for (const begin of ['BEGIN PRIVATE', 'BEGIN EC', '"d":'])
    expect([begin, dump.includes(begin)]).toEqual([begin, false]);
});
