// One person who uses every limit to the full, in a process of its own with the lowest priority, so that only the
// relay's work for it matters. Over IPC: `{ id, what: 'start', args }` begins an attack, `{ id, what: 'stop' }` stops
// it and returns the number of each outcome.
import { once } from 'node:events';
import { request } from 'node:http';
import { setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { connectDaemon, httpClient } from '../clients.mjs';

setPriority(19);
const mebibyte = 2 ** 20;
/** A peer that asks again at once would measure itself. */
const breathMs = 20;

const report = (count, entry) => ({
  type: 'report_sessions',
  sessions: Array.from({ length: count }, (_, n) => ({
    session_id: `attack-${n}`,
    project: '/home/attack',
    ...entry(n),
  })),
});

/** The work during an attack: its target, whether it still runs, and its result. */
class Attack {
  seen = {};
  isOn = true;
  #sockets = new Set();

  constructor({ person, apps, daemons, http }) {
    Object.assign(this, { person, apps: apps[0], daemons: daemons[0], http: http[0] });
  }

  saw(outcome) {
    this.seen[outcome] = (this.seen[outcome] ?? 0) + 1;
  }

  async loop(act, times = 1) {
    await Promise.all(
      Array.from({ length: times }, async (_, n) => {
        while (this.isOn) {
          try {
            await act(n);
          } catch (error) {
            this.saw(error.code ?? error.message.slice(0, 60));
          }
          await wait(breathMs);
        }
      }),
    );
  }

  /** A connected daemon of the attacker. Rejects with the status of the answer when it is not let in. */
  async daemon({ deviceId, deviceToken }, page) {
    const peer = await connectDaemon({ ws: this.daemons }, { deviceId, token: deviceToken }, page);
    this.#sockets.add(peer.socket);
    peer.socket.on('error', () => undefined);
    peer.socket.on('close', (code) => {
      this.#sockets.delete(peer.socket);
      if (this.isOn) this.saw(`closed ${code}`);
    });
    return peer;
  }

  /** Sends these texts in turn until the attack stops, each after the previous text has left this process. */
  async flood(device, texts) {
    let peer;
    let n = 0;
    await this.loop(async () => {
      if (peer?.socket.readyState !== WebSocket.OPEN) peer = await this.daemon(device);
      await new Promise((resolve) => peer.socket.send(texts[(n += 1) % texts.length], resolve));
      this.saw('frames sent');
    });
  }

  app() {
    return new Promise((resolve) => {
      const headers = { Authorization: `Bearer ${this.person.token}` };
      const socket = new WebSocket(`${this.apps}/ws/attention`, { headers, perMessageDeflate: false });
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('open', () => resolve(this.saw('open')));
      socket.once('unexpected-response', (_request, { statusCode }) => resolve(this.saw(`${statusCode}`)));
      socket.once('close', (code) => {
        this.#sockets.delete(socket);
        if (this.isOn && code !== 1006) this.saw(`closed ${code}`);
        resolve();
      });
    });
  }

  end() {
    this.isOn = false;
    for (const socket of this.#sockets) socket.terminate();
  }
}

const attacks = {
  'a report of 100,000 entries, all changed': (attack) => {
    const texts = [1, 2].map((turn) => JSON.stringify(report(100_000, (n) => ({ title: `${turn} of ${n}` }))));
    return attack.flood(attack.person, texts);
  },
  'the same report of 100,000 entries': (attack) =>
    attack.flood(attack.person, [JSON.stringify(report(100_000, (n) => ({ title: `same ${n}` })))]),
  'a report of 16 entries of 8 MiB': (attack) =>
    attack.flood(attack.person, [JSON.stringify(report(16, () => ({ last_message: 'x'.repeat(8 * mebibyte) })))]),
  'a report of 15 entries of 1 MiB': (attack) =>
    attack.flood(
      attack.person,
      [1, 2].map((turn) => JSON.stringify(report(15, () => ({ last_message: `${turn}`.repeat(mebibyte) })))),
    ),
  '200 devices, 100 changed sessions each': async (attack) => {
    const texts = [1, 2].map((turn) => JSON.stringify(report(100, (n) => ({ title: `${turn} of ${n}` }))));
    await Promise.all(attack.person.devices.map((device) => attack.flood(device, texts)));
  },
  '5,000 sockets': (attack) => attack.loop(() => attack.app(), 100),
  'bodies without an end': (attack) => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    return attack.loop(async () => {
      const headers = {
        Authorization: `Bearer ${attack.person.token}`,
        'Content-Type': 'application/json',
        'Transfer-Encoding': 'chunked',
      };
      const sent = request(`${attack.http}/api/sessions`, { method: 'POST', headers, agent: false });
      const ended = new Promise((resolve) => {
        sent.once('response', (response) => {
          attack.saw(`${response.statusCode}`);
          response.resume();
          resolve();
        });
        sent.once('error', (error) => resolve(attack.saw(error.code)));
        sent.once('close', resolve);
      });
      let isOver = false;
      void ended.then(() => (isOver = true));
      while (!isOver && attack.isOn) {
        if (!sent.write(chunk)) await Promise.race([once(sent, 'drain'), ended]);
      }
      sent.destroy();
    }, 50);
  },
  'a page with one bad message': async (attack) => {
    const messages = Array.from({ length: 200 }, (_, n) => ({
      uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      role: n === 100 ? 7 : 'AGENT',
      content: 'x'.repeat(64 * 1024),
      timestamp: '2026-01-01T00:00:00.000Z',
    }));
    const peer = await attack.daemon(attack.person, { messages, has_more: false });
    peer.send(report(1, () => ({ title: 'a page' })));
    const client = httpClient(attack.http, attack.person.token);
    await attack.loop(async () => {
      const { body } = await client.call('GET', '/api/sessions?limit=1');
      const id = body.sessions[0]?.id;
      if (id === undefined) return;
      const read = await client.call('GET', `/api/sessions/${encodeURIComponent(id)}/messages`);
      attack.saw(`${read.status}`);
    });
    client.close();
  },
};

let current;
const calls = {
  start({ name, system }) {
    current = new Attack(system);
    attacks[name](current).catch((error) => current.saw(error.message));
  },
  stop() {
    current.end();
    return current.seen;
  },
};

process.on('message', ({ id, what, args }) => {
  try {
    process.send({ id, result: calls[what](args) });
  } catch (error) {
    process.send({ id, error: String(error?.stack ?? error) });
  }
});
process.on('disconnect', () => process.exit(0));
console.log('listening on 1');
