/**
 * The shared objects of the checks, created when the first check needs them: a registered device with its daemon, an app that gets
 * every frame, and one with only the ordinary ones. Each check creates its own sessions, so that each can run alone. Sessions are
 * created by reports of the daemon, which cost no request.
 */
import { randomUUID } from 'node:crypto';
import { type Attention, type ToDaemon, formatSessionId } from '@relay/protocol';
import { type App, type AppOptions, openApp } from './app.ts';
import { type Daemon, type Device, openDaemon } from './daemon.ts';
import { type Http, createHttp } from './http.ts';
import { createPace } from './pace.ts';
import { register } from './register.ts';
import { type Rest, createRest } from './rest.ts';
import { type Story, createStory } from './story.ts';

export interface WorldOptions {
  /** Has no trailing slash. */
  url: string;
  wsUrl: string;
  token: string;
  otherToken?: string;
  /** The limits that the operator of the relay configured; by default those of the specification. */
  limits: { perMinute: number; creations: number };
  progress: (text: string) => void;
}

export interface Session {
  readonly id: string;
  readonly native: string;
}

export interface Task {
  readonly id: string;
  readonly frame: ToDaemon<'task_resume'>;
}

export interface World extends WorldOptions {
  readonly rest: Rest;
  readonly http: Http;
  /** Returns the violations that clients saw since the last call. */
  takeViolations: () => string[];
  violated: (text: string) => void;
  /** The device of this name, registered when first asked for. */
  device: (name: string) => Promise<Device>;
  /** Connects a device; without options as a well-behaved daemon does. The caller sends `status`. */
  open: (device: Device, options?: Parameters<typeof openDaemon>[3]) => Promise<Daemon>;
  /** The daemon of the device `desk`, connected and idle. */
  desk: () => Promise<Daemon>;
  /** An app that asked for offsets and output. */
  app: () => Promise<App>;
  /** An app that asked for nothing: it gets only the frames of the specification. */
  plain: () => Promise<App>;
  openApp: (options?: AppOptions, name?: string) => Promise<App>;
  /** The one session created over REST that all checks share. */
  readonly story: Story;
  /** A new session, reported by a daemon (the desk's). */
  session: (entry?: Record<string, unknown>, daemon?: Daemon) => Promise<Session>;
  /** Sends a message over REST and waits until the daemon has it. */
  task: (session: Session, content?: string, daemon?: Daemon) => Promise<Task>;
  /** The same, and the daemon confirms it in a `status`. */
  running: (session: Session, content?: string, daemon?: Daemon) => Promise<Task>;
  /**
   * Makes the daemon send a message in this session, and waits until both apps have received it: by this time the relay
   * has handled all earlier frames of the daemon, and their frames have arrived.
   */
  caughtUp: (session: Session, daemon?: Daemon) => Promise<Attention<'new_message'>>;
  close: () => Promise<void>;
}

export const nowText = () => new Date().toISOString();

export function createWorld(options: WorldOptions): World {
  const { url, wsUrl, token, otherToken, progress } = options;
  const http = createHttp();
  const rest = createRest({ url, token, otherToken, http, pace: createPace(progress) });
  const devices = new Map<string, Promise<Device>>();
  const sockets = new Set<{ close(): Promise<void> }>();
  const shared = new Map<string, Promise<App>>();
  const violations: string[] = [];
  let deskDaemon: Promise<Daemon> | undefined;

  const violated = (text: string) => void violations.push(text);

  const device: World['device'] = (name) => {
    const known = devices.get(name) ?? register(rest, `conformance-${name}`);
    devices.set(name, known);
    return known;
  };

  const open: World['open'] = async (which, daemonOptions) => {
    const daemon = await openDaemon(wsUrl, which, violated, daemonOptions);
    sockets.add(daemon);
    void daemon.live.closed.then(() => sockets.delete(daemon));
    return daemon;
  };

  const desk: World['desk'] = () => {
    deskDaemon ??= (async () => {
      const daemon = await open(await device('desk'));
      daemon.status([]);
      void daemon.live.closed.then(() => (deskDaemon = undefined));
      return daemon;
    })();
    deskDaemon.catch(() => (deskDaemon = undefined));
    return deskDaemon;
  };

  const openOne: World['openApp'] = async (appOptions = { headers: { Authorization: `Bearer ${token}` } }, name) => {
    const app = await openApp(wsUrl, appOptions, violated, name);
    sockets.add(app.live);
    void app.live.closed.then(() => sockets.delete(app.live));
    return app;
  };

  const sharedApp = (name: string, appOptions: AppOptions) => {
    const known = shared.get(name);
    if (known) return known;
    const opening = openOne(appOptions, name);
    shared.set(name, opening);
    const forget = () => void shared.delete(name);
    // Also after a refusal: the next check tries again.
    opening.then((app) => app.live.closed).then(forget, forget);
    return opening;
  };
  const headers = { Authorization: `Bearer ${token}` };
  const app = () => sharedApp('the app that asked for everything', { headers, query: { since: '', events: 'output' } });
  const plain = () => sharedApp('the app that asked for nothing', { headers });

  const session: World['session'] = async (entry = {}, daemon) => {
    const from = (await app()).inbox.mark();
    const teller = daemon ?? (await desk());
    const native = typeof entry.session_id === 'string' ? entry.session_id : `native-${randomUUID()}`;
    teller.report([
      { session_id: native, last_message: '', last_activity: nowText(), is_active: false, message_count: 0, ...entry },
    ]);
    const { id: deviceId, agentType } = teller.device;
    const id = formatSessionId({ deviceId, agentType, nativeId: native });
    await (
      await app()
    ).inbox.until('session_update', (frame) => frame.session.id === id, { from, what: 'a reported session' });
    return { id, native };
  };

  const task: World['task'] = async ({ id }, content = `do ${randomUUID()}`, daemon) => {
    const { body } = await rest.ok('sendMessage', { params: { id }, body: { content } });
    const { inbox } = daemon ?? (await desk());
    const frame = await inbox.until('task_resume', ({ task_id }) => task_id === body.taskId, {
      what: 'the task of a message that was accepted',
    });
    return { id: body.taskId, frame };
  };

  return {
    ...options,
    rest,
    http,
    story: createStory({ rest, desk, plain }),
    violated,
    takeViolations: () => violations.splice(0),
    device,
    open,
    desk,
    app,
    plain,
    openApp: openOne,
    session,
    task,
    running: async (where, content, daemon) => {
      const from = (await app()).inbox.mark();
      const sent = await task(where, content, daemon);
      (daemon ?? (await desk())).status([sent.id]);
      await (
        await app()
      ).inbox.until(
        'session_update',
        (frame) => frame.session.lastTask?.id === sent.id && frame.session.lastTask.state === 'running',
        { from, what: 'the task runs' },
      );
      return sent;
    },
    caughtUp: async ({ id, native }, daemon) => {
      const content = `caught up ${randomUUID()}`;
      const apps = [await app(), await plain()];
      (daemon ?? (await desk())).event('', 'AGENT_RESPONSE', {
        session_id: native,
        uuid: randomUUID(),
        content,
        timestamp: nowText(),
      });
      const [heard] = await Promise.all(
        apps.map(({ inbox }) =>
          inbox.until('new_message', ({ sessionId, message }) => sessionId === id && message.content === content),
        ),
      );
      return heard!;
    },
    close: async () => {
      await Promise.allSettled([...sockets].map((socket) => socket.close()));
      for (const known of devices.values()) {
        const registered = await known.catch(() => undefined);
        if (registered)
          await rest
            .call('deleteDevice', { params: { id: registered.id }, as: registered.token })
            .catch(() => undefined);
      }
      http.close();
    },
  };
}
