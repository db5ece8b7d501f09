import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectDaemon, registerDevice, startRelay } from '@relay/testing';
import { counted } from './conversation.ts';

describe('version_status', () => {
  let relay: TestRelay;

  const connect = (version?: string, agentType = 'scripted') =>
    connectDaemon(relay, { agentType, headers: { 'X-Daemon-Version': version ?? '' } });

  beforeAll(async () => {
    relay = await startRelay({
      config: {
        daemonVersions: {
          scripted: {
            min: '1.2.0',
            recommended: '1.4.0',
            latest: '1.5.0',
            changelogUrl: 'https://example.com/changes',
          },
        },
      },
    });
  });
  afterAll(() => relay.stop());

  it('is the first frame of a daemon when its agent has a policy', async () => {
    const daemon = await connect('1.5.0');
    await daemon.next('version_status');
    expect(daemon.inbox.all[0]).toEqual({
      type: 'version_status',
      status: 'current',
      your_version: '1.5.0',
      min_version: '1.2.0',
      recommended_version: '1.4.0',
      latest_version: '1.5.0',
      changelog_url: 'https://example.com/changes',
    });
  });

  it('announces a newer version', async () => {
    const daemon = await connect('1.3.9');
    expect(await daemon.next('version_status')).toMatchObject({ status: 'update_available', your_version: '1.3.9' });
  });

  it('does not lock out a daemon without a readable version', async () => {
    for (const version of [undefined, 'nightly']) {
      const daemon = await connect(version);
      expect(await daemon.next('version_status')).toMatchObject({ status: 'current', your_version: version ?? '' });
    }
  });

  it('F8: sends an outdated daemon the reason in a frame, then closes 4426', async () => {
    const daemon = await connect('1.1.9');
    expect(await daemon.closed).toEqual({ code: 4426, reason: 'update required' });
    expect(daemon.inbox.all).toEqual([
      {
        type: 'version_status',
        status: 'update_required',
        your_version: '1.1.9',
        min_version: '1.2.0',
        recommended_version: '1.4.0',
        latest_version: '1.5.0',
        changelog_url: 'https://example.com/changes',
        message: expect.stringMatching(/1\.2\.0/),
      },
    ]);
    expect(await counted(relay, 'relay_daemon_refusals_total', { code: 'UPDATE_REQUIRED' })).toBe(1);
  });

  it('F8: does not let an outdated daemon replace a connected one', async () => {
    const current = await connect('1.5.0');
    const old = await connectDaemon(relay, {
      registration: current.registration,
      headers: { 'X-Daemon-Version': '1.1.9' },
    });
    expect(await old.closed).toMatchObject({ code: 4426 });
    const created = await relay.call('createSession', { body: { deviceId: current.deviceId, message: 'go' } });
    await current.next('task_start', (frame) => frame.task_id === created.body.taskId);
    expect(old.inbox.count('task_start')).toBe(0);
  });

  it('F8: answers 426 before a socket exists if the daemon requests it, with the same text', async () => {
    const registration = await registerDevice(relay);
    const refused = connectDaemon(relay, {
      registration,
      headers: { 'X-Daemon-Version': '1.1.9', 'X-Daemon-Capabilities': 'auto-update, refusals' },
    });
    await expect(refused).rejects.toMatchObject({
      status: 426,
      headers: { 'content-type': 'application/json' },
      body: { type: 'version_status', status: 'update_required', your_version: '1.1.9', min_version: '1.2.0' },
    });
  });

  it('is not sent without a policy', async () => {
    const daemon = await connect('0.0.1', 'another');
    const created = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'go' } });
    await daemon.next('task_start', (frame) => frame.task_id === created.body.taskId);
    expect(daemon.inbox.count('version_status')).toBe(0);
  });
});
