import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Device } from '@relay/protocol';
import { type Registration, type TestRelay, registerDevice, startRelay } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';

describe('PATCH /api/devices/:id', () => {
  let relay: TestRelay;
  let device: Registration;
  beforeAll(async () => {
    relay = await startRelay();
    device = await registerDevice(relay, { hostname: 'laptop' });
  });
  afterAll(() => relay.stop());

  itAsksForCredentials(() => relay, 'updateDevice', { body: { name: 'x' } });

  const rename = (body: Record<string, unknown>, { id = device.deviceId, user = 'alice' } = {}) =>
    relay.call('PATCH', `/api/devices/${id}`, { user, body });

  it('renames a device; its host name stays', async () => {
    const renamed = expectSuccess(
      'updateDevice',
      200,
      await rename({ name: '  The one under the desk 🐢 ' }),
    ) as Device;
    expect(renamed).toMatchObject({ id: device.deviceId, name: 'The one under the desk 🐢', hostname: 'laptop' });
    expect((await relay.call('listDevices')).body.devices).toContainEqual(renamed);
  });

  it.each([
    ['a missing name', {}],
    ['an empty name', { name: '' }],
    ['a blank name', { name: ' \n' }],
    ['a name that is not text', { name: 7 }],
    ['a name over the limit', { name: 'x'.repeat(201) }],
  ])('refuses %s', async (_what, body) => {
    expectRefusal(await rename(body), 'INVALID_REQUEST', 'name');
  });

  it('returns 404 for a device that never existed, was removed, or belongs to another user', async () => {
    const removed = await registerDevice(relay);
    await relay.call('deleteDevice', { params: { id: removed.deviceId } });
    expectRefusal(await rename({ name: 'x' }, { id: 'never' }), 'DEVICE_NOT_FOUND');
    expectRefusal(await rename({ name: 'x' }, { id: removed.deviceId }), 'DEVICE_NOT_FOUND');
    expectRefusal(await rename({ name: 'x' }, { user: 'mallory' }), 'DEVICE_NOT_FOUND');
  });

  it('S12 S16: refuses a deceptive name', async () => {
    const wide = `a${'\u2003'.repeat(20)}(approved)`;
    const odd = ['\ufffc', 'x\u{1d159}', 'a\u{13437}b', '\u0301\u0301', wide];
    for (const name of ['a\u001b[2Jb', 'a\u202eb', 'a\u0000\u0007b', ...odd])
      expectRefusal(await rename({ name }), 'INVALID_REQUEST');
  });
});
