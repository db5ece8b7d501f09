// The dialect of Socket.IO: its own client, WebSocket from the start, no reconnects.
import { EventEmitter } from 'node:events';
import { Agent } from 'node:http';
import { io } from 'socket.io-client';
import { buildOutput, get, hellosOf } from './load.mjs';
import { body } from './raw.mjs';
import { comingBack } from './relay.mjs';

export class Dialect {
  #system;
  #agent = new Agent({ keepAlive: true, maxSockets: 128 });

  constructor(system) {
    this.#system = system;
  }

  #of(urls, n) {
    return urls[n % urls.length];
  }

  #open(urls, n, role, user = n) {
    const socket = io(this.#of(urls, n), {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      auth: { role, user: String(user) },
    });
    const ready = new Promise((resolve, reject) => {
      socket.once('ready', resolve);
      socket.once('connect_error', reject);
    });
    return { socket, ready };
  }

  async pair(n) {
    const { apps, daemons, http } = this.#system;
    const daemon = this.#open(daemons, n, 'daemon');
    const app = this.#open(apps, n, 'app');
    await Promise.all([daemon.ready, app.ready]);
    const pair = {
      path: `${this.#of(http, n)}/ask?user=${n}&before=`,
      send: (text) => daemon.socket.emit('event', text),
      onEvent: () => undefined,
    };
    app.socket.on('event', () => pair.onEvent());
    daemon.socket.on('ask', (_, acknowledge) => acknowledge(body));
    return pair;
  }

  async listen(pair, n) {
    const { socket, ready } = this.#open(this.#system.apps, n, 'app');
    await ready;
    socket.on('event', () => pair.onEvent());
    return { close: () => void socket.disconnect() };
  }

  /** Its own packet around it is 17 bytes. */
  event(_, bytes) {
    return JSON.parse(`"${buildOutput(bytes - 17)}"`);
  }

  numbered(_, n) {
    return `${n} what an agent says about what it did.`;
  }

  async follow(n, receive) {
    return comingBack(this.#system.apps, (url) => {
      const { socket, ready } = this.#open([url], 0, 'app', n);
      socket.on('event', (text) => receive(Number.parseInt(text)));
      const life = new EventEmitter();
      for (const end of ['disconnect', 'connect_error']) socket.once(end, () => life.emit('close'));
      life.terminate = () => socket.disconnect();
      return [life, ready];
    });
  }

  async ask(pair, n) {
    const { status, text } = await get(`${pair.path}before-${n}`, this.#agent);
    if (status !== 200) throw new Error(`${status} ${text}`);
  }

  daemon(n, hello) {
    return this.#socket(this.#system.daemons, n, 'daemon', hello);
  }

  app(n) {
    return this.#socket(this.#system.apps, n, 'app', 0);
  }

  async #socket(urls, n, role, hello = 0) {
    const { socket, ready } = this.#open(urls, n, role);
    await ready;
    for (const text of hellosOf(hello)) socket.emit(JSON.parse(text).type, text);
    const closed = new Promise((resolve) => socket.once('disconnect', resolve));
    return {
      cut: () => socket.io.engine.transport.ws.terminate?.() ?? socket.io.engine.close(),
      close: () => {
        socket.disconnect();
        return closed;
      },
    };
  }
}
