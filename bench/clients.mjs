// The bench's side of the wire: a person with an access token, a daemon and an app, on real loopback sockets.
import { Agent, request } from 'node:http';
import { resolve } from 'node:path';
import { openDevIssuer } from '@relay/auth';
import { WebSocket } from 'ws';

const patienceMs = 30_000;

/** Access tokens of the development issuer, as `npm run dev:token` prints them. The relay must have been started before. */
export function tokensOf(dataDir) {
  const issuer = openDevIssuer(resolve(dataDir));
  const scopes = ['sessions:read', 'sessions:write', 'devices:read', 'devices:write'];
  return (sub) => issuer.sign({ sub, scopes, expiresInSeconds: 3600 });
}

/** One keep-alive connection; resolves with status, parsed body and how long it took as the client sees it. */
export function httpClient(url, token) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { hostname, port } = new URL(url);
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const call = (method, path, body) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const content =
      text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const sent = request(
        { hostname, port, agent, method, path, headers: { ...authorization, ...content } },
        (response) => {
          const chunks = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const tookMs = performance.now() - startedAt;
            const said = Buffer.concat(chunks).toString('utf8');
            resolve({ status: response.statusCode, tookMs, body: said === '' ? undefined : JSON.parse(said) });
          });
        },
      );
      sent.on('error', reject);
      sent.end(text);
    });
  };
  return {
    /** The same, but any failure stops the bench. */
    async call(method, path, body) {
      const answer = await call(method, path, body);
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer;
    },
    close: () => agent.destroy(),
  };
}

/** Registers a device as a daemon and its owner do: code, approval, poll. */
export async function registerDevice(client, url, hostname = 'bench') {
  const daemon = httpClient(url);
  const { body: code } = await daemon.call('POST', '/api/devices/code', { hostname, agent_type: 'bench' });
  await client.call('POST', `/api/devices/code/${code.user_code}/approve`);
  const { body: granted } = await daemon.call('POST', '/api/devices/token', { device_code: code.device_code });
  daemon.close();
  return { deviceId: granted.device_id, token: granted.refresh_token };
}

/** A WebSocket whose frames can be waited for. Unawaited frames are dropped. */
export class Peer {
  #waiting = new Set();
  #answers = new Map();

  constructor(url, headers = {}) {
    this.socket = new WebSocket(url, { headers, perMessageDeflate: false });
    this.opened = new Promise((resolve, reject) => {
      this.socket.once('open', resolve);
      this.socket.once('error', reject);
      this.socket.once('unexpected-response', (_request, response) => reject(new Error(`${response.statusCode}`)));
    });
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
    this.socket.on('message', (data) => {
      const receivedAt = performance.now();
      const frame = JSON.parse(data.toString('utf8'));
      this.#answers.get(frame.type)?.(frame);
      for (const waiter of this.#waiting) if (waiter.take(frame, receivedAt)) return;
    });
  }

  send(frame) {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** Answers every frame of a type, besides the caller that waits for it. */
  answer(type, how) {
    this.#answers.set(type, how);
  }

  /** The next matching frame: `{ frame, receivedAt }`. Call it before its cause. */
  next(match, count = 1) {
    return new Promise((resolve, reject) => {
      let left = count;
      const clock = setTimeout(() => {
        this.#waiting.delete(waiter);
        reject(new Error(`${left} of ${count} frames did not come within ${patienceMs} ms: ${match}`));
      }, patienceMs);
      const waiter = {
        take: (frame, receivedAt) => {
          if (!match(frame)) return false;
          if ((left -= 1) > 0) return true;
          clearTimeout(clock);
          this.#waiting.delete(waiter);
          resolve({ frame, receivedAt });
          return true;
        },
      };
      this.#waiting.add(waiter);
    });
  }

  async close() {
    this.socket.close(1000);
    await this.closed;
  }
}

/** Connects a registered device, which answers pings and history requests, and has reported zero running tasks. */
export async function connectDaemon(
  relay,
  { deviceId, token },
  page = { messages: [], has_more: false },
  headers = {},
) {
  const daemon = new Peer(`${relay.ws}/ws/daemon`, {
    Authorization: `Bearer ${token}`,
    'X-Device-ID': deviceId,
    'X-Agent-Type': 'bench',
    'X-Daemon-Version': '1.0.0',
    ...headers,
  });
  daemon.deviceId = deviceId;
  daemon.answer('ping', () => daemon.send({ type: 'pong' }));
  daemon.answer('get_messages', ({ request_id, session_id }) =>
    daemon.send({ type: 'messages', request_id, session_id, ...page }),
  );
  await daemon.opened;
  daemon.send({ type: 'status', running_tasks: [] });
  return daemon;
}

/** Connects an app that also receives output. */
export async function connectApp(relay, token, query = '?events=output') {
  const app = new Peer(`${relay.ws}/ws/attention${query}`, { Authorization: `Bearer ${token}` });
  await app.opened;
  return app;
}

/** Starts a session whose task goes on running; resolves with the id of the task, and of the session as its daemon names it. */
export async function startTask(client, daemon, app, session_id = 'started-here') {
  const started = daemon.next((frame) => frame.type === 'task_start');
  await client.call('POST', '/api/sessions', { deviceId: daemon.deviceId, message: `Start ${session_id}` });
  const { task_id } = (await started).frame;
  const named = app.next((frame) => frame.type === 'session_update' && frame.previousId !== undefined);
  daemon.send({ type: 'event', event_type: 'SESSION_STARTED', task_id, session_id });
  return { task_id, id: (await named).frame.session.id };
}
