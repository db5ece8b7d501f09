/** Images, slash commands and context: from an app over REST through a real relay and the daemon to a real agent process. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, registerDevice, startRelay } from '@relay/testing';
import { createDaemon } from '../src/index.ts';
import { type DemoOptions, demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ config: { boundApprovals: 'off' } });
});
afterAll(() => relay.stop());
afterEach(() => home.clear());

type Session = { id: string; status: string; lastTask?: { id: string; state: string } };
const png = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR12345678IEND', 'latin1').toString('base64')}`;
const gif = `data:image/gif;base64,${Buffer.from('GIF89a', 'latin1').toString('base64')}`;

async function begin(options: DemoOptions = {}) {
  const { deviceId, refreshToken, agentType } = await registerDevice(relay);
  const { agent } = demoAgent(home, options);
  const daemon = createDaemon({
    server: relay.gateways[0]?.url ?? '',
    deviceId,
    refreshToken,
    agentType,
    agent,
    storeDir: home.folder(),
    daemonVersion: '1.0.0',
    timings: { initialDelayMs: 20, maxDelayMs: 100 },
  });
  home.later(() => daemon.stop());
  const app = await connectApp(relay);
  home.later(() => app.close());
  daemon.start();
  // Its capabilities are saved by then.
  await app.next('device_status', (frame) => frame.deviceId === deviceId);
  const update = (match: (session: Session) => boolean) =>
    app.next('session_update', ({ session }) => match(session as Session)).then(({ session }) => session as Session);
  const said = (content: string) =>
    app.next('new_message', ({ message }) => (message as { content: string }).content === content);
  const create = (message: string, images?: string[]) =>
    relay.call('POST', '/api/sessions', { body: { deviceId, message, images } });
  const call = (method: string, id: string, rest: string, body?: unknown) =>
    relay.call(method, `/api/sessions/${encodeURIComponent(id)}${rest}`, body === undefined ? {} : { body });
  return { app, update, said, create, call };
}

describe('an app and an agent', () => {
  it('share images, with a first message and with a later one', async () => {
    const { update, said, create, call } = await begin();
    expect((await create('look', [png, gif])).status).toBe(201);
    await said('seen: image/png of 28 bytes, image/gif of 6 bytes');
    const { id } = await update(({ status }) => status === 'idle');
    expect((await call('POST', id, '/messages', { content: 'look again', images: [gif] })).status).toBe(202);
    await said('seen: image/gif of 6 bytes');
    expect((await call('POST', id, '/messages', { content: 'look' })).status).toBe(202);
    await said('seen: nothing');
  });

  it('get one sentence when the agent accepts no images', async () => {
    const { app, update, create } = await begin({ env: { DEMO_AGENT_WITHOUT: 'images' } });
    expect((await create('look', [png])).status).toBe(201);
    await update(({ status }) => status === 'failed');
    const errors = app.inbox.all.filter(({ type, message }) => type === 'new_message' && roleOf(message) === 'SYSTEM');
    expect(errors.map(({ message }) => (message as { content: string }).content)).toEqual([
      'This agent does not accept images. Send the message without them.',
    ]);
  });

  it('keep a question open after a message with images, which is not an answer', async () => {
    const { update, said, create, call } = await begin();
    await create('perm');
    const { id } = await update(({ status }) => status === 'waiting');
    await call('POST', id, '/messages', { content: 'Allow', images: [png] });
    await update(({ status }) => status === 'failed');
    // The daemon reports the question as open again; until then a message waits for it.
    await update(({ status, lastTask }) => status === 'waiting' && lastTask?.state === 'failed');
    await call('POST', id, '/messages', { content: 'Allow' });
    await said('permission: y');
  });

  it('share slash commands and the fill level of the context', async () => {
    const { update, create, call } = await begin();
    await create('hello');
    const { id } = await update(({ status }) => status === 'idle');
    expect(await call('GET', id, '/context')).toMatchObject({
      status: 502,
      body: { code: 'DEVICE_ERROR', error: expect.stringContaining('has not reported how full') },
    });
    expect((await call('GET', id, '/commands')).body).toEqual({ commands: [] });
    const { body } = await call('POST', id, '/messages', { content: 'usage' });
    await update((session) => session.lastTask?.id === body.taskId && session.lastTask?.state === 'completed');
    expect((await call('GET', id, '/commands')).body).toEqual({
      commands: [
        { name: 'compact', description: 'Summarise', inputHint: 'what to keep' },
        { name: 'review', description: 'Look at the changes' },
      ],
    });
    expect((await call('GET', id, '/context')).body).toMatchObject({
      sessionId: id,
      usedTokens: 1200,
      maxTokens: 200_000,
    });
  });

  it("§2: share the session's cost, and the limits of the plan", async () => {
    const { update, create, call } = await begin();
    await create('spend 0.5 1.42');
    const { id } = await update(({ lastTask }) => lastTask?.state === 'completed');
    const figures = {
      cost: { amount: 1.42, currency: 'USD' },
      limits: [{ id: 'five_hour', name: '5 hours', used: 0.72, state: 'allowed' }],
    };
    expect((await call('GET', id, '/context')).body).toMatchObject({ usedTokens: 68_400, details: figures });
    const { body } = await call('GET', id, '/messages?parts=1');
    const parts = (body as { messages: { part: { kind: string } }[] }).messages.map(({ part }) => part);
    expect(parts.filter(({ kind }) => kind === 'usage')).toEqual([expect.objectContaining({ used: 68_400 })]);
    expect(parts.find(({ kind }) => kind === 'usage')).toMatchObject(figures);
  });
});

const roleOf = (message: unknown) => (message as { role: string }).role;
