// The dialect of the relay: registered devices, tokens, running tasks.
import { Agent } from 'node:http';
import { WebSocket } from 'ws';
import { connectApp, connectDaemon, httpClient, startTask } from '../clients.mjs';
import { buildOutput, get, hellosOf } from './load.mjs';

const pong = '{"type":"pong"}';

export class Dialect {
  #system;
  #agent = new Agent({ keepAlive: true, maxSockets: 128 });

  constructor(system) {
    this.#system = system;
  }

  #of(urls, n) {
    return urls[n % urls.length];
  }

  async pair(n, transcript = false) {
    const { people, apps, daemons, http } = this.#system;
    const person = people[n];
    const client = httpClient(this.#of(http, n), person.token);
    const daemon = await connectDaemon(
      { ws: this.#of(daemons, n) },
      { deviceId: person.deviceId, token: person.deviceToken },
      undefined,
      transcript ? { 'X-Daemon-Capabilities': 'transcript' } : {},
    );
    const app = await connectApp(
      { ws: this.#of(apps, n) },
      person.token,
      transcript ? '?events=output,transcript' : undefined,
    );
    const nativeId = `native-${n}`;
    const { task_id, id } = await startTask(client, daemon, app, nativeId);
    client.close();
    const pair = {
      deviceId: person.deviceId,
      nativeId,
      taskId: task_id,
      client: httpClient(this.#of(http, n), person.token),
      sessionId: id,
      path: `${this.#of(http, n)}/api/sessions/${encodeURIComponent(id)}/messages?before=`,
      headers: { Authorization: `Bearer ${person.token}` },
      send: (text) => daemon.socket.send(text),
      onEvent: () => undefined,
      close: async () => {
        pair.client.close();
        await Promise.all([daemon.close(), app.close()]);
      },
    };
    // From now on frames are counted, not parsed, except while waiting for a turn.
    app.socket.removeAllListeners('message');
    app.socket.on('message', (data) => {
      if (pair.onFrame) pair.onFrame(JSON.parse(data.toString()));
      if (isEvent(data)) pair.onEvent();
    });
    daemon.socket.removeAllListeners('message');
    daemon.socket.on('message', (data) => {
      const frame = JSON.parse(data.toString());
      if (frame.type === 'ping') daemon.socket.send(pong);
      else if (frame.type === 'get_messages') daemon.socket.send(page(frame));
      else if (frame.type === 'task_resume') pair.onTask?.(frame);
    });
    return pair;
  }

  async listen(pair, n) {
    const { people, apps } = this.#system;
    const app = await connectApp({ ws: this.#of(apps, n) }, people[n].token);
    app.socket.removeAllListeners('message');
    app.socket.on('message', (data) => isEvent(data) && pair.onEvent());
    return app;
  }

  /** Reports the outcome of a turn; resolves when the app receives it. Does nothing without a running turn. */
  async endTurn(pair) {
    const { taskId: task_id, nativeId: session_id } = pair;
    if (task_id === undefined) return;
    pair.taskId = undefined;
    const ended = new Promise((resolve) => {
      pair.onFrame = (frame) => frame.type === 'session_update' && frame.session.status === 'idle' && resolve();
    });
    const say = (event_type, rest) =>
      pair.send(JSON.stringify({ type: 'event', event_type, task_id, session_id, ...rest }));
    say('OUTPUT', { output: 'Reading two files.\n' });
    say('AGENT_RESPONSE', { content: `I look at ${task_id}.` });
    say('OUTPUT', { output: 'Running the tests.\n' });
    say('TASK_COMPLETE', { result: `Done with ${task_id}.` });
    await ended;
    pair.onFrame = undefined;
  }

  async turn(pair, n, until) {
    const written = new Promise((resolve) => (pair.onTask = resolve));
    const path = `/api/sessions/${encodeURIComponent(pair.sessionId)}/messages`;
    await Promise.all([pair.client.call('POST', path, { content: `And ${n}?` }), written]);
    pair.taskId = (await written).task_id;
    if (until === 'ended') await this.endTurn(pair);
  }

  event({ taskId, nativeId }, bytes, n, kept, transcript) {
    if (transcript) {
      const ops = [{ op: 'add', uuid: '00000000-0000-4000-8000-000000000001', text: '' }];
      const members = { task_id: taskId, session_id: nativeId, v: n + 1, ops };
      const text = JSON.stringify({ type: 'event', event_type: 'TRANSCRIPT', ...members });
      return `${text.slice(0, -4)}${buildOutput(bytes - text.length)}"}]}`;
    }
    const frame = kept
      ? {
          type: 'event',
          event_type: 'AGENT_RESPONSE',
          task_id: taskId,
          session_id: nativeId,
          content: `${Date.now()}-${n} `,
        }
      : { type: 'event', event_type: 'OUTPUT', task_id: taskId, output: '' };
    const text = JSON.stringify(frame);
    return `${text.slice(0, -2)}${buildOutput(bytes - text.length)}"}`;
  }

  numbered({ taskId, nativeId }, n) {
    const content = `${n} what an agent says about what it did.`;
    return JSON.stringify({
      type: 'event',
      event_type: 'AGENT_RESPONSE',
      task_id: taskId,
      session_id: nativeId,
      content,
    });
  }

  /** Continues from the last received offset. */
  async follow(n, receive) {
    const { people, apps } = this.#system;
    let offset = '';
    return comingBack(apps, (url) => {
      const socket = new WebSocket(`${url}/ws/attention?since=${offset}`, {
        perMessageDeflate: false,
        headers: { Authorization: `Bearer ${people[n].token}` },
      });
      socket.on('message', (data) => {
        const frame = JSON.parse(data.toString());
        if (frame.offset !== undefined) ({ offset } = frame);
        if (frame.type === 'resync') receive();
        if (frame.type === 'new_message') receive(Number.parseInt(frame.message.content));
      });
      return [socket, new Promise((resolve) => socket.once('open', resolve))];
    });
  }

  async ask(pair, n) {
    const { status, text } = await get(`${pair.path}before-${n}`, this.#agent, pair.headers);
    if (status !== 200) throw new Error(`${status} ${text}`);
  }

  async get(path, n) {
    const { people, http } = this.#system;
    const { status, text } = await get(`${http[0]}${path}`, this.#agent, {
      Authorization: `Bearer ${people[0].token}`,
    });
    if (status >= 500 && status !== 503) throw new Error(`${n}: ${status} ${text}`);
  }

  /** Resolves when the daemon receives its version: it owns its device and is online. */
  daemon(n, hello) {
    const { people, daemons } = this.#system;
    const { deviceId, deviceToken } = people[n];
    return opened(
      new WebSocket(`${this.#of(daemons, n)}/ws/daemon`, {
        perMessageDeflate: false,
        headers: {
          Authorization: `Bearer ${deviceToken}`,
          'X-Device-ID': deviceId,
          'X-Agent-Type': 'bench',
          'X-Daemon-Version': '1.0.0',
        },
      }),
      (text, socket) => {
        if (text === '{"type":"ping"}') socket.send(pong);
        return text.startsWith('{"type":"version_status"');
      },
      hello,
    );
  }

  app(n) {
    const { people, apps } = this.#system;
    return opened(
      new WebSocket(`${this.#of(apps, n)}/ws/attention`, {
        perMessageDeflate: false,
        headers: { Authorization: `Bearer ${people[n].token}` },
      }),
    );
  }
}

function isEvent(data) {
  const head = data.toString('latin1', 0, 24);
  return ['transcript', 'task_output', 'new_message'].some((type) => head.startsWith(`{"type":"${type}"`));
}

/** A socket that sends hello when it opens; resolves then, or at the first frame that satisfies `isReady`. */
export function opened(socket, isReady, hello = 0) {
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    const closed = new Promise((done) => socket.once('close', done));
    closed.then(() => reject(new Error('closed')));
    const ready = () =>
      resolve({
        cut: () => socket.terminate(),
        close: () => {
          // A daemon that stops is offline at once. After another close the relay waits ten seconds, and the work would
          // fall into a later case.
          socket.close(1000, 'normal');
          return closed;
        },
      });
    socket.once('open', () => {
      for (const text of hellosOf(hello)) socket.send(text);
      if (!isReady) ready();
    });
    if (isReady) socket.on('message', (data) => isReady(data.toString(), socket) && ready());
  });
}

/**
 * Keeps a socket open: connects to the first of these addresses, and after each close to the next one. `connect(url)`
 * returns the socket and a promise that resolves when it listens. Resolves with the first connection; `{ stop() }`.
 */
export async function comingBack(urls, connect) {
  let socket;
  let attempt = 0;
  let stopped = false;
  const again = () => {
    let listens;
    [socket, listens] = connect(urls[attempt % urls.length]);
    attempt += 1;
    socket.on('error', () => undefined);
    socket.once('close', () => !stopped && setTimeout(again, 50));
    return listens;
  };
  await again();
  return {
    stop: () => {
      stopped = true;
      socket.terminate();
    },
  };
}

const page = ({ request_id, session_id }) =>
  JSON.stringify({
    type: 'messages',
    request_id,
    session_id,
    messages: [
      {
        uuid: '00000000-0000-4000-8000-000000000001',
        role: 'AGENT',
        content: 'what an agent says about what it did. '.repeat(3),
        timestamp: '2026-01-01T00:00:00.000Z',
      },
    ],
    has_more: false,
  });
