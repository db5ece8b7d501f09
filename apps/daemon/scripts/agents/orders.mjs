// Desk and phone in random orders: a person starts a session in a terminal or an app, writes in both, closes the terminal from the app, by itself
// or with its window, and resumes it with the printed command. Real agents in tmux, a real relay and daemon, a simulated model. After each order
// the history of the agent must be one line that has each message once, and only the program of the terminal can have got a signal.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { registerDevice } from '@relay/testing';
import { createDaemon, createLog, silentLog } from '../../dist/index.js';
import { agentOf } from '../../dist/agents/choice.js';
import { agentEnvironment } from '../../dist/agents/environment.js';
import { bystandersOf, neighbourOf } from './bystanders.mjs';
import { installedAgent, terminalOf } from './installed.mjs';
import { histories } from './one-line.mjs';
import { phoneOf, windowOf } from './person.mjs';
import { endProgramsBelow, terminals, until, watchSignals } from './terminals.mjs';

/** Folders of sessions: the printed command has to quote them. */
const folders = ['plain', 'two words', `it's "$HOME" & more`];
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Equal numbers for equal seeds (mulberry32). */
function randomOf(seed) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { below: (count) => Math.floor(next() * count), of: (list) => list[Math.floor(next() * list.length)] };
}

/** One home with the agent, its terminals, and a daemon. `isServed`: the terminals of Codex share its background server. */
async function placeOf({ name, relay, mock, isServed }) {
  const { preset, program, home, env } = installedAgent(name, mock.url);
  const { bin, prepare } = terminalOf(name, program);
  const projects = folders.map((folder) => join(home, folder));
  const trusted = [...projects, join(home, 'another')];
  for (const folder of trusted) mkdirSync(folder);
  prepare(home, trusted, isServed);
  const desk = terminals(agentEnvironment({ ...env, PATH: `${bin}:${env.PATH}`, DISABLE_AUTOUPDATER: '1' }));
  const stateDir = join(home, 'daemon');
  const rules = { defaultPath: projects[0], allowed: [home] };
  const log = process.env.VERBOSE
    ? createLog({ write: (line) => process.stderr.write(line), verbose: true })
    : silentLog;
  const choice = { kind: 'acp', preset: name, program, args: [...preset.args], env };
  const registration = await registerDevice(relay, { agentType: name });
  const daemon = createDaemon({
    server: relay.gateways[0].url,
    ...registration,
    daemonVersion: '1.0.0',
    storeDir: stateDir,
    ...agentOf(choice, { rules, stateDir, log }),
    timings: { reportIntervalMs: 1000 },
  });
  daemon.start();
  await daemon.connected();
  const about = { name, preset, home, relay, desk, projects, isServed, deviceId: registration.deviceId };
  return {
    ...about,
    history: histories(name, home),
    async stop() {
      desk.close();
      await daemon.stop();
      // The background server of Codex outlives its terminals.
      endProgramsBelow(home);
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** One session: its messages in order, its window and its app. */
function sessionOf(place, number, random) {
  const { name, preset, desk, history, home } = place;
  const folder = random.of(place.projects);
  const session = {
    sent: [],
    native: undefined,
    window: undefined,
    /** The phone has asked to close the window. */
    mayEnd: false,
    phone: phoneOf(place, () => `${place.deviceId}:${name}:${session.native}`),
    /** Returns the word of the next message. `isAnswered`: its turn completes. */
    next(isAnswered = true) {
      const word = `word-${number}-${session.sent.length}-${random.below(1000)}`;
      session.sent.push({ word, isAnswered });
      return word;
    },
    isWritten: (role, word) =>
      until(
        () => history.has(session.native, role, word),
        () => `${role} ${word} is in the history; ${session.window?.shows()}`,
      ),
    open(at = folder) {
      session.mayEnd = false;
      session.window = windowOf(desk, at, (word) => history.has(session.native, 'user', word));
    },
    async begin(where) {
      const word = session.next();
      if (where === 'phone') {
        await session.phone.done((await session.phone.begin(`@@say ${word}`, folder)).taskId);
      } else {
        session.open();
        session.window.run(`${preset.resume[0]} "@@say ${word}"`);
      }
      session.native = await until(
        () => history.idWith(word),
        () => `a session; ${session.window?.shows()}`,
        120_000,
      );
      await session.isWritten('assistant', word);
      await session.phone.isKnown();
    },
    async leave(way) {
      await session.window.leave(way);
      session.window = undefined;
    },
    async isClosedByPhone() {
      const screen = await session.window.isClosed();
      session.window = undefined;
      const isClean = /^code 0/m.test(screen) && screen.includes(`claude --resume ${session.native}`);
      if (name === 'claude_code' && !isClean) throw new Error(`no clean end:\n${screen}`);
    },
    async resume(command) {
      session.open(home);
      session.window.run(command);
      await session.window.isShown(session.sent.at(-1).word);
      await session.phone.isHeld(true);
      await pause(1000);
    },
    /** Compares the histories of the agent and of the app with the messages. Returns the difference, or undefined. */
    async compare() {
      const wrong = history.compare(session.native, session.sent);
      if (wrong) return wrong;
      const shown = await session.phone.shown();
      const wanted = session.sent.map(({ word }) => word);
      // A message that the person withdrew stays in the app, with its mark.
      const kept = shown.filter((word) => wanted.includes(word));
      return kept.join() === wanted.join() ? undefined : `sent ${wanted.join(' ')}, the app has ${shown.join(' ')}`;
    },
  };
  return session;
}

/** The actions of the person, by name. Each checks its own outcome. */
function actionsOf({ name, isServed, history }, session, random) {
  const { phone, sent } = session;
  const way = () => random.of(['keys', 'window']);
  const typed = async (isSlow) => {
    const word = session.next(!isSlow);
    await session.window.type(`${isSlow ? '@@slow' : '@@say'} ${word}`, word);
    if (!isSlow) await session.isWritten('assistant', word);
  };
  const send = async (more) => (await phone.send(`@@say ${session.next()}`, more)).taskId;
  /** Sends without a choice, and answers the question of the daemon. */
  const asked = async (option) => {
    await phone.done(await send(), 'waiting');
    return phone.answer(option);
  };
  const take = async (begin) => {
    session.mayEnd = true;
    await phone.done(await begin());
    await session.isClosedByPhone();
  };
  const release = async (wanted, body) => {
    session.mayEnd = !isServed;
    const { result, detail = '' } = await phone.release(body);
    if (!wanted.includes(result)) throw new Error(`release: ${result} ${detail}, not ${wanted.join(' or ')}`);
    if (result === 'released') await session.isClosedByPhone();
  };
  const resume = async (ask) => {
    const { command } = await until(async () => {
      const state = await ask();
      return (state.free || isServed) && state.command ? state : undefined;
    }, 'the session is free');
    await session.resume(command);
  };

  const open = {
    type: () => typed(false),
    leave: () => session.leave(way()),
    async 'leave while it works'() {
      await typed(true);
      await session.leave('window');
    },
    async release() {
      await phone.isHeld(true);
      await release([isServed ? 'shared' : 'released']);
    },
    async 'asked: drop'() {
      await phone.done(await asked('drop'));
      sent.pop();
    },
    async 'asked: wait'() {
      const taskId = await asked('wait');
      await session.leave(way());
      await phone.done(taskId);
    },
    async wait() {
      const taskId = await send({ desk: 'wait' });
      const waiting = sent.pop();
      await pause(1500);
      if (random.below(2) === 0) await typed(false);
      if (history.has(session.native, 'user', waiting.word)) throw new Error('the message did not wait');
      await session.leave(way());
      sent.push(waiting);
      await phone.done(taskId);
    },
  };
  const closable = {
    take: () => take(() => send({ desk: 'take' })),
    'asked: take': () => take(() => asked('take')),
    async 'take while it works'() {
      await typed(true);
      await take(() => send({ desk: 'take' }));
    },
    async 'release while it works'() {
      await typed(true);
      await phone.isHeld(true);
      // Only the record of Claude Code has a state.
      if (name === 'claude_code') await release(['busy']);
      await release(['released'], { stopTurn: true });
    },
  };
  const closed = {
    phone: async () => phone.done(await send(isServed ? { desk: 'wait' } : {})),
    resume: () => resume(() => phone.letGo()),
    'release of nothing': () => release(isServed ? ['not_held', 'shared'] : ['not_held']),
    // The process of the daemon leaves by itself.
    async 'resume after a minute'() {
      await pause(62_000);
      await resume(() => phone.desk());
    },
  };
  return {
    ...{ ...open, ...closable, ...closed },
    /** The name of a next action. */
    any() {
      if (session.window) return random.of(Object.keys(isServed ? open : { ...open, ...closable }));
      return random.of([
        'phone',
        'phone',
        'resume',
        'resume',
        isServed ? 'resume after a minute' : 'resume',
        'release of nothing',
      ]);
    },
    /** The name of the last action, which sends a message from the phone. */
    last: () => (session.window ? (isServed ? 'wait' : 'take') : 'phone'),
  };
}

/** Runs one order. Returns the number of its messages; rejects if a check fails. */
async function orderOf(place, number, seed, { started, done }) {
  const random = randomOf(seed);
  const session = sessionOf(place, number, random);
  const actions = actionsOf(place, session, random);
  const bystanders = await bystandersOf(place, () => session.native);
  started(session);
  try {
    const first = random.of(['desk', 'desk', 'phone']);
    done(`begins: ${first}`);
    await session.begin(first);
    const length = (place.isServed ? 3 : 5) + random.below(4);
    for (let count = 0; count <= length; count++) {
      const name = count === length ? actions.last() : actions.any();
      done(name);
      bystanders.renew();
      await actions[name]();
    }
    const wrong = (await session.compare()) ?? bystanders.harmed();
    if (wrong) throw new Error(wrong);
  } finally {
    session.window?.close();
    bystanders.stop();
  }
  return session.sent.length;
}

/** Runs `count` random orders, some at a time. Returns a note for people; rejects if one of them is broken. */
export async function randomOrders({ name, relay, mock, count, seed, isServed = false }) {
  const place = await placeOf({ name, relay, mock, isServed });
  const sessions = [];
  const signals = watchSignals((pid) =>
    sessions.some(({ window, mayEnd }) => mayEnd && window?.programs().includes(pid) === true),
  );
  const broken = [];
  let [next, messages, actions] = [0, 0, 0];
  const runOne = async (number) => {
    const names = [];
    const observer = { started: (session) => sessions.push(session), done: (action) => names.push(action) };
    const title = () => `seed ${seed + number}: ${names.join(', ')}`;
    try {
      const sent = await orderOf(place, number, seed + number, observer);
      messages += sent;
      actions += names.length;
      process.stdout.write(`    ${title()}; ${sent} messages\n`);
    } catch (error) {
      broken.push(number);
      process.stdout.write(`    BROKEN ${title()}: ${error.message}\n`);
    }
  };
  const worker = async () => {
    while (next < count) await runOne(next++);
  };
  try {
    const neighbour = await neighbourOf(place);
    // Most of an order with the server is waiting.
    await Promise.all(Array.from({ length: isServed ? 5 : 2 }, worker));
    if (!neighbour.lives()) signals.foreign.push('the same program in another folder has ended');
  } finally {
    signals.restore();
    await place.stop();
  }
  const kept = `${count - broken.length} of ${count} orders from seed ${seed}: ${actions} actions, ${messages} messages, each once in one line; ${signals.sent.length} signals to terminals, to others: ${signals.foreign.join(', ') || 0}`;
  if (broken.length > 0 || signals.foreign.length > 0) throw new Error(kept);
  return kept;
}
