import { expect, it } from '@jest/globals';
import { Browser, callWith, openTestDatabase, signedInCli, signedInWeb, startRelay } from '@relay/testing';

it('a relay that moves to another address keeps its users and all their data', async () => {
  const database = await openTestDatabase();
  const authSecret = ['s'.repeat(40)];
  const at = (publicUrl: string) => startRelay({ identity: true, database, config: { authSecret, publicUrl } });

  const before = await at('http://localhost:4000');
  const first = new Browser(before);
  const userId = await first.signUp('alice@example.com');
  const early = await signedInCli(first);
  const bearer = { Authorization: `Bearer ${early.access_token}` };
  const code = await before.call('requestCode', { user: null, body: { hostname: 'desk', agent_type: 'claude_code' } });
  await before.call('approveCode', { params: { userCode: code.body.user_code }, user: null, headers: bearer });
  const device = await before.call('pollCode', { user: null, body: { device_code: code.body.device_code } });
  expect(device.status).toBe(200);
  await before.stop();

  const after = await at('https://relay.example.com');
  // The old tokens name an issuer that no longer exists.
  expect((await callWith(after, early.access_token)).body.code).toBe('INVALID_TOKEN');
  const again = new Browser(after);
  expect((await again.signIn('alice@example.com')).status).toBe(200);
  const { access_token: token } = await signedInWeb(again);
  expect((await callWith(after, token)).body.id).toBe(userId);
  expect((await callWith(after, token, '/api/devices')).body.devices).toEqual([
    expect.objectContaining({ id: device.body.device_id }),
  ]);
  await after.stop();
  await database.close();
});
