// The load, for any system: pairs of a daemon and an app, events through them, requests to daemons, many sockets.
// A dialect translates for one system:
//   pair(person)                       → { send(text), onEvent, close() }
//   listen(pair, person)               → another app of this person, which gets the pair's events: { close() }
//   event(pair, bytes, n, kept, transcript) → the text of an event, `bytes` long
//   numbered(pair, n)                  → the text of an event that is kept and carries its number
//   follow(person, receive)               → resolves when an app listens that reconnects after every cut; calls
//                                        `receive(number)`, or `receive()` for a reload; { stop() }
//   turn(pair, n, until)               → resolves when its daemon has a message that came by HTTP ('sent'), or its app
//                                        the completed turn ('ended'); endTurn(pair)
//   ask(pair, n)                       → resolves when the daemon's answer has come, by HTTP
//   daemon(person, hello), app(person) → an accepted socket: { cut(), close() }
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

const patienceMs = 60_000;
/** Nothing new for this long: missing frames no longer come. */
const quietMs = 3_000;
const quantile = (values, q) =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))];

export class Load {
  #dialect;
  #pairs = [];
  #sockets = { daemon: [], app: [] };

  constructor(dialect) {
    this.#dialect = dialect;
  }

  /** Makes pairs of the first `count` people; resolves when each can pass events on. */
  async pairs({ count, transcript = false }) {
    while (this.#pairs.length < count) this.#pairs.push(await this.#dialect.pair(this.#pairs.length, transcript));
    return this.#pairs.map((pair) => ({ deviceId: pair.deviceId, nativeId: pair.nativeId }));
  }

  /** Gives each pair `count` apps besides its first one, no more and no fewer. An event of theirs has then come when all have it. */
  async listeners({ count }) {
    for (const [n, pair] of this.#pairs.entries()) {
      pair.others ??= [];
      while (pair.others.length < count) pair.others.push(await this.#dialect.listen(pair, n));
      await Promise.all(pair.others.splice(count).map((app) => app.close()));
    }
  }

  /** `count` events of `bytes`, each pair with `window` of them under way; or `perSecond` of them, from one pair after another. */
  async events({ bytes, count, window, perSecond, kept = false, transcript = false }) {
    if (perSecond !== undefined) return this.#paced({ bytes, count, perSecond, transcript });
    const startedAt = performance.now();
    const took = [];
    await within(
      Promise.all(
        this.#pairs.map((pair, index) => {
          const total = Math.floor(count / this.#pairs.length) + (index < count % this.#pairs.length ? 1 : 0);
          return new Promise((resolve) => {
            let sent = 0;
            let copies = 0;
            let arrived = 0;
            const apps = 1 + (pair.others?.length ?? 0);
            const sentAt = [];
            const send = () => {
              sentAt.push(performance.now());
              pair.send(this.#dialect.event(pair, bytes, sent, kept, transcript));
              sent += 1;
            };
            pair.onEvent = () => {
              copies += 1;
              if (copies % apps !== 0) return;
              took.push(performance.now() - sentAt[arrived]);
              arrived += 1;
              if (sent < total) send();
              else if (arrived === total) resolve();
            };
            for (let n = 0; n < Math.min(window, total); n += 1) send();
            if (total === 0) resolve();
          });
        }),
      ),
      () => `events: ${took.length} of ${count} came`,
    );
    return { tookMs: performance.now() - startedAt, p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
  }

  /** At ordinary rates every event travels alone: a batch would hide the cost of a single event. */
  async #paced({ bytes, count, perSecond, transcript }) {
    const startedAt = performance.now();
    const took = [];
    const arrived = Promise.all(
      this.#pairs.map((pair, index) => {
        const total = Math.floor(count / this.#pairs.length) + (index < count % this.#pairs.length ? 1 : 0);
        pair.sentAt = [];
        return new Promise((resolve) => {
          let heard = 0;
          pair.onEvent = () => {
            took.push(performance.now() - pair.sentAt[heard]);
            heard += 1;
            if (heard === total) resolve();
          };
          if (total === 0) resolve();
        });
      }),
    );
    for (let sent = 0; sent < count; await wait(1)) {
      const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1000) * perSecond));
      for (; sent < due; sent += 1) {
        const pair = this.#pairs[sent % this.#pairs.length];
        pair.sentAt.push(performance.now());
        pair.send(this.#dialect.event(pair, bytes, sent, false, transcript));
      }
    }
    await within(arrived, () => `events: ${took.length} of ${count} came`);
    return { tookMs: performance.now() - startedAt, p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
  }

  /**
   * Each pair sends `perPair` numbers, one per `everyMs`, to an app that reconnects; resolves when all have arrived, or
   * when arrivals have stopped.
   */
  async steady({ perPair, everyMs }) {
    let [repeated, told, heardAt] = [0, 0, performance.now()];
    const followed = await Promise.all(
      this.#pairs.map(async (_, index) => {
        const heard = new Set();
        const receive = (number) => {
          heardAt = performance.now();
          if (number === undefined) told += 1;
          else if (heard.has(number)) repeated += 1;
          else heard.add(number);
        };
        return { heard, app: await this.#dialect.follow(index, receive) };
      }),
    );
    for (let n = 0; n < perPair; n += 1) {
      for (const pair of this.#pairs) pair.send(this.#dialect.numbered(pair, n));
      await wait(everyMs);
    }
    const sent = perPair * this.#pairs.length;
    const missing = () => sent - followed.reduce((sum, { heard }) => sum + heard.size, 0);
    heardAt = performance.now();
    while (missing() > 0 && performance.now() - heardAt < quietMs) await wait(50);
    for (const { app } of followed) app.stop();
    return { sent, lost: missing(), repeated, told };
  }

  /** `count` questions by HTTP, `inFlight` at a time, to the daemons of the pairs. */
  async questions({ count, inFlight }) {
    return inLanes(count, inFlight, (n) => this.#dialect.ask(this.#pairs[n % this.#pairs.length], n));
  }

  /** Completes the open turns of the pairs. */
  async rest() {
    await within(Promise.all(this.#pairs.map((pair) => this.#dialect.endTurn(pair))), () => 'ends of turns');
  }

  /**
   * `count` messages by HTTP to the sessions of the pairs, `inFlight` at a time; each until its daemon has it, or until
   * its turn completes.
   */
  async turns({ count, inFlight, until }) {
    return inLanes(count, inFlight, (n) => {
      const pair = this.#pairs[n % this.#pairs.length];
      // A pair has one turn at a time, also when one takes as long as all others together.
      pair.turning = Promise.resolve(pair.turning).then(() => this.#dialect.turn(pair, n, until));
      return pair.turning;
    });
  }

  /** `count` times GET `path` of the first api, `inFlight` at a time, each on a connection that stays. */
  async gets({ path, count, inFlight = 1 }) {
    return inLanes(count, inFlight, (n) => this.#dialect.get(path, n));
  }

  /** `count` sockets of people from `first` on, `window` of them connecting at a time; daemons send `hello` frames. */
  async sockets({ role, first, count, window, hello = 0 }) {
    const startedAt = performance.now();
    let next = 0;
    const lane = async () => {
      while (next < count) {
        const n = first + next;
        next += 1;
        this.#sockets[role].push(await this.#dialect[role](n, hello));
      }
    };
    await within(
      Promise.all(Array.from({ length: Math.min(window, count) }, lane)),
      () => `sockets: ${next} of ${count}`,
    );
    return { tookMs: performance.now() - startedAt };
  }

  /** Every daemon socket is cut, without a goodbye, and they all come back at once. */
  async storm({ first, count, window, hello = 0 }) {
    for (const socket of this.#sockets.daemon.splice(0)) socket.cut();
    return this.sockets({ role: 'daemon', first, count, window, hello });
  }

  /**
   * `count` people from `first` on, `window` at a time: each connects a pair, receives `events`, sends one request,
   * completes the turn and leaves.
   */
  async comeAndGo({ first, count, window, events }) {
    return inLanes(count, window, async (n) => {
      const pair = await this.#dialect.pair(first + n);
      const all = new Promise((resolve) => {
        let heard = 0;
        pair.onEvent = () => (heard += 1) === events && resolve();
      });
      for (let sent = 0; sent < events; sent += 1) pair.send(this.#dialect.event(pair, 200, sent, false, false));
      await all;
      await this.#dialect.ask(pair, n);
      await this.#dialect.endTurn(pair);
      await pair.close();
    });
  }

  /** Closes the sockets; resolves when they are closed. */
  async leave() {
    const all = [...this.#sockets.daemon.splice(0), ...this.#sockets.app.splice(0)];
    await Promise.all(all.map((socket) => socket.close()));
  }
}

/** Calls `act` `count` times, `inFlight` at a time, and returns the total duration and that of each call. */
async function inLanes(count, inFlight, act) {
  const took = [];
  let next = 0;
  const startedAt = performance.now();
  const lane = async () => {
    while (next < count) {
      const n = next;
      next += 1;
      const at = performance.now();
      await act(n);
      took.push(performance.now() - at);
    }
  };
  await within(Promise.all(Array.from({ length: inFlight }, lane)), () => `${took.length} of ${count}`);
  return { tookMs: performance.now() - startedAt, p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
}

async function within(promise, how) {
  let clock;
  const late = new Promise((_, reject) => {
    clock = setTimeout(() => reject(new Error(`not within ${patienceMs} ms; ${how()}`)), patienceMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(clock);
  }
}

const line = JSON.stringify('  \u001b[32m✓\u001b[0m built "packages/protocol" → dist/index.js in 412 ms\n').slice(
  1,
  -1,
);

/** Output of a build, as it stands between quotes in JSON: about `bytes` long, with line feeds, quotes and escapes in it. */
export function buildOutput(bytes) {
  if (bytes <= 0) return '';
  const lines = Math.floor(bytes / Buffer.byteLength(line));
  return line.repeat(lines) + 'x'.repeat(bytes - lines * Buffer.byteLength(line));
}

/** `{ status, text }`. A kept connection that the server was just closing is asked again, as browsers do. */
export function get(url, agent, headers = {}) {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString('utf8') }));
    });
    asked
      .on('error', (error) => {
        if (asked.reusedSocket && error.code === 'ECONNRESET') resolve(get(url, agent, headers));
        else reject(error);
      })
      .end();
  });
}

const hellos = [
  JSON.stringify({ type: 'status', running_tasks: [] }),
  JSON.stringify({ type: 'report_sessions', sessions: [] }),
];
let reports = 0;

/** The first frames of a daemon; the third one reports ten sessions, all of them changed since the report before. */
export function hellosOf(count) {
  if (count < 3) return hellos.slice(0, count);
  reports += 1;
  const sessions = Array.from({ length: 10 }, (_, n) => ({
    session_id: `native-${n}`,
    title: `Session ${n}`,
    last_message: `report ${reports} of this session`,
    message_count: reports,
    last_activity: new Date().toISOString(),
  }));
  return [hellos[0], JSON.stringify({ type: 'report_sessions', sessions })];
}
