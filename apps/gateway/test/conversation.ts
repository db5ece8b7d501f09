/**
 * Shared by the tests of the gateway: running sessions, and clocks made of frames. The gateway handles a daemon's
 * frames in order, so any effect of a frame proves that it handled the earlier ones.
 */
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

/** A relay with one daemon and one app of alice. */
export interface Scene {
  relay: TestRelay;
  daemon: TestDaemon;
  app: TestApp;
}

export async function openScene(options?: RelayOptions): Promise<Scene> {
  const relay = await startRelay(options);
  const daemon = await connectDaemon(relay);
  const app = await connectApp(relay);
  return { relay, daemon, app };
}

/** A session of the protocol, as far as tests look into it. */
export interface Seen {
  id: string;
  title: string;
  status: string;
  projectPath: string;
  createdAt: string;
  updatedAt: string;
  lastMessage: string;
  messageCount: number;
  watched: boolean;
  progress?: { action: string; target: string };
  prompt?: { prompt: string; result: string; options: { label: string }[] };
  lastTask?: { id: string; state: string; code?: string };
}

export const idOf = (daemon: Pick<TestDaemon, 'registration'>, nativeId: string): string =>
  `${daemon.registration.deviceId}:${daemon.registration.agentType}:${nativeId}`;

export const sessionIn = (frame: Frame): Seen => frame.session as Seen;
export const messageIn = (frame: Frame) =>
  frame.message as { uuid: string; role: string; content: string; timestamp: string; truncated?: true };

/** Creates a session and waits until its first task is with the daemon. */
export async function begin(
  relay: TestRelay,
  daemon: TestDaemon,
  body: Record<string, unknown> = {},
): Promise<{ taskId: string; pendingId: string }> {
  const created = await relay.call('createSession', {
    user: daemon.registration.user,
    body: { deviceId: daemon.deviceId, message: 'begin', ...body },
  });
  if (created.status !== 201) throw new Error(`no session: ${created.text}`);
  const { taskId, id: pendingId } = created.body as { taskId: string; id: string };
  await daemon.next('task_start', (frame) => frame.task_id === taskId);
  return { taskId, pendingId };
}

/** The same, and the daemon names the session: its task runs, and the app knows. */
export async function run(relay: TestRelay, daemon: TestDaemon, app: TestApp, nativeId: string) {
  const { taskId, pendingId } = await begin(relay, daemon, { message: `begin ${nativeId}` });
  daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
  await app.next('session_update', (frame) => frame.previousId === pendingId);
  return { taskId, pendingId, id: idOf(daemon, nativeId) };
}

/** Completes a task with this event and waits until the app has seen the session after it. */
export async function end(
  daemon: TestDaemon,
  app: TestApp,
  taskId: string,
  eventType = 'TASK_COMPLETE',
  fields: Record<string, unknown> = { result: `the result of ${taskId}` },
): Promise<Seen> {
  daemon.event(taskId, eventType, fields);
  return sessionIn(
    await app.next('session_update', (frame) => {
      const { lastTask, status } = sessionIn(frame);
      return (
        lastTask?.id === taskId && ['completed', 'failed', 'waiting'].includes(lastTask.state) && status !== 'active'
      );
    }),
  );
}

/** A session that exists, is named and has nothing running. */
export async function idleSession(
  relay: TestRelay,
  daemon: TestDaemon,
  app: TestApp,
  nativeId: string,
): Promise<string> {
  const { taskId, id } = await run(relay, daemon, app, nativeId);
  await end(daemon, app, taskId);
  return id;
}

let ticks = 0;

/** Resolves when everything the daemon has sent was handled, and the app has everything that came of it. */
export async function tick(daemon: TestDaemon, app: TestApp): Promise<void> {
  ticks += 1;
  const nativeId = `clock-${ticks}`;
  daemon.send({ type: 'report_sessions', sessions: [{ session_id: nativeId }] });
  await app.next('session_update', (frame) => sessionIn(frame).id === idOf(daemon, nativeId));
}

/**
 * Resolves when a newly accepted task has reached the daemon. One claim takes all due tasks of all sessions, in the
 * order of acceptance: an earlier task that has not come by now was not due.
 */
export async function nextStart(relay: TestRelay, daemon: TestDaemon): Promise<{ taskId: string }> {
  return begin(relay, daemon, { message: 'the clock' });
}

export const path = (sessionId: string, rest = ''): string => `/api/sessions/${encodeURIComponent(sessionId)}${rest}`;

/** Sends a follow-up and returns its task. */
export async function say(
  relay: TestRelay,
  sessionId: string,
  content: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const sent = await relay.call('sendMessage', { params: { id: sessionId }, body: { content, ...fields } });
  if (sent.status !== 202) throw new Error(`not accepted: ${sent.text}`);
  return (sent.body as { taskId: string }).taskId;
}

export async function readTask(relay: TestRelay, taskId: string) {
  return (await relay.call('readTask', { params: { id: taskId } })).body as {
    state: string;
    kind: string;
    sessionId: string;
    sentAt?: string;
    finishedAt?: string;
    result?: string;
    error?: { code: string; error: string };
    note?: string;
  };
}

/** The session as lists show it, by its canonical id. Asks no daemon. */
export async function readSession(relay: TestRelay, sessionId: string, user = 'alice'): Promise<Seen | undefined> {
  let cursor: string | undefined;
  do {
    const query = { limit: 200, ...(cursor ? { cursor } : {}) };
    const { body } = await relay.call('listSessions', { user, query });
    const found = (body.sessions as Seen[]).find((session) => session.id === sessionId);
    if (found) return found;
    cursor = body.nextCursor;
  } while (cursor !== undefined);
  return undefined;
}

/** The value of a counter or gauge of a gateway; 0 when it was never counted. */
export async function counted(
  relay: TestRelay,
  name: string,
  labels: Record<string, string> = {},
  gateway = 0,
): Promise<number> {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const lines = (await relay.gateways[gateway]!.metrics.text()).split('\n');
  const line = lines.find((one) => one.startsWith(`${name}{`) && wanted.every((label) => one.includes(label)));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** Waits for something that comes about without a frame: a row, a counter. Fails after 10 s. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline) throw new Error(`it did not come about: ${look.toString()}`);
    // Each look costs several milliseconds of a core.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
