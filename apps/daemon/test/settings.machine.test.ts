/** The settings in a session of a real agent process, from an app at a real relay. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestRelay, connectApp, registerDevice, startRelay } from '@relay/testing';
import { createDaemon } from '../src/index.ts';
import { type DemoOptions, demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay();
});
afterAll(() => relay.stop());
afterEach(() => home.clear());

async function begin(offers: string, options: DemoOptions = {}) {
  const { deviceId, refreshToken, agentType } = await registerDevice(relay);
  const storeDir = home.folder();
  const calls = join(home.folder(), 'calls');
  const agentHome = home.folder();
  const start = async () => {
    const { agent } = demoAgent(home, {
      ...options,
      home: agentHome,
      env: { DEMO_AGENT_SETTINGS: offers, DEMO_AGENT_CALLS: calls },
    });
    const server = relay.gateways[0]?.url ?? '';
    const timings = { initialDelayMs: 20, maxDelayMs: 100 };
    const daemon = createDaemon({
      server,
      deviceId,
      refreshToken,
      agentType,
      agent,
      storeDir,
      daemonVersion: '1.0.0',
      timings,
    });
    home.later(() => daemon.stop());
    daemon.start();
    await daemon.connected();
    return daemon;
  };
  const daemon = await start();
  const app = await connectApp(relay, { since: '' });
  home.later(() => app.close());
  const { body } = await relay.call('createSession', { body: { deviceId, message: 'settings' } });
  const said = (words: string) =>
    app.next('new_message', ({ message }) => (message as { content: string }).content === words);
  const { sessionId: id } = await said('ask large low');
  const params = { id: id as string };
  const read = () => relay.call('readSettings', { params });
  const change = (id: string, value: string) => relay.call('changeSetting', { params, body: { id, value } });
  const tell = (content: string) => relay.call('sendMessage', { params, body: { content } });
  const values = async () => (await read()).body.settings.map(({ id, value }) => [id, value]);
  return { daemon, start, app, body, said, read, change, tell, values, calls: () => readFileSync(calls, 'utf8') };
}

describe('the settings of a session', () => {
  it('are its modes and models, and another choice holds for the agent and is told to the other apps', async () => {
    const { app, said, read, change, tell } = await begin('modes');
    const { status, body } = await read();
    expect([status, body.settings]).toEqual([
      200,
      [
        {
          id: 'mode',
          kind: 'mode',
          category: 'mode',
          name: 'Mode',
          value: 'ask',
          options: [
            { id: 'ask', name: 'The ask one' },
            { id: 'code', name: 'The code one' },
          ],
        },
        expect.objectContaining({ id: 'model', kind: 'model', value: 'large' }),
      ],
    ]);
    const changed = await change('model', 'small');
    expect(changed.body.settings.map(({ value }) => value)).toEqual(['ask', 'small']);
    expect(await app.next('settings_changed')).toMatchObject({ sessionId: body.sessionId });
    await tell('settings');
    await said('ask small low');
  });

  it('are its config options where the agent has them, grouped or not', async () => {
    const { said, read, change, tell } = await begin('config');
    const { body } = await read();
    expect(body.settings.map(({ id, kind, name, value }) => [id, kind, name, value])).toEqual([
      ['mode', 'mode', 'Which mode', 'ask'],
      ['effort', 'option', 'Which effort', 'low'],
    ]);
    expect(body.settings[1]!.options[1]).toEqual({ id: 'high', name: 'The high one', description: 'About high' });
    expect((await change('effort', 'high')).body.settings[1]!.value).toBe('high');
    await tell('settings');
    await said('ask large high');
  });

  it('that the agent changes by itself are told to apps', async () => {
    const { app, said, tell, values } = await begin('modes');
    await tell('switch');
    await said('switched');
    await app.next('settings_changed');
    expect((await values())[0]).toEqual(['mode', 'code']);
  });

  it('that were chosen hold in the next process of the session', async () => {
    const { said, change, tell, values, calls } = await begin('modes', { timings: { idleMs: 1 } });
    await change('mode', 'code');
    await tell('settings');
    await said('code large low');
    expect(calls()).toContain('resume');
    expect((await values())[0]).toEqual(['mode', 'code']);
  });

  it('are asked of the agent after a restart of the daemon, without a turn', async () => {
    const { daemon, start, values, calls } = await begin('modes');
    await daemon.stop();
    await start();
    expect(await values()).toEqual([
      ['mode', 'ask'],
      ['model', 'large'],
    ]);
    expect(calls()).toContain('resume');
  });

  it('are refused with a code: none, no such setting, no such value, a device that is away', async () => {
    const none = await begin('');
    expect((await none.read()).body).toMatchObject({ code: 'SETTINGS_NOT_SUPPORTED', status: 409 });
    expect((await none.change('mode', 'code')).body).toMatchObject({ code: 'SETTINGS_NOT_SUPPORTED' });
    const { daemon, read, change } = await begin('modes');
    expect((await change('color', 'red')).body).toMatchObject({ code: 'INVALID_SETTING', status: 400 });
    expect((await change('mode', 'red')).body).toMatchObject({ code: 'INVALID_SETTING' });
    await daemon.stop();
    expect((await read()).body).toMatchObject({ code: 'DEVICE_OFFLINE', status: 503 });
  });
});
