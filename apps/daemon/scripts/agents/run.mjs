#!/usr/bin/env node
// Drives real agents through the whole chain: app → relay → daemon → agent, with a simulated model on this machine.
// Installs the pinned versions of the presets into a cache outside the repository (RELAY_AGENTS_CACHE, default
// ~/.cache/relay-daemon-agents), and starts no other network connection. `node apps/daemon/scripts/agents/run.mjs [name
// of a preset …]`; exits with 1 if anything fails.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connectApp, registerDevice, startRelay } from '@relay/testing';
import { acpAgent, createDaemon, createLog, exchangeOf, silentLog } from '../../dist/index.js';
import { deskOf } from '../../dist/agents/desk.js';
import { codexReadIn } from '../../dist/agents/history/codex.js';
import { limitsOf } from '../../dist/agents/history/readers.js';
import { agreesWithTheModel } from './account.mjs';
import { obeysEffort, obeysMode, obeysModel, offersAndHolds, readsFile, reachesLimits } from './controls.mjs';
import { installedAgent } from './installed.mjs';
import { answersAtDesk } from './desk-question.mjs';
import { startMock } from './mock-llm.mjs';
import { randomOrders } from './orders.mjs';
import { sameEverywhere } from './parts.mjs';

const patienceMs = Number(process.env.RELAY_AGENTS_PATIENCE ?? 90) * 1000; // a busy machine needs more

/** Run when no agent is named. */
const usual = ['opencode', 'claude_code', 'codex', 'pi'];
/** Codex asks only for permissions that its sandbox does not allow. */
const asking = (name, command) => `@@sh ${name === 'codex' ? '!' : ''}${command}`;

async function world(name, first, mock, credentials = {}) {
  let relay = first;
  const { preset, program, home, project, env } = installedAgent(name, mock.url, credentials);
  const rules = { defaultPath: project, allowed: [home] };
  const log = process.env.VERBOSE
    ? createLog({ write: (line) => process.stderr.write(line), verbose: true })
    : silentLog;
  const listed = preset.history === undefined;
  const agentOf = () =>
    acpAgent({
      listed,
      program,
      args: preset.args,
      env,
      rules,
      quirks: preset.quirks ?? {},
      login: preset.login,
      marker: home,
      limitsOf: limitsOf(preset, { ...process.env, ...env }),
      wasRead: preset.history === 'codex' ? codexReadIn({ ...process.env, ...env }) : undefined,
      log,
    });
  const registration = await registerDevice(relay, { agentType: name });
  const { deviceId } = registration;
  const start = async (as = registration, folder = 'daemon') => {
    const agent = agentOf();
    const outside = deskOf({ agent, preset, env: { ...process.env, ...env }, rules, log });
    const daemon = createDaemon({
      server: relay.gateways[0].url,
      ...as,
      daemonVersion: '1.0.0',
      storeDir: join(home, folder),
      agent,
      outside,
      exchange: exchangeOf({ rules, folder: join(home, folder, 'files'), outside: false, sends: true, log }),
      timings: { reportIntervalMs: 1000 },
    });
    daemon.start();
    await daemon.connected();
    return daemon;
  };
  let daemon = await start();
  const connect = () => [{ output: true }, { transcript: true }].map((options) => connectApp(relay, options));
  let [app, viewer] = await Promise.all(connect());
  const leave = async () => {
    await app.close();
    await viewer.close();
    await daemon.stop();
  };
  const update = async (id, match) =>
    (await app.next('session_update', ({ session }) => session.id === id && match(session), patienceMs)).session;
  const ended = (id) => update(id, ({ status }) => ['idle', 'failed', 'waiting'].includes(status));
  return {
    name,
    preset,
    home,
    project,
    get relay() {
      return relay;
    },
    get app() {
      return app;
    },
    get viewer() {
      return viewer;
    },
    deviceId,
    update,
    ended,
    agentOf,
    /** A new session; its id once the agent has named it. */
    async begin(message, more = {}) {
      const { status, text, body } = await relay.call('POST', '/api/sessions', {
        body: { deviceId, message, ...more },
      });
      if (status !== 201) throw new Error(`session not accepted: ${text}`);
      const named = await app.next(
        'session_update',
        ({ previousId, session }) =>
          previousId === body.id ||
          (session.deviceId === deviceId && session.lastTask?.id === body.taskId && !session.id.includes('PENDING')) ||
          (session.id === body.id && session.status === 'failed'),
        patienceMs,
      );
      if (named.session.status === 'failed') throw new Error(`failed: ${JSON.stringify(named.session.lastTask)}`);
      return named.session.id;
    },
    async tell(id, content, more = {}) {
      const { status, text, body } = await relay.call('POST', `/api/sessions/${encodeURIComponent(id)}/messages`, {
        body: { content, ...more },
      });
      if (status !== 202) throw new Error(`message not accepted: ${text}`);
      return body.taskId;
    },
    /** Answers the question of a session as an app does: by its uuid, with the first option of this kind. Returns the id of the task. */
    async answer(id, { prompt }, kind) {
      const option = prompt.options.find((one) => one.kind?.startsWith(kind));
      if (option === undefined) throw new Error(`no option to ${kind}: ${JSON.stringify(prompt.options)}`);
      const params = { id, uuid: prompt.id };
      const { status, text, body } = await relay.call('answerPrompt', {
        params,
        body: { option: option.id, digest: prompt.digest },
      });
      if (status !== 202) throw new Error(`answer not accepted: ${text}`);
      return body.taskId;
    },
    cancel: (id) => relay.call('POST', `/api/sessions/${encodeURIComponent(id)}/cancel`),
    read: async (id) => (await relay.call('GET', `/api/sessions/${encodeURIComponent(id)}?limit=1`)).body,
    task: async (id) => (await relay.call('GET', `/api/sessions/${encodeURIComponent(id)}?limit=1`)).body.lastTask,
    async items(id) {
      const path = `/api/sessions/${encodeURIComponent(id)}/messages?parts=1&limit=200`;
      let answer;
      // A restarted agent can be slower than the relay waits; the next call has the items.
      for (let call = 0; call < 5 && answer?.status !== 200; call++) answer = await relay.call('GET', path);
      if (answer.status !== 200) throw new Error(`the items were not read: ${answer.text}`);
      return answer.body.messages;
    },
    /** The task once it has settled. */
    async settled(taskId) {
      for (const until = Date.now() + patienceMs; ;) {
        const { body } = await relay.call('GET', `/api/tasks/${taskId}`);
        if (!['queued', 'sent', 'running'].includes(body.state)) return body;
        if (Date.now() > until) throw new Error(`the task is still ${body.state}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    async last(id) {
      const { body } = await relay.call('GET', `/api/sessions/${encodeURIComponent(id)}/messages?limit=200`);
      return body.messages ?? [];
    },
    /** The session once this task has completed. */
    over: (id, taskId) =>
      update(id, ({ lastTask }) => lastTask?.id === taskId && ['completed', 'failed'].includes(lastTask.state)),
    async restart() {
      await daemon.stop();
      daemon = await start();
    },
    /** Stops daemon, agent and apps, and starts them at the relay that `next` returns. */
    async move(next) {
      await leave();
      relay = await next();
      daemon = await start();
      [app, viewer] = await Promise.all(connect());
    },
    /** Another daemon, which knows only the agent's own sessions. */
    async another() {
      const as = await registerDevice(relay, { agentType: name });
      const other = await start(as, 'another');
      return {
        async read(id) {
          const native = id.split(':').slice(2).join(':');
          const path = encodeURIComponent(`${as.deviceId}:${name}:${native}`);
          await update(`${as.deviceId}:${name}:${native}`, () => true);
          let items = [];
          // An agent can start more slowly than the relay waits; the next call has the items.
          for (let call = 0; call < 5 && items.length === 0; call++) {
            const { body } = await relay.call('GET', `/api/sessions/${path}/messages?parts=1&limit=200`);
            items = body.messages ?? [];
          }
          return items;
        },
        stop: () => other.stop(),
      };
    },
    async stop() {
      await leave();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const must = (holds, what) => {
  if (!holds) throw new Error(what);
};

const checks = {
  async 'new session, streamed answer'(w) {
    const id = await w.begin('@@say The answer is forty-two.');
    const { status, lastMessage } = await w.ended(id);
    must(status === 'idle' && lastMessage.includes('forty-two'), `${status}: ${lastMessage}`);
    const output = w.app.inbox.all.filter(({ type, sessionId }) => type === 'task_output' && sessionId === id);
    must(
      output
        .map((frame) => frame.output)
        .join('')
        .includes('forty-two'),
      'nothing was streamed',
    );
  },
  async 'tool asks, is allowed from the app'(w) {
    const id = await w.begin(asking(w.name, 'echo made > allowed.txt'));
    const waiting = await w.ended(id);
    must(waiting.status === 'waiting', `${waiting.status}: ${waiting.lastMessage}`);
    must(waiting.prompt.prompt.endsWith('?'), waiting.prompt.prompt);
    const { status, lastMessage } = await w.over(id, await w.answer(id, waiting, 'allow'));
    must(status === 'idle', `${status}: ${lastMessage}`);
    must(existsSync(join(w.project, 'allowed.txt')), 'the command did not run');
  },
  async 'tool asks, is rejected'(w) {
    const id = await w.begin(asking(w.name, 'echo made > rejected.txt'));
    const waiting = await w.ended(id);
    must(waiting.status === 'waiting', `${waiting.status}: ${waiting.lastMessage}`);
    const { status, lastMessage } = await w.over(id, await w.answer(id, waiting, 'reject'));
    must(status === 'idle', `${status}: ${lastMessage}`);
    must(!existsSync(join(w.project, 'rejected.txt')), 'the command ran all the same');
  },
  async 'cancelled, and goes on'(w) {
    const id = await w.begin('@@slow 600');
    await w.app.next('task_output', ({ sessionId }) => sessionId === id, patienceMs);
    must((await w.cancel(id)).status === 202, 'cancel was not accepted');
    await w.update(id, ({ lastTask }) => lastTask?.state === 'cancelled');
    const { lastMessage } = await w.over(id, await w.tell(id, '@@say still here'));
    must(lastMessage.includes('still here'), lastMessage);
  },
  async 'takes a message into its turn, once and in its place; the same after a restart'(w) {
    const id = await w.begin('@@slow 300');
    await w.app.next('task_output', ({ sessionId }) => sessionId === id, patienceMs);
    const into = (await w.task(id)).id;
    const steered = await w.tell(id, '@@say changed course', { deliver: 'now' });
    const done = await w.settled(steered);
    if (done.kind !== 'steer') {
      await w.cancel(id);
      return `takes none: ${done.kind} ${done.state}`;
    }
    must(done.state === 'completed', `${done.state}: ${JSON.stringify(done.error)}`);
    const { status, lastMessage } = await w.read(id);
    must(status === 'idle' && lastMessage.includes('changed course'), `${status}: ${lastMessage}`);
    const items = await w.items(id);
    const [first, second] = items.filter(({ role }) => role === 'USER');
    must(second.part.steer === 'now' && second.turn === first.uuid, JSON.stringify(second));
    const answer = items.findIndex(({ role, content }) => role === 'AGENT' && content.includes('changed course'));
    must(answer > items.indexOf(second), 'the answer is before its message');
    must((await w.settled(into)).state === 'completed', 'the turn did not complete');
    await w.restart();
    const again = await w.items(id);
    const named = (all) => all.map(({ uuid, role, content }) => `${role} ${uuid} ${content.slice(0, 20)}`).join();
    must(named(again) === named(items), `other items after a restart: ${named(items)}, then ${named(again)}`);
    return undefined;
  },
  async 'a message in the last moment of a turn is never "sent while it worked" unless the agent read it'(w) {
    const outcomes = [];
    for (const afterMs of [700, 900, 1000, 1100, 1200]) {
      const id = await w.begin('@@slow 8');
      await w.app.next('task_output', ({ sessionId }) => sessionId === id, patienceMs);
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      const steered = await w.tell(id, `@@say late ${afterMs}`, { deliver: 'now' });
      const { kind, state, error } = await w.settled(steered);
      await w.update(id, ({ status }) => status === 'idle').catch(() => undefined);
      const isAnswered = (await w.items(id)).some(
        ({ role, content }) => role === 'AGENT' && content.includes(`late ${afterMs}`),
      );
      outcomes.push(`${kind} ${error?.code ?? state}`);
      must(isAnswered === (state === 'completed'), `${afterMs}: ${outcomes.at(-1)}, answered: ${isAnswered}`);
    }
    return `${outcomes.length} tried: ${outcomes.join()}`;
  },
  async 'resumed after a restart of the daemon, with its memory; history paged'(w) {
    const id = await w.begin('@@say remember the zebra');
    await w.ended(id);
    await w.restart();
    const { status, lastMessage } = await w.over(id, await w.tell(id, '@@history'));
    if (w.preset.quirks?.neverReload) {
      const said = (await w.last(id)).at(-1)?.content ?? '';
      must(status === 'failed' && said.includes('Start a new session'), `${status}: ${said}`);
      return 'ends with its process, and says so';
    }
    const messages = await w.last(id);
    must(status === 'idle' && messages.at(-1).content.includes('zebra'), `${status}: ${lastMessage}`);
    must(messages.length === 4, `${messages.length} messages`);
    const older = await w.relay.call(
      'GET',
      `/api/sessions/${encodeURIComponent(id)}/messages?limit=2&before=${messages[2].uuid}`,
    );
    must(
      older.body.messages.map(({ uuid }) => uuid).join() ===
        messages
          .slice(0, 2)
          .map(({ uuid }) => uuid)
          .join(),
      'paging',
    );
  },
  'mode, model and effort are offered; a mode holds after a restart of the daemon': (w) => offersAndHolds(w, tools),
  'its mode is obeyed when it is changed before, during, after and with a turn': (w) => obeysMode(w, tools),
  'its model is obeyed when it is changed before, during, after and with a turn': (w) => obeysModel(w, tools),
  'its effort is obeyed when it is changed before, during, after and with a turn': (w) => obeysEffort(w, tools),
  'reads an attached text file in its turn, without a question': (w) => readsFile(w, tools),
  'a usage limit in its own form; the message that continues runs once': ({ name }) => reachesLimits(name, tools),
  async 'a session begun elsewhere is found, with its words'(w) {
    // Another process of the agent, as a terminal would start one.
    const other = w.agentOf();
    const opened = await other.open({
      taskId: 'x',
      projectPath: '',
      signal: new AbortController().signal,
      process() {},
    });
    const report = {
      progress() {},
      output() {},
      process() {},
      wait() {},
      error: (error) => (report.said = error),
      complete: (result) => (report.said = result),
    };
    await other.start(
      { taskId: 'x', sessionId: opened.sessionId, message: '@@say from the desk', projectPath: '' },
      report,
    ).ended;
    await other.close();
    const id = `${w.deviceId}:${w.name}:${opened.sessionId}`;
    await w.update(id, () => true);
    // An agent can start more slowly than the relay waits; the next call has the messages.
    let messages = [];
    for (let call = 0; call < 5 && messages.length === 0; call++) messages = await w.last(id);
    must(messages.at(-1)?.content.includes('from the desk'), JSON.stringify({ messages, said: report.said }));
    return undefined;
  },
  'a turn of everything is the same live, loaded, after a restart, and for a daemon that reads it': (w) =>
    sameEverywhere(w, tools),
  "the model's log and the transcript agree, item by item": (w) => agreesWithTheModel(w, tools),
  'desk and phone in random orders': ({ name, relay }) => ordersOf({ name, relay, count: orders, isServed: false }),
  'questions in its terminal are answered in an app': ({ name, relay }) =>
    name === 'claude_code' ? answersAtDesk(name, relay, mock, must) : 'its terminals have no hook',
  "desk and phone in random orders, with Codex's server": ({ name, relay }) =>
    ordersOf({ name, relay, count: Math.ceil(orders / 5), isServed: true }),
};

/** RELAY_AGENTS_ORDERS: how many; RELAY_AGENTS_SEED: of the first. The next order has the next seed. */
const orders = Number(process.env.RELAY_AGENTS_ORDERS ?? 5);
const seed = Number(process.env.RELAY_AGENTS_SEED ?? Date.now() % 1_000_000);
function ordersOf(options) {
  const { name, isServed } = options;
  if (name !== 'codex' && (isServed || name !== 'claude_code')) return 'its terminals are not run';
  return randomOrders({ ...options, mock, seed });
}

const needsQuestions = /^tool asks|^a turn of everything/;
const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : usual;
// RELAY_AGENTS_DUMP: a folder for the agents' requests to the model.
const mock = await startMock({ dump: process.env.RELAY_AGENTS_DUMP });
const tools = { must, asking, mock, world };
let failed = 0;
for (const name of names) {
  const relay = await startRelay();
  let w;
  try {
    w = await world(name, relay, mock);
    process.stdout.write(`${w.preset.title} ${w.preset.install.version}\n`);
    for (const [check, run] of Object.entries(checks)) {
      if (!check.includes(process.env.ONLY ?? '')) continue;
      if (w.preset.quirks?.neverAsks && needsQuestions.test(check)) {
        process.stdout.write(`  none   ${check}: it never asks\n`);
        continue;
      }
      const from = Date.now();
      try {
        const note = await run(w);
        process.stdout.write(
          `  ${note && !/^\d/.test(note) ? 'none  ' : 'ok    '} ${check}${note ? `: ${note}` : ` (${((Date.now() - from) / 1000).toFixed(1)} s)`}\n`,
        );
      } catch (error) {
        failed++;
        process.stdout.write(`  BROKEN ${check}: ${error.message}\n`);
      }
    }
  } catch (error) {
    failed++;
    process.stdout.write(`${name}: ${error.message}\n`);
  } finally {
    await w?.stop();
    await relay.stop();
  }
}
process.exit(failed === 0 ? 0 : 1);
