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
  const app = await connectApp(relay, { since: '' });
  home.later(() => app.close());
  const seen = (status: string) =>
    app.next('device_status', (frame) => frame.deviceId === deviceId && frame.status === status);
  /** Resolves when the relay can ask this daemon: for a moment after the daemon has connected, it refuses questions. */
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
    await seen('online');
    return daemon;
  };
  const daemon = await start();
  const stop = async () => {
    await daemon.stop();
    await seen('offline');
  };
  const { body } = await relay.call('createSession', { body: { deviceId, message: 'settings' } });
  const said = (words: string) =>
    app.next('new_message', ({ message }) => (message as { content: string }).content === words);
  const { sessionId: id } = await said('ask large low');
  const params = { id: id as string };
  const read = () => relay.call('readSettings', { params });
  const change = (id: string, value: string) => relay.call('changeSetting', { params, body: { id, value } });
  const tell = (content: string) => relay.call('sendMessage', { params, body: { content } });
  const values = async () => (await read()).body.settings.map(({ id, value }) => [id, value]);
  return {
    start,
    stop,
    app,
    body,
    params,
    said,
    read,
    change,
    tell,
    values,
    calls: () => readFileSync(calls, 'utf8'),
  };
}

describe('the settings of a session', () => {
  it('are its modes and models; another choice reaches the agent and the other apps', async () => {
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

  it('are its config options if the agent has them, grouped or not', async () => {
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

  it('that the agent changes by itself reach the apps', async () => {
    const { app, said, tell, values } = await begin('modes');
    await tell('switch');
    await said('switched');
    await app.next('settings_changed');
    expect((await values())[0]).toEqual(['mode', 'code']);
  });

  it('hold in the next process of the session once chosen', async () => {
    const { said, change, tell, values, calls } = await begin('modes', { timings: { idleMs: 1 } });
    await change('mode', 'code');
    await tell('settings');
    await said('code large low');
    expect(calls()).toContain('resume');
    expect((await values())[0]).toEqual(['mode', 'code']);
  });

  it('come from the agent after a restart of the daemon, without a turn', async () => {
    const { start, stop, values, calls } = await begin('modes');
    await stop();
    await start();
    expect(await values()).toEqual([
      ['mode', 'ask'],
      ['model', 'large'],
    ]);
    expect(calls()).toContain('resume');
  });

  it('3: hold after a restart of the daemon once chosen', async () => {
    const { start, stop, said, change, tell, values } = await begin('modes');
    await change('mode', 'code');
    await stop();
    await start();
    await tell('settings');
    await said('code large low');
    expect((await values())[0]).toEqual(['mode', 'code']);
  });

  it('2: need no process of the agent once known, also after a restart of the daemon', async () => {
    const { start, stop, params, change, calls } = await begin('modes');
    await change('model', 'small');
    await stop();
    await start();
    const before = calls();
    const { body } = await relay.call('readSettings', { params, query: { known: '1' } });
    expect(body.settings.map(({ id, value }) => [id, value])).toEqual([
      ['mode', 'ask'],
      ['model', 'small'],
    ]);
    expect(Date.parse(body.asOf ?? '')).not.toBeNaN();
    expect(calls()).toBe(before);
  });

  it('43, 1.10: are answered from the memory of the daemon when known, while the agent works or hangs', async () => {
    const { params, body, calls, change } = await begin('modes', { timings: { idleMs: 60_000 } });
    await change('model', 'small');
    const before = calls();
    const [deviceId] = body.id.split(':');
    const reads = Array.from({ length: 20 }, (_, n) =>
      n % 2 === 0
        ? relay.call('readSettings', { params, query: { known: '1' } })
        : relay.call('readDeviceSettings', { params: { id: deviceId! } }),
    );
    for (const answer of await Promise.all(reads)) expect(answer.status).toBe(200);
    // No answer waited for the agent: it was asked nothing.
    expect(calls()).toBe(before);
  });

  it('9: of a message apply before the agent gets it', async () => {
    const { said, params, values } = await begin('modes', { timings: { idleMs: 1000 } });
    const settings = [{ id: 'mode', value: 'code' }];
    await relay.call('sendMessage', { params, body: { content: 'settings', settings } });
    await said('code large low');
    expect((await values())[0]).toEqual(['mode', 'code']);
  });

  it('4: that no longer exist fail the task, and the agent gets no prompt', async () => {
    const { app, params, calls, body } = await begin('modes');
    const prompts = () =>
      calls()
        .split('\n')
        .filter((call) => call.startsWith('prompt')).length;
    const before = prompts();
    const failed = (id: string) =>
      app.next('session_update', ({ session }) => {
        const { lastTask } = session as { lastTask?: { id: string; code?: string } };
        return lastTask?.id === id && lastTask.code === 'SETTING_NOT_APPLIED';
      });
    const settings = [{ id: 'model', value: 'gone' }];
    const sent = await relay.call('sendMessage', { params, body: { content: 'settings', settings } });
    await failed(sent.body.taskId);
    const { deviceId } = body;
    const created = await relay.call('createSession', { body: { deviceId, message: 'settings', settings } });
    await failed(created.body.taskId);
    expect(prompts()).toBe(before);
  });

  it('3: of a default apply in each new session, except a mode that never asks', async () => {
    const { body, said, params } = await begin('unasked');
    const { deviceId } = body;
    const change = await relay.call('changeSetting', { params, body: { id: 'model', value: 'small', keep: true } });
    expect(change.status).toBe(200);
    const device = { id: deviceId };
    const { body: defaults } = await relay.call('readDeviceSettings', { params: device });
    expect(defaults.settings.map(({ id, value }) => [id, value])).toContainEqual(['model', 'small']);
    await relay.call('createSession', { body: { deviceId, message: 'settings' } });
    await said('ask small low');
    // A message cannot make a mode that never asks the default.
    const settings = [{ id: 'mode', value: 'yolo', keep: true }];
    const { body: refused } = await relay.call('createSession', { body: { deviceId, message: 'settings', settings } });
    const task = await relay.call('readTask', { params: { id: refused.taskId } });
    expect(task.status).toBe(200);
    await relay.call('changeDeviceSetting', { params: device, body: { id: 'mode', value: 'acceptEdits' } });
    await relay.call('createSession', { body: { deviceId, message: 'settings' } });
    await said('acceptEdits small low');
    await relay.call('changeDeviceSetting', { params: device, body: { id: 'mode', value: null } });
    const { body: without } = await relay.call('readDeviceSettings', { params: device });
    expect(without.settings[0]).toMatchObject({ id: 'mode', value: 'ask' });
  });

  it('7: leave a mark when another app or the agent changes them', async () => {
    const { params, tell, said } = await begin('modes');
    await relay.call('changeSetting', { params, body: { id: 'mode', value: 'code', on: 'iPhone' } });
    const marks = async () => {
      const { body } = await relay.call('readMessages', { params, query: { parts: '1' } });
      const items = body.messages as unknown as { part: { kind: string; text?: string; by?: string } }[];
      return items.flatMap(({ part }) => (part.kind === 'mark' ? [[part.text, part.by]] : []));
    };
    expect(await marks()).toEqual([['The code one', 'iPhone']]);
    await relay.call('changeSetting', { params, body: { id: 'mode', value: 'ask', on: 'CLI' } });
    await tell('switch');
    await said('switched');
    expect(await marks()).toEqual([
      ['The code one', 'iPhone'],
      ['The ask one', 'CLI'],
      ['The code one', undefined],
    ]);
  });

  it('are refused with a code: no settings, an unknown setting, an unknown value, an offline device', async () => {
    const none = await begin('');
    expect((await none.read()).body).toMatchObject({ code: 'SETTINGS_NOT_SUPPORTED', status: 409 });
    expect((await none.change('mode', 'code')).body).toMatchObject({ code: 'SETTINGS_NOT_SUPPORTED' });
    const { stop, read, change } = await begin('modes');
    expect((await change('color', 'red')).body).toMatchObject({ code: 'INVALID_SETTING', status: 400 });
    expect((await change('mode', 'red')).body).toMatchObject({ code: 'INVALID_SETTING' });
    await stop();
    expect((await read()).body).toMatchObject({ code: 'DEVICE_OFFLINE', status: 503 });
  });
});
