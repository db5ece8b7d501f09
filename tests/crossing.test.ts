import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import {
  type Frame,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startRelay,
} from '@relay/testing';

interface Shown {
  id: string;
  title: string;
  status: string;
  updatedAt: string;
  lastTask?: { id: string; state: string };
}

/**
 * Promise: the last update of a session that an app receives equals the REST answer, even if several instances published it.
 */
describe('R3: two instances that publish one session', () => {
  let relay: TestRelay;
  let daemon: TestDaemon;
  let app: TestApp;
  /** The first api publishes after this promise. */
  let held: Promise<void> = Promise.resolve();

  beforeAll(async () => {
    relay = await startRelay({ apis: 2, gateways: 2 });
    const { backplane } = relay.apis[0]!;
    const append = backplane.append.bind(backplane);
    const appendNewest = backplane.appendNewest.bind(backplane);
    backplane.append = async (...args) => held.then(() => append(...args));
    backplane.appendNewest = async (...args) => held.then(() => appendNewest(...args));
    daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'receipts' } });
    app = await connectApp(relay, { api: 1 });
  });
  afterAll(() => relay.stop());

  const shown = (frame: Frame) => frame.session as Shown;
  const lastHeard = (id: string) =>
    app.inbox.all.filter((frame) => frame.type === 'session_update' && shown(frame).id === id).at(-1);
  const create = async () => {
    const { body } = await relay.call('createSession', { api: 1, body: { deviceId: daemon.deviceId, message: 'go' } });
    return body as { id: string; taskId: string };
  };
  const path = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;
  const rename = (id: string, title: string, api: number) => relay.call('PATCH', path(id), { api, body: { title } });
  /** Waits until the app has received all earlier frames: the new title of another session arrives after them. */
  const settle = async (title: string) => {
    daemon.socket.ping(title);
    await once(daemon.socket, 'pong');
    const { id } = await create();
    await rename(id, title, 1);
    await app.next('session_update', (frame) => shown(frame).title === title);
  };
  const rest = async (id: string) =>
    ((await relay.call('listSessions', { api: 1 })).body.sessions as Shown[]).find((session) => session.id === id)!;

  it('cross, and the app does not receive the older version', async () => {
    const { id } = await create();
    let release!: () => void;
    held = new Promise((resolve) => (release = resolve));
    const older = rename(id, 'older', 0);
    while ((await rest(id)).title !== 'older');
    await rename(id, 'newer', 1);
    release();
    await older;
    await settle('crossed');
    expect(shown(lastHeard(id)!)).toEqual(await rest(id));
    expect(shown(lastHeard(id)!).title).toBe('newer');
  });

  it('converge to the REST answer after any concurrent changes', async () => {
    for (let round = 0; round < 8; round += 1) {
      const { id: pendingId, taskId } = await create();
      await daemon.next('task_start', (frame) => frame.task_id === taskId);
      const nativeId = `n-${round}`;
      daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
      await app.next('session_update', (frame) => frame.previousId === pendingId);
      const id = `${daemon.deviceId}:${daemon.registration.agentType}:${nativeId}`;
      held = new Promise((resolve) => setTimeout(resolve, round % 4));
      const asked = [
        relay.call('POST', `${path(id)}/cancel`, { api: round % 2 }),
        rename(id, `title ${round}`, 0),
        relay.call('POST', `${path(id)}/messages`, { api: 1, body: { content: 'and then' } }),
        rename(id, `other ${round}`, 1),
        relay.call('watch', { api: 0, body: { sessionId: id } }),
      ];
      daemon.event(taskId, 'PROGRESS', { action: 'Reading', target: 'a file' });
      daemon.event(taskId, 'TASK_COMPLETE', { result: `done ${round}` });
      await Promise.all(asked);
      await settle(`settled ${round}`);
      const { progress: _p, ...heard } = shown(lastHeard(id)!) as Shown & { progress?: unknown };
      expect(heard).toEqual(await rest(id));
    }
  });
});
