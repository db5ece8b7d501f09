// Clients that stay: sockets that connect again after every close, as daemons and apps do, and people who continue their turns through
// replacements and restarts. Every request, delivery and event is timed, and every task is counted until it has an outcome.
//
//   sockets({ role, first, count, window }) → opens silent sockets; resolves when all are accepted
//   pairs({ count })                        → the first `count` people get a daemon and an app, and a session
//   turns({ perSecond, ms })                → turns at a steady rate, also while earlier turns are late; resolves with `{ turns, … }`
//   reconnects()                            → the closes, refusals and waits since the last call
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { quantile } from '../measure.mjs';

const pong = '{"type":"pong"}';
/** The waits of the shipped daemon after a close: doubling, anywhere in the upper half. */
const backoff = { firstMs: 1_000, mostMs: 60_000 };
const requestMs = 15_000;
/** An app without news of its turn asks by REST. */
const askMs = 5_000;
const turnMs = 90_000;
/** The objectives of docs/operations.md. */
const objectives = { deliveredMs: 2_000, shownMs: 1_000 };

export class Staying {
  #system;
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #pairs = [];
  #seen = freshReconnects();

  constructor(system) {
    this.#system = system;
  }

  async sockets({ role, first, count, window }) {
    let next = first;
    const lane = async () => {
      while (next < first + count) await this.#stay(role, next++).ready;
    };
    await Promise.all(Array.from({ length: window }, lane));
  }

  async pairs({ count }) {
    while (this.#pairs.length < count) this.#pairs.push(await this.#pair(this.#pairs.length));
  }

  reconnects() {
    const { back, ...counts } = this.#seen;
    this.#seen = freshReconnects();
    return { ...counts, back: Object.fromEntries(Object.entries(back).map(([role, took]) => [role, spread(took)])) };
  }

  async turns({ perSecond, ms }) {
    const seen = {
      turns: 0,
      completed: 0,
      twice: 0,
      asked: 0,
      outcomes: {},
      requests: [],
      failed: {},
      delivered: [],
      shown: [],
    };
    const startedAt = performance.now();
    const running = [];
    for (let n = 0; (n / perSecond) * 1000 < ms; n += 1) {
      await wait(Math.max(0, startedAt + (n / perSecond) * 1000 - performance.now()));
      const pair = this.#pairs[n % this.#pairs.length];
      // A person has one turn at a time.
      pair.turning = Promise.resolve(pair.turning).then(() => this.#turn(pair, seen));
      running.push(pair.turning);
    }
    await Promise.all(running);
    const { requests, delivered, shown, ...counts } = seen;
    const failed = Object.values(seen.failed).reduce((sum, count) => sum + count, 0);
    const late = (took, most) => (took.filter((one) => one > most).length / took.length) * 100;
    return {
      ...counts,
      tookMs: performance.now() - startedAt,
      requests: { ...spread(requests), failedPercent: (failed / (failed + requests.length)) * 100 },
      delivered: { ...spread(delivered), latePercent: late(delivered, objectives.deliveredMs) },
      shown: { ...spread(shown), latePercent: late(shown, objectives.shownMs) },
    };
  }

  async #pair(n) {
    const pair = { n, tasks: new Map(), unsettled: new Map(), settled: new Map(), since: '' };
    pair.daemon = this.#stay('daemon', n, {
      running: () => [...pair.unsettled.keys()],
      // The relay recognises an outcome that it already has.
      onReady: () => pair.unsettled.forEach((frames) => pair.daemon.send(frames.at(-1))),
      onFrame: (frame) => this.#work(pair, frame),
    });
    pair.app = this.#stay('app', n, {
      query: () => `?events=output&since=${encodeURIComponent(pair.since)}`,
      onFrame: (frame) => {
        if (frame.offset) pair.since = frame.offset;
        if (frame.type !== 'session_update') return;
        if (frame.previousId !== undefined) pair.onNamed(frame.session.id);
        // The frame can arrive before the response to the request.
        const { id, state } = settledTask(frame.session) ?? {};
        if (id !== undefined && !pair.settled.has(id))
          pair.settled.set(id, { state, shownAt: performance.now(), asked: false });
        pair.onSettled?.();
      },
    });
    await Promise.all([pair.daemon.ready, pair.app.ready]);
    const { deviceId } = this.#system.people[n];
    const named = new Promise((resolve) => (pair.onNamed = resolve));
    const { body } = await this.#ask(pair, 'POST', '/api/sessions', { deviceId, message: `Start ${n}` }, randomUUID());
    pair.path = `/api/sessions/${encodeURIComponent(await named)}`;
    await this.#outcome(pair, body.taskId, performance.now());
    return pair;
  }

  /** The agent of a daemon: two lines, a message, the outcome. A task that arrives again is not worked on again. */
  #work(pair, frame) {
    const { type, request_id, session_id: asked } = frame;
    if (type === 'get_messages')
      pair.daemon.send(
        JSON.stringify({ type: 'messages', request_id, session_id: asked, messages: [], has_more: false }),
      );
    if (type !== 'task_start' && type !== 'task_resume') return;
    const { task_id } = frame;
    const times = (pair.tasks.get(task_id)?.times ?? 0) + 1;
    pair.tasks.set(task_id, { times, deliveredAt: performance.now() });
    if (times > 1) return;
    const session_id = `native-${pair.n}`;
    const event = (event_type, rest) => JSON.stringify({ type: 'event', event_type, task_id, session_id, ...rest });
    const frames = [
      ...(type === 'task_start' ? [event('SESSION_STARTED', {})] : []),
      event('OUTPUT', { output: 'Reading two files.\n' }),
      event('AGENT_RESPONSE', { content: `I look at ${task_id}.` }),
      event('OUTPUT', { output: 'Running the tests.\n' }),
      event('TASK_COMPLETE', { result: `Done with ${task_id}.` }),
    ];
    pair.unsettled.set(task_id, frames);
    frames.forEach((text) => pair.daemon.send(text));
    pair.tasks.get(task_id).sentAt = performance.now();
  }

  async #turn(pair, seen) {
    seen.turns += 1;
    const key = randomUUID();
    const startedAt = performance.now();
    let taskId;
    let sentAt;
    while (taskId === undefined) {
      sentAt = performance.now();
      const { status, body } = await this.#ask(pair, 'POST', `${pair.path}/messages`, { content: `And ${key}?` }, key);
      if (status < 300) {
        seen.requests.push(performance.now() - sentAt);
        taskId = body.taskId;
      } else {
        const name = `${status} ${body?.code ?? ''}`.trim();
        seen.failed[name] = (seen.failed[name] ?? 0) + 1;
        if (performance.now() - startedAt > turnMs) return;
        await wait(200 + Math.random() * 800);
      }
    }
    const { state, shownAt, asked } = await this.#outcome(pair, taskId, startedAt);
    const task = pair.tasks.get(taskId);
    if (task) seen.delivered.push(task.deliveredAt - sentAt);
    if (shownAt !== undefined) seen.shown.push(Math.max(0, shownAt - task.sentAt));
    if (asked) seen.asked += 1;
    if (task?.times > 1) seen.twice += 1;
    if (state === 'completed') seen.completed += 1;
    else seen.outcomes[state] = (seen.outcomes[state] ?? 0) + 1;
    pair.tasks.delete(taskId);
    pair.unsettled.delete(taskId);
  }

  /** The final state of a task, by a frame, or by REST after 5 s without a frame: `{ state, shownAt?, asked }`. */
  async #outcome(pair, taskId, startedAt) {
    while (performance.now() - startedAt < turnMs) {
      const until = performance.now() + askMs;
      while (!pair.settled.has(taskId) && performance.now() < until)
        await Promise.race([new Promise((resolve) => (pair.onSettled = resolve)), wait(until - performance.now())]);
      const shown = pair.settled.get(taskId);
      pair.settled.delete(taskId);
      if (shown) return shown;
      const { status, body } = await this.#ask(pair, 'GET', '/api/sessions?limit=1');
      const found = status === 200 ? settledTask(body.sessions[0]) : undefined;
      if (found?.id === taskId) return { state: found.state, asked: true };
    }
    return { state: 'none', asked: true };
  }

  #ask(pair, method, path, body, key) {
    const { people, http } = this.#system;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      Authorization: `Bearer ${people[pair.n].token}`,
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    };
    const url = `${http[pair.n % http.length]}${path}`;
    return new Promise((resolve) => {
      const sent = request(url, { agent: this.#agent, method, headers, timeout: requestMs }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', () => resolve({ status: 999 }));
        response.on('end', () => resolve({ status: response.statusCode, body: parsed(Buffer.concat(chunks)) }));
      });
      sent.on('timeout', () => sent.destroy(new Error('no answer')));
      // 999, which HTTP does not use, marks a broken connection.
      sent.on('error', (error) => resolve({ status: 999, body: { code: error.code ?? error.message } }));
      sent.end(text);
    });
  }

  /** A socket that reconnects: `ready` resolves when the relay accepts it for the first time; `send(text)` drops the text without an open socket. */
  #stay(role, n, { running = () => [], onReady, onFrame, query = () => '' } = {}) {
    const { people, apps, daemons } = this.#system;
    const { token, deviceId, deviceToken } = people[n];
    const seen = () => this.#seen;
    const count = (where, what) => (where[what] = (where[what] ?? 0) + 1);
    const connect = () =>
      role === 'daemon'
        ? new WebSocket(`${daemons[n % daemons.length]}/ws/daemon`, {
            perMessageDeflate: false,
            headers: {
              Authorization: `Bearer ${deviceToken}`,
              'X-Device-ID': deviceId,
              'X-Agent-Type': 'bench',
              'X-Daemon-Version': '1.0.0',
            },
          })
        : new WebSocket(`${apps[n % apps.length]}/ws/attention${query()}`, {
            perMessageDeflate: false,
            headers: { Authorization: `Bearer ${token}` },
          });
    const one = {};
    let socket;
    let step = -1;
    let lostAt;
    let accept;
    one.ready = new Promise((resolve) => (accept = resolve));
    one.send = (text) => socket.readyState === WebSocket.OPEN && socket.send(text);
    const accepted = () => {
      step = -1;
      if (lostAt !== undefined) seen().back[role].push(performance.now() - lostAt);
      lostAt = undefined;
      accept();
      onReady?.();
    };
    const open = () => {
      socket = connect();
      let retryAfterMs = 0;
      socket.on('open', () => {
        if (role === 'app') return accepted();
        socket.send(JSON.stringify({ type: 'status', running_tasks: running() }));
        socket.send('{"type":"report_sessions","sessions":[]}');
      });
      socket.on('message', (data) => {
        const text = data.toString();
        if (text === '{"type":"ping"}') socket.send(pong);
        else if (text.startsWith('{"type":"version_status"')) accepted();
        else onFrame?.(JSON.parse(text));
      });
      socket.on('unexpected-response', (_request, response) => {
        count(seen().refused, `${role} ${response.statusCode}`);
        retryAfterMs = Number(response.headers['retry-after'] ?? 0) * 1000;
        response.resume();
        socket.terminate();
      });
      socket.on('error', () => undefined);
      socket.once('close', (code) => {
        count(seen().closes, `${role} ${code}`);
        lostAt ??= performance.now();
        step += 1;
        const most = Math.min(backoff.firstMs * 2 ** step, backoff.mostMs);
        setTimeout(open, retryAfterMs + (most / 2) * (1 + Math.random()));
      });
    };
    open();
    return one;
  }
}

/** The newest task of a session if it is over. */
function settledTask({ lastTask } = {}) {
  return ['later', 'queued', 'sent', 'running'].includes(lastTask?.state) ? undefined : lastTask;
}

const freshReconnects = () => ({ closes: {}, refused: {}, back: { daemon: [], app: [] } });

const spread = (took) => ({
  count: took.length,
  p50: quantile(took, 0.5),
  p99: quantile(took, 0.99),
  most: quantile(took, 1),
});

function parsed(bytes) {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
