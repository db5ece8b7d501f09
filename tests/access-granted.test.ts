/** The relay notifies a person of each machine and program that gains access to their account (rules, 8.13). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Browser,
  type TestApp,
  type TestRelay,
  callWith,
  connectApp,
  registerDevice,
  signedInWeb,
  startRelay,
  pkce,
} from '@relay/testing';

interface Notice {
  cause: string;
}

describe('access_granted', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ identity: true, apis: 2 });
  });
  afterAll(() => relay.stop());

  /** Publishes a later frame to these apps: an earlier one would have arrived before it. */
  const settled = async (apps: TestApp[], deviceId: string, user: string) => {
    expect((await relay.call('deleteDevice', { params: { id: deviceId }, user })).status).toBe(204);
    for (const app of apps) await app.next('device_removed');
  };

  it('S18: publishes an approved device to apps with `since` on every instance, and lists it as a notification', async () => {
    const modern = [
      await connectApp(relay, { user: 'wren', since: '' }),
      await connectApp(relay, { user: 'wren', since: '', api: 1 }),
    ];
    const plain = await connectApp(relay, { user: 'wren' });
    const stranger = await connectApp(relay, { user: 'crow', since: '' });
    const { deviceId } = await registerDevice(relay, { user: 'wren' });
    for (const app of modern)
      expect(await app.next('access_granted')).toEqual({
        type: 'access_granted',
        kind: 'device',
        name: expect.stringMatching(/./),
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        offset: expect.any(String),
      });
    const { body } = await relay.call('listNotifications', { user: 'wren' });
    expect(body.notifications).toEqual([
      expect.objectContaining({ cause: 'device_allowed', deviceId, name: expect.stringMatching(/./), sessionId: '' }),
    ]);
    const other = await registerDevice(relay, { user: 'crow' });
    await settled(modern, deviceId, 'wren');
    await settled([stranger], other.deviceId, 'crow');
    expect(modern.map((app) => app.inbox.count('access_granted'))).toEqual([1, 1]);
    expect(stranger.inbox.count('access_granted')).toBe(1);
    // An app without `since` gets the frames of earlier releases only.
    const seen = await registerDevice(relay, { user: 'wren' });
    const created = await relay.call('createSession', {
      user: 'wren',
      body: { deviceId: seen.deviceId, message: 'hello' },
    });
    expect(created.status).toBe(201);
    await plain.next('session_update');
    expect(plain.inbox.count('access_granted')).toBe(0);
  });

  it('S18: a denied device is published to no app', async () => {
    const app = await connectApp(relay, { user: 'finch', since: '' });
    const { body } = await relay.call('requestCode', {
      user: null,
      body: { hostname: 'denied', agent_type: 'scripted' },
    });
    await relay.call('denyCode', { params: { userCode: body.user_code }, user: 'finch' });
    await registerDevice(relay, { user: 'finch' });
    expect(await app.next('access_granted')).not.toMatchObject({ name: 'denied' });
    expect(app.inbox.count('access_granted')).toBe(1);
  });

  it('S18: publishes an allowed program, but neither a denied one nor the sign-in of the pages', async () => {
    const browser = new Browser(relay);
    await browser.signUp('linnet@example.com');
    const { access_token: token } = await signedInWeb(browser);
    const app = await connectApp(relay, { token, since: '', api: 1 });
    await browser.consent(await browser.authorize('relay-mobile', pkce().challenge), false);
    await browser.consent(await browser.authorize('relay-cli', pkce().challenge));
    expect(await app.next('access_granted')).toMatchObject({ kind: 'program', name: 'Command line' });
    expect(app.inbox.count('access_granted')).toBe(1);
    const { notifications } = (await callWith(relay, token, '/api/notifications')).body as { notifications: Notice[] };
    expect(notifications).toMatchObject([{ cause: 'program_allowed', name: 'Command line', sessionId: '' }]);
  });
});
