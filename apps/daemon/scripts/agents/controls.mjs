// The controls of a phone with a real agent: its mode, model and effort, an attached file, and a usage limit. The requests to the model, the
// files that commands write and the questions show whether the agent obeys.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, newFileId, sendFile } from '@relay/client';
import { startIssuer, startRelay } from '@relay/testing';
import { openTestDatabase } from '@relay/testing/database';
import { until } from './terminals.mjs';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const pathTo = (id) => `/api/sessions/${encodeURIComponent(id)}/settings`;

/** The settings of a session, without a start of its agent. */
const known = async (w, id) => (await w.relay.call('GET', `${pathTo(id)}?known=1`)).body.settings ?? [];

/** Changes a setting as the page does. Returns all settings. */
async function change(w, id, setting, value) {
  const { status, text, body } = await w.relay.call('PATCH', pathTo(id), { body: { id: setting, value } });
  if (status !== 200) throw new Error(`${setting} was not changed to ${value}: ${text}`);
  return body.settings;
}

/** The settings of a new session, by their category. */
async function offered(w) {
  const id = await w.begin('@@say hello');
  await w.settled((await w.task(id)).id);
  const settings = await known(w, id);
  const of = (category) => settings.find((one) => one.category === category);
  return { id, settings, mode: of('mode'), model: of('model'), effort: of('thought_level') };
}

/** The mode that never asks. */
const freeIn = (mode) => mode.options.find(({ danger }) => danger)?.id;

/** Agents whose changes were compared. */
const compared = ['claude_code', 'codex', 'opencode'];
/** Agents that were given a file. */
const given = [...compared, 'gemini'];
const notRun = 'not run with this agent';

/** Prints the settings that the agent offers. A mode holds after a restart of the daemon, also for the agent. */
export async function offersAndHolds(w, { must }) {
  const id = await w.begin('@@say hello');
  await w.ended(id);
  const path = `/api/sessions/${encodeURIComponent(id)}/settings`;
  const known = async () => (await w.relay.call('GET', `${path}?known=1`)).body.settings ?? [];
  const settings = await known();
  const mode = settings.find(({ kind }) => kind === 'mode');
  must(mode !== undefined, `no mode: ${JSON.stringify(settings).slice(0, 300)}`);
  const danger = mode.options.find((option) => option.danger);
  const other = danger ?? mode.options.find((option) => option.id !== mode.value);
  const { text, status } = await w.relay.call('PATCH', path, { body: { id: mode.id, value: other.id } });
  must(status === 200, text);
  await w.restart();
  must((await known()).find((one) => one.id === mode.id).value === other.id, 'the choice was lost');
  if (!w.preset.quirks?.neverReload) {
    const message = danger ? '@@sh echo made > unasked.txt' : '@@say still here';
    const over = await w.over(id, await w.tell(id, message));
    must(over.status === 'idle', `${over.status}: ${over.lastMessage}`);
    must((await known()).find((one) => one.id === mode.id).value === other.id, 'the mode did not hold');
    if (danger) must(existsSync(join(w.project, 'unasked.txt')), 'the command did not run');
  }
  const marked = (option) => `${option.id}${option.danger ? ' (never asks)' : ''}`;
  const shown = settings.map((one) => `${one.id}: ${one.options.slice(0, 6).map(marked).join(' ')}`);
  process.stdout.write(`    ${shown.join(' · ')}\n`);
}

/** Leaves out titles, and Claude Code's guesses of the person's next message. */
const isOfTheSession = (word) => (request) =>
  request.tools?.length > 0 &&
  request.act !== 'json' &&
  request.users.some((one) => one.includes(word)) &&
  !request.users.at(-1).includes('[SUGGESTION MODE');

/** The requests of one session since the newest message that `send` sent. */
function logOf(mock, word) {
  let from = 0;
  return {
    requests: () => mock.requests.slice(from).filter(isOfTheSession(word)),
    send(act) {
      from = mock.requests.length;
      return act();
    },
  };
}

/** Begins a turn, and returns its task while the model streams. */
async function streaming(w, log, id, message) {
  const taskId = await log.send(() => w.tell(id, message));
  await until(() => log.requests().length > 0, 'the model gets the message');
  await pause(500);
  return taskId;
}

const promised = { now: 'at once', next: 'from the next message' };

/** A changed mode decides whether a command asks: that of the new session, of the turn that runs or the next, and of a message. */
export async function obeysMode(w, { must, mock, asking }) {
  if (!compared.includes(w.name)) return notRun;
  const { mode } = await offered(w);
  const [safe, free] = [mode.value, freeIn(mode)];
  if (w.name === 'opencode') {
    // Its second mode forbids edits, with a text beside the message.
    const shown = ({ users }) => (/plan mode/i.test(users.at(-1)) ? 'plan' : 'build');
    const isMeant = (value, seen) => value === seen;
    return obeys(w, { must, mock }, { setting: mode.id, base: [], values: ['plan', 'build'], shown, isMeant, quiet });
  }
  if (free === undefined || free === safe) return `no second mode to compare: ${mode.options.map(({ id }) => id)}`;
  const word = `crane${Date.now()}`;
  const log = logOf(mock, word);
  const named = (file) => `${word}-${file}.txt`;
  /** A command, as the agent can run it in this mode. */
  const run = (file, inMode) =>
    inMode === free ? `@@sh echo made > ${named(file)}` : asking(w.name, `echo made > ${named(file)}`);
  /** Waits until the turn completes or asks, and answers its question. Returns whether it asked; the command ran only after that. */
  const asked = async (id, taskId, file) => {
    const { state, error } = await w.settled(taskId);
    must(['completed', 'waiting'].includes(state), `${file}: ${state} ${JSON.stringify(error)}`);
    const isThere = () => existsSync(join(w.project, named(file)));
    must(isThere() === (state === 'completed'), `${file}: the turn is ${state}, and the command ran: ${isThere()}`);
    if (state === 'completed') return false;
    await w.settled(await w.answer(id, await w.read(id), 'allow'));
    must(isThere(), `${file}: the allowed command did not run`);
    return true;
  };
  const tell = async (id, file, inMode, more) => asked(id, await w.tell(id, run(file, inMode), more), file);

  const id = await w.begin(run('before', free), { settings: [{ id: mode.id, value: free }] });
  must(!(await asked(id, (await w.task(id)).id, 'before')), `a session that begins in ${free} asked`);
  await change(w, id, mode.id, safe);
  must(await tell(id, 'after', safe), `${safe}, chosen after a turn, did not ask`);
  must(!(await tell(id, 'with', free, { settings: [{ id: mode.id, value: free }] })), `${free} of a message asked`);
  const counted = [];
  for (const [file, before, after] of [
    ['stricter', free, safe],
    ['freer', safe, free],
  ]) {
    const { applies } = mode;
    const inTurn = applies === 'now' ? after : before;
    const taskId = await streaming(w, log, id, `@@lead 40\n${run(file, inTurn)}\n@@say ${word} done`);
    await change(w, id, mode.id, after);
    const hasAsked = await asked(id, taskId, file);
    counted.push(hasAsked === (after === safe) ? 'now' : 'next');
    if (applies)
      must(counted.at(-1) === applies, `${before} to ${after}: ${applies} was promised, it was ${counted.at(-1)}`);
    must((await tell(id, `next-${file}`, after)) === (after === safe), `the message after ${after} did not obey`);
  }
  must(counted[0] === counted[1], `${counted}`);
  return `7 turns obeyed; during a turn: ${promised[counted[0]]}${mode.applies ? ', as promised' : '; nothing was promised'}`;
}

/** Changes a setting before, after, with and during a turn. `shown` reads it in a request of the agent; `isMeant` compares it with a choice. */
async function obeys(w, { must, mock }, { setting, base, values: [one, other], shown, isMeant, quiet }) {
  const word = `heron${Date.now()}`;
  const log = logOf(mock, word);
  const values = () => log.requests().map(shown);
  const mustShow = (value, when) =>
    must(
      values().length > 0 && values().every((seen) => isMeant(value, seen)),
      `${when}: ${value} was chosen, the requests have ${values()}`,
    );
  const completed = async (taskId) => {
    const { state, error } = await w.settled(taskId);
    must(state === 'completed', `${state}: ${JSON.stringify(error)}`);
  };
  const chosen = (value) => [{ id: setting, value }];
  const id = await log.send(() => w.begin(`@@say ${word} before`, { settings: [...base, ...chosen(other)] }));
  await completed((await w.task(id)).id);
  mustShow(other, 'before');
  await change(w, id, setting, one);
  await completed(await log.send(() => w.tell(id, `@@say ${word} after`)));
  mustShow(one, 'after a turn');
  await completed(await log.send(() => w.tell(id, `@@say ${word} with`, { settings: chosen(other) })));
  mustShow(other, 'with a message');
  await change(w, id, setting, one);
  const taskId = await streaming(w, log, id, ['@@lead 40', quiet, `@@slow 40 ${word}`].join('\n'));
  const { applies } = (await change(w, id, setting, other)).find((each) => each.id === setting);
  await completed(taskId);
  const [first, ...rest] = values();
  must(isMeant(one, first), `during a turn: its first request has ${first}`);
  const counted = rest.length === 0 ? undefined : rest.every((seen) => isMeant(other, seen)) ? 'now' : 'next';
  if (counted === 'next')
    must(
      rest.every((seen) => isMeant(one, seen)),
      `during a turn: ${values()}`,
    );
  if (applies && counted)
    must(counted === applies, `during a turn: ${applies} was promised, the requests have ${values()}`);
  await completed(await log.send(() => w.tell(id, `@@say ${word} next`)));
  mustShow(other, 'the message after the change during a turn');
  const during = counted ? promised[counted] : 'no second request in the turn';
  return `5 turns obeyed, ${one} and ${other}; during a turn: ${during}${applies ? ', as promised' : '; nothing was promised'}`;
}

/** A choice that lets commands run, so that the turn of a change has a second request. */
const unasked = (mode) => (freeIn(mode) ? [{ id: mode.id, value: freeIn(mode) }] : []);
const quiet = '@@sh echo quiet';

export async function obeysModel(w, tools) {
  if (!compared.includes(w.name)) return notRun;
  const { mode, model } = await offered(w);
  // The requests name the model in full: "sonnet" becomes "claude-sonnet-5".
  const bare = (value) =>
    value
      .split('/')
      .at(-1)
      .replace(/\[.*\]$/, '');
  const isMeant = (value, seen) => seen.includes(bare(value));
  // OpenCode lists models of vendors too, which are out of reach.
  const isReached = (id) => id !== 'default' && (w.name !== 'opencode' || id.startsWith('mock/'));
  const named = (model?.options ?? []).map(({ id }) => id).filter(isReached);
  // Last the model that it has without a choice: Codex offers a model that it does not know no longer than it has it.
  const [other, ...more] = named.toSorted((left, right) => (left === model.value) - (right === model.value));
  const one = more.find((id) => bare(id) !== bare(other));
  if (one === undefined) return `it offers one model: ${named}`;
  const values = [one, other];
  const shown = ({ model: seen }) => seen;
  return obeys(w, tools, { setting: model.id, base: unasked(mode), values, shown, isMeant, quiet });
}

/** Not every model has an effort: the check chooses the first model with at least two levels. */
export async function obeysEffort(w, tools) {
  if (!compared.includes(w.name)) return notRun;
  const { id, mode, model, effort: first } = await offered(w);
  const levelsOf = (effort) => (effort?.options ?? []).map((option) => option.id).filter((one) => one !== 'default');
  let [effort, chosen] = [first, []];
  for (const option of model?.options ?? []) {
    if (levelsOf(effort).length > 1) break;
    if (w.name === 'opencode' && !option.id.startsWith('mock/')) continue;
    effort = (await change(w, id, model.id, option.id)).find(({ category }) => category === 'thought_level');
    chosen = [{ id: model.id, value: option.id }];
  }
  const levels = levelsOf(effort);
  if (levels.length < 2) return 'it offers no effort';
  // Codex sends "ultra", its highest level, under another name.
  const values = ['low', 'high'].every((level) => levels.includes(level)) ? ['low', 'high'] : levels.slice(0, 2);
  const shown = ({ effort: seen }) => `${seen}`;
  const isMeant = (value, seen) => value === seen;
  const base = [...unasked(mode), ...chosen];
  return obeys(w, tools, { setting: effort.id, base, values, shown, isMeant, quiet });
}

/** A person attaches a text file in a git repository. Its text reaches the model in the same turn, and no question is asked. */
export async function readsFile(w, { must, mock }) {
  if (!given.includes(w.name)) return notRun;
  const folder = join(w.home, 'repository');
  mkdirSync(folder);
  must(spawnSync('git', ['init', '--quiet', folder]).status === 0, 'git did not make a repository');
  const word = `osprey${Date.now()}`;
  const bytes = Buffer.from(`The word of the day is ${word}.\n`);
  const client = createClient({ baseUrl: w.relay.apis[0].url, token: w.relay.token('alice') });
  const file = { id: newFileId(), name: 'Notes of today.txt', size: bytes.length, mime: 'text/plain' };
  const read = async (offset, length) => bytes.subarray(offset, offset + length);
  await sendFile(client, w.deviceId, { ...file, read });
  const from = mock.requests.length;
  // The tests make Codex ask more than it does by default.
  const settings = w.name === 'codex' ? { settings: [{ id: 'mode', value: 'agent' }] } : {};
  const id = await w.begin('@@readfile', { files: [file.id], projectPath: folder, ...settings });
  const { state, error } = await w.settled((await w.task(id)).id);
  must(state === 'completed', `${state}: ${JSON.stringify(error ?? (await w.read(id)).prompt)}`);
  const requests = mock.requests.slice(from).filter(({ tools }) => tools?.length > 0);
  const isRead = (one) => one.text.includes(word);
  const byTool = requests.some(({ results }) => results.some(isRead));
  must(
    byTool || requests.some(({ users }) => users.some((one) => one.includes(word))),
    'the model did not get the text',
  );
  const items = await w.items(id);
  const [sent] = items.filter(({ role }) => role === 'USER');
  must(sent.part.files?.[0]?.name === file.name, `the message shows ${JSON.stringify(sent.part.files)}`);
  must(!items.some(({ part }) => part.kind === 'question'), 'it asked');
  const changes = spawnSync('git', ['-C', folder, 'status', '--porcelain'], { encoding: 'utf8' }).stdout;
  must(changes === '', `git status: ${changes}`);
  const call = items.find(({ part }) => part.kind === 'tool')?.part.title;
  return `1 file read ${byTool ? `by a tool (${call})` : 'by the agent, into its request'}`;
}

/**
 * `isFirst`: the first message of a session, which Claude Code's adapter reports without figures. `hasWorked`: the turn ran a command before.
 * Figures of an earlier refusal count until they reset, so the limit that resets later comes after the other.
 */
const refusals = {
  claude_code: [
    { limit: 'seven_day', seconds: 34 * 86_400, isFirst: true, expected: { name: '' } },
    { limit: 'five_hour', seconds: 7200, isFirst: true, expected: { name: '' } },
    { limit: 'odd', expected: undefined },
    { limit: 'short', expected: undefined },
    { limit: 'five_hour', seconds: 7300, hasWorked: true, expected: { name: '5 hours', isExact: true } },
    { limit: 'seven_day', seconds: 200_000, expected: { name: '7 days', isExact: true } },
  ],
  codex: [
    { limit: 'text', seconds: 7200, expected: { name: '' } },
    { limit: 'odd', expected: undefined },
    { limit: 'text', seconds: 200_000, expected: { name: '' } },
    { limit: 'timeless', expected: { name: '', isTimeless: true } },
    { limit: 'short', expected: undefined },
    { limit: 'five_hour', seconds: 7300, expected: { name: '5 hours', isExact: true } },
  ],
};

/** Throws unless the session has the expected limit. The text of an agent has no seconds. */
function mustHave(limit, { name, isExact = false, isTimeless = false }, at, { must, about }) {
  must(limit !== undefined, `${about}: no limit`);
  must(limit.name === name, `${about}: the limit is named "${limit.name}"`);
  if (isTimeless) return must(limit.resetsAt === undefined, `${about}: it resets at ${limit.resetsAt}`);
  const off = Math.abs(Date.parse(limit.resetsAt) - at * 1000);
  must(
    off <= (isExact ? 0 : 60_000),
    `${about}: it resets at ${limit.resetsAt}, and not at ${new Date(at * 1000).toISOString()}`,
  );
}

/** All refusals of this agent; then a message that continues after the limit, over a restart of relay, daemon and agent. */
export async function reachesLimits(name, { must, mock, world }) {
  if (refusals[name] === undefined) return 'its limits are ordinary errors';
  const database = await openTestDatabase();
  const issuer = await startIssuer('http://localhost:4000/api');
  let relay = await startRelay({ database, issuer });
  let w;
  try {
    w = await world(name, relay, mock, { hasPlan: true });
    const { id: usualId, mode } = await offered(w);
    for (const { limit, seconds = 0, isFirst = false, hasWorked = false, expected } of refusals[name]) {
      const at = Math.ceil(Date.now() / 1000) + seconds;
      const about = `${limit} ${seconds} s`;
      const message = [...(hasWorked ? [quiet] : []), `@@limit ${limit} ${at}`].join('\n');
      const id = isFirst ? await w.begin(message) : usualId;
      const more = hasWorked ? { settings: unasked(mode) } : {};
      const { state, error } = await w.settled(isFirst ? (await w.task(id)).id : await w.tell(id, message, more));
      const session = await w.read(id);
      const items = await w.items(id);
      const turn = items.slice(items.findLastIndex(({ role }) => role === 'USER') + 1);
      const shown = turn.filter(({ part }) => part.kind === 'text' || part.kind === 'error');
      const texts = shown.map(({ part, content }) => `${part.kind}: ${content}`).join(' · ');
      process.stdout.write(`    ${about}: ${error?.code ?? state}, ${JSON.stringify(session.limit)}; ${texts}\n`);
      must(shown.length === (hasWorked ? 2 : 1), `${about}: ${shown.length} texts`);
      must(state === 'failed', `${about}: ${state}`);
      must((error.code === 'USAGE_LIMIT') === (expected !== undefined), `${about}: ${error.code}`);
      if (expected === undefined) must(session.limit === undefined, `${about}: ${JSON.stringify(session.limit)}`);
      else mustHave(session.limit, expected, at, { must, about });
    }
    const id = usualId;
    const word = `plover${Date.now()}`;
    const content = `@@say ${word} goes on`;
    const notBefore = new Date(Date.now() + 45_000);
    const taskId = await w.tell(id, content, { notBefore: notBefore.toISOString(), because: 'limit' });
    await w.move(async () => {
      await relay.stop();
      relay = await startRelay({ database, issuer });
      return relay;
    });
    must((await w.settled(taskId)).state === 'later', 'the message was sent before the restart');
    await until(async () => (await w.settled(taskId)).state !== 'later', 'the message is sent');
    const { state, error } = await w.settled(taskId);
    must(state === 'completed', `${state}: ${JSON.stringify(error)}`);
    await w.restart();
    await pause(5000);
    const runs = mock.requests.filter((request) => isOfTheSession(word)(request));
    must(runs.length === 1, `the message ran ${runs.length} times`);
    must(Date.parse(runs[0].t) >= notBefore.getTime(), `it ran at ${runs[0].t}, before ${notBefore.toISOString()}`);
    must((await w.read(id)).limit === undefined, 'the limit is still shown');
    const times = (await w.items(id)).filter(({ role, content: text }) => role === 'USER' && text === content).length;
    must(times === 1, `the message is shown ${times} times`);
    return `${refusals[name].length} refusals; the message that continues ran once over a restart of relay, daemon and agent`;
  } finally {
    await w?.stop();
    await relay.stop();
    await issuer.close();
    await database.close();
  }
}
