/** A relay with one daemon and one connected app of alice, and the steps of a conversation between them. */
import type { Message, Session } from '@relay/protocol';
import {
  type Frame,
  type RelayOptions,
  type TestApp,
  type TestDaemon,
  type TestRelay,
  connectApp,
  connectDaemon,
  startRelay,
} from '@relay/testing';
import { until } from './until.ts';

export interface Scene {
  relay: TestRelay;
  daemon: TestDaemon;
  app: TestApp;
}

export async function openScene(options: RelayOptions = {}): Promise<Scene> {
  const relay = await startRelay(options);
  const app = await connectApp(relay);
  const daemon = await connectDaemon(relay);
  if (options.config?.pushSecret) await noticesSettle(relay);
  return { relay, daemon, app };
}

/**
 * Resolves once every notification is sent or has no address. Addresses added later get no notice of devices allowed
 * earlier.
 */
export const noticesSettle = ({ database }: TestRelay): Promise<void> =>
  until('no notification waits', async () => {
    const [row] = await database.sql.query<{ waiting: number }>`
      SELECT count(*)::int AS waiting FROM notifications WHERE state IN ('pending', 'sending')`;
    return row!.waiting === 0;
  });

export const sessionOf = (frame: Frame) => frame.session as Session;
export const messageOf = (frame: Frame) => frame.message as Message;
export const pathOf = (sessionId: string, rest = '') => `/api/sessions/${encodeURIComponent(sessionId)}${rest}`;

/** The next `session_update` of this session that fits. */
export const updateOf = (app: TestApp, id: string, fits: (session: Session) => boolean = () => true): Promise<Frame> =>
  app.next('session_update', (frame) => sessionOf(frame).id === id && fits(sessionOf(frame)));

export interface Begun {
  /** The id it has now. */
  id: string;
  /** The id it had before the daemon named it. */
  placeholder: string;
  nativeId: string;
  taskId: string;
}

/** A session that the daemon has named, with a running first task. */
export async function begin({ relay, daemon, app }: Scene, nativeId: string, message = 'hello'): Promise<Begun> {
  const answer = await relay.call('createSession', { body: { deviceId: daemon.deviceId, message } });
  const { id: placeholder, taskId } = answer.body as { id: string; taskId: string };
  await daemon.next('task_start', (frame) => frame.task_id === taskId);
  daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
  const id = `${daemon.deviceId}:${daemon.registration.agentType}:${nativeId}`;
  await app.next('session_update', (frame) => frame.previousId !== undefined && sessionOf(frame).id === id);
  return { id, placeholder, nativeId, taskId };
}

/** A session whose first task is completed. */
export async function beginAndEnd(scene: Scene, nativeId: string, message?: string): Promise<Begun> {
  const begun = await begin(scene, nativeId, message);
  scene.daemon.event(begun.taskId, 'TASK_COMPLETE', { result: 'done' });
  await updateOf(scene.app, begun.id, ({ status }) => status === 'idle');
  return begun;
}

/** A session started locally: the daemon reports it. Returns its id. */
export async function report(
  { daemon, app }: Scene,
  nativeId: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  daemon.send({ type: 'report_sessions', sessions: [{ session_id: nativeId, last_message: '', ...fields }] });
  const id = `${daemon.deviceId}:${daemon.registration.agentType}:${nativeId}`;
  await updateOf(app, id);
  return id;
}
