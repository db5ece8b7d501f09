import { afterEach, describe, expect, it } from '@jest/globals';
import { rm } from 'node:fs/promises';
import { type RelayProcess, connectApp, connectDaemon, startRelayProcess } from '@relay/testing';

/** Promise: a SIGKILL of the process loses no accepted message and repeats no sent one. */
describe('kill -9 of the process', () => {
  let relay: RelayProcess | undefined;

  afterEach(async () => {
    await relay?.end('SIGKILL');
    if (relay) await rm(relay.dataDir, { recursive: true, force: true });
    relay = undefined;
  });

  it('keeps the lists, and a running task continues after the daemon reconnects', async () => {
    relay = await startRelayProcess();
    const daemon = await connectDaemon(relay);
    const { body: created } = await relay.call('createSession', {
      body: { deviceId: daemon.deviceId, message: 'a long job' },
    });
    const { task_id: taskId } = await daemon.next('task_start');
    daemon.event(taskId as string, 'SESSION_STARTED', { session_id: 'native-1' });
    daemon.send({ type: 'status', running_tasks: [taskId] });
    const id = `${daemon.deviceId}:scripted:native-1`;
    await relay.call('watch', { body: { sessionId: created.id } });
    // The reply to a history request proves that the gateway has handled all earlier frames.
    const asked = relay.call('readMessages', { params: { id } });
    const request = await daemon.next('get_messages');
    daemon.send({
      type: 'messages',
      request_id: request.request_id,
      session_id: 'native-1',
      messages: [],
      has_more: false,
    });
    await asked;
    const before = {
      sessions: (await relay.call('listSessions')).body as unknown,
      devices: (await relay.call('listDevices')).body as { devices: object[] },
      watched: (await relay.call('listWatched')).body as unknown,
    };

    await relay.end('SIGKILL');
    await daemon.closed;
    relay = await startRelayProcess({ dataDir: relay.dataDir });

    expect((await relay.call('listSessions')).body).toEqual(before.sessions);
    expect((await relay.call('listWatched')).body).toEqual(before.watched);
    expect((await relay.call('listDevices')).body).toMatchObject({ devices: [{ id: daemon.deviceId }] });
    const again = await connectDaemon(relay, {
      registration: daemon.registration,
      hello: [
        { type: 'status', running_tasks: [taskId as string] },
        { type: 'report_sessions', sessions: [] },
      ],
    });
    expect(await again.next('watch_session')).toMatchObject({ session_id: 'native-1' });
    expect((await relay.call('readTask', { params: { id: taskId as string } })).body).toMatchObject({
      state: 'running',
    });
    const app = await connectApp(relay);
    again.event(taskId as string, 'TASK_COMPLETE', { result: 'finished after all' });
    expect(await app.next('new_message')).toMatchObject({ sessionId: id, message: { content: 'finished after all' } });
    expect((await relay.call('readTask', { params: { id: taskId as string } })).body).toMatchObject({
      state: 'completed',
      result: 'finished after all',
    });
    expect(again.inbox.count('task_start')).toBe(0);
  }, 180_000);

  it('leads to an unknown task, never sent again, if the returning daemon does not know it', async () => {
    relay = await startRelayProcess();
    const daemon = await connectDaemon(relay);
    const { body: created } = await relay.call('createSession', {
      body: { deviceId: daemon.deviceId, message: 'did it arrive?' },
    });
    await daemon.next('task_start');
    await relay.end('SIGKILL');
    await daemon.closed;
    relay = await startRelayProcess({ dataDir: relay.dataDir });

    const again = await connectDaemon(relay, { registration: daemon.registration });
    // A second session arrives after any frame that the first would have caused.
    await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'a new one' } });
    expect(await again.next('task_start')).toMatchObject({ instruction: 'a new one' });
    expect(again.inbox.count('task_start')).toBe(1);
    expect((await relay.call('readTask', { params: { id: created.taskId } })).body).toMatchObject({
      state: 'unknown',
      error: { code: 'DELIVERY_UNKNOWN' },
    });
    expect((await relay.call('readSession', { params: { id: created.id } })).body).toMatchObject({
      status: 'failed',
      lastTask: { code: 'DELIVERY_UNKNOWN' },
    });
  }, 180_000);

  it('keeps a queued message, which the daemon gets after it connects', async () => {
    relay = await startRelayProcess();
    const daemon = await connectDaemon(relay);
    await daemon.close();
    const { body: created } = await relay.call('createSession', {
      body: { deviceId: daemon.deviceId, message: 'for later' },
    });
    await relay.end('SIGKILL');
    relay = await startRelayProcess({ dataDir: relay.dataDir });
    const again = await connectDaemon(relay, { registration: daemon.registration });
    expect(await again.next('task_start')).toMatchObject({
      task_id: created.taskId,
      instruction: 'for later',
    });
  }, 180_000);

  it('a second process on the same folder is refused, with the id of the running process', async () => {
    relay = await startRelayProcess();
    await expect(startRelayProcess({ dataDir: relay.dataDir })).rejects.toThrow(String(relay.process.pid));
    expect((await relay.call('health', { user: null })).status).toBe(200);
  }, 180_000);

  it('SIGTERM, in contrast, exits with 0 and asks all clients to reconnect', async () => {
    relay = await startRelayProcess();
    const daemon = await connectDaemon(relay);
    const app = await connectApp(relay);
    const ended = relay.end('SIGTERM');
    expect((await daemon.closed).code).toBe(1001);
    expect((await app.closed).code).toBe(1001);
    expect(await ended).toBe(0);
  }, 180_000);
});
