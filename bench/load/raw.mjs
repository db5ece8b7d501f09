// The dialect of the physical limit: numbers for users, unchanged text.
import { Agent } from 'node:http';
import { WebSocket } from 'ws';
import { buildOutput, get } from './load.mjs';
import { comingBack, opened } from './relay.mjs';

export const body = {
  messages: [
    {
      uuid: '00000000-0000-4000-8000-000000000001',
      role: 'AGENT',
      content: 'what an agent says about what it did. '.repeat(3),
      timestamp: '2026-01-01T00:00:00.000Z',
    },
  ],
  hasMore: false,
};

export class Dialect {
  #system;
  #agent = new Agent({ keepAlive: true, maxSockets: 128 });

  constructor(system) {
    this.#system = system;
  }

  #of(urls, n) {
    return urls[n % urls.length];
  }

  #open(urls, n, role, hello) {
    const socket = new WebSocket(`${this.#of(urls, n)}/${role}?user=${n}`, { perMessageDeflate: false });
    const isReady = (text) => {
      if (text === '{"type":"ping"}') socket.send('{"type":"pong"}');
      return text === '{"type":"ready"}';
    };
    const ready = opened(socket, isReady, hello);
    return { socket, ready };
  }

  async pair(n) {
    const { apps, daemons, http } = this.#system;
    const daemon = this.#open(daemons, n, 'daemon');
    const app = this.#open(apps, n, 'app');
    await Promise.all([daemon.ready, app.ready]);
    const pair = {
      path: `${this.#of(http, n)}/ask?user=${n}&before=`,
      send: (text) => daemon.socket.send(text),
      onEvent: () => undefined,
    };
    this.#receive(app, pair);
    daemon.socket.removeAllListeners('message');
    daemon.socket.on('message', (data) => {
      const { from, id } = JSON.parse(data.toString());
      daemon.socket.send(JSON.stringify({ to: from, id, body }));
    });
    return pair;
  }

  #receive(app, pair) {
    app.socket.removeAllListeners('message');
    app.socket.on('message', (data) => {
      if (data.toString('latin1', 0, 15) === '{"type":"event"') pair.onEvent();
    });
  }

  async listen(pair, n) {
    const app = this.#open(this.#system.apps, n, 'app');
    const socket = await app.ready;
    this.#receive(app, pair);
    return socket;
  }

  event(_, bytes, n, kept) {
    const text = kept ? '{"type":"event","kept":true,"output":""}' : '{"type":"event","output":""}';
    return `${text.slice(0, -2)}${buildOutput(bytes - text.length)}"}`;
  }

  numbered(_, n) {
    return JSON.stringify({ type: 'event', output: `${n} what an agent says about what it did.` });
  }

  async follow(n, receive) {
    return comingBack(this.#system.apps, (url) => {
      const socket = new WebSocket(`${url}/app?user=${n}`, { perMessageDeflate: false });
      const listens = new Promise((resolve) => {
        socket.on('message', (data) => {
          const frame = JSON.parse(data.toString());
          if (frame.type === 'ready') resolve();
          if (frame.type === 'event') receive(Number.parseInt(frame.output));
        });
      });
      return [socket, listens];
    });
  }

  async ask(pair, n) {
    const { status, text } = await get(`${pair.path}before-${n}`, this.#agent);
    if (status !== 200) throw new Error(`${status} ${text}`);
  }

  daemon(n, hello) {
    return this.#open(this.#system.daemons, n, 'daemon', hello).ready;
  }

  app(n) {
    return this.#open(this.#system.apps, n, 'app').ready;
  }
}
