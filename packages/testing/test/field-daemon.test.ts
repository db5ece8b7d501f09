import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Habits, type TestApp, type TestRelay, connectApp, startFieldDaemon, startRelay } from '../src/index.ts';

describe('a daemon with habits of the field', () => {
  let relay: TestRelay;
  let app: TestApp;

  const start = (habits: Habits) => startFieldDaemon(relay, { habits });
  const task = async (daemon: Awaited<ReturnType<typeof start>>) => {
    await relay.call('POST', '/api/sessions', { body: { deviceId: daemon.deviceId, message: 'hello' } });
    return daemon.nextTask();
  };

  beforeAll(async () => {
    relay = await startRelay();
    app = await connectApp(relay);
  });
  afterAll(() => relay.stop());

  it('does its tasks, and answers from the history of its sessions', async () => {
    const daemon = await start({ textPerEvent: true });
    const turn = await task(daemon);
    daemon.finish(turn, 'first', 'second');
    await app.next('session_update', (frame) => (frame.session as { status: string }).status === 'idle');
    const id = `${daemon.deviceId}:field_agent:${turn.native}`;
    const { body } = await relay.call('GET', `/api/sessions/${encodeURIComponent(id)}/messages?limit=2`);
    expect(body).toMatchObject({ messages: [{ content: 'first' }, { content: 'second' }], hasMore: true });
    await daemon.stop();
  });

  it('drops its frames while disconnected, but keeps its history', async () => {
    const daemon = await start({ growingStatus: true });
    const turn = await task(daemon);
    await daemon.drop();
    daemon.finish(turn, 'nothing receives it');
    expect(daemon.history(turn.native).map(({ content }) => content)).toEqual(['hello', 'nothing receives it']);
    await daemon.connect();
    expect(daemon.connection).toBeDefined();
    await daemon.stop();
  });

  it('reconnects by itself when configured', async () => {
    const daemon = await startFieldDaemon(relay, { again: { afterMs: 5 }, work: () => ['done'] });
    await daemon.drop();
    await relay.call('POST', '/api/sessions', { body: { deviceId: daemon.deviceId, message: 'hello' } });
    const { native } = await daemon.nextTask();
    await app.next('new_message', (frame) => (frame.message as { content: string }).content === 'done');
    expect(daemon.history(native)).toHaveLength(2);
    await daemon.stop();
  });
});
