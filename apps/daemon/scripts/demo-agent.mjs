#!/usr/bin/env node
// A small, complete agent that speaks ACP v1 and has no model: for trying the daemon where no real agent is installed, and for
// tests of everything an agent can do. The first word of a message is a command. Other messages are answered by a tour for people
// (demo-tour.mjs), or echoed where $DEMO_AGENT_HOME is given, as in tests:
//   size · tool · plan · think · perm · permquiet (sends no text after the answer) · permcrash · perms (two at once) · write (asks for a write)
//   ask · form · details (a form with optional fields, bounds and defaults) · slow · say N words · title · media
//   files (reads the files that came with it, and puts copies into .relay/out)
//   withdraw (withdraws its question and asks another one) · withdrawone (of two) · takeback (its only question, and continues)
//   meanwhile (continues while its question is open, then completes)
//   spend 0.5 1.42 (reports these costs of the session, a limit of the plan, and 1,500 tokens) · spend 16 hang (never completes)
//   all (two texts, long output, a side note, a changed file, a notice) · look (names the images that came with it) · usage (reports context and slash commands)
//   torrent (100 MB of output, 50,000 tool calls that never complete, titles of 1 MB)
//   fail · badmodel · grumble (to stderr) · crash · refuse · max · silent · cancelled · torn · garbage · odd · deaf (ignores cancel) · flood · fork
//   settings (reports the current settings) · switch (chooses another mode by itself) · /yolo (asks no more) ·
//   leave (asks for the mode after a plan)
//   hang · mute · work · permwork (never complete)
//   steerable (waits for a message into its turn, echoes it, completes) · steeredearly (completes right after such a message, and keeps working) ·
//   steerlate (accepts a message at the last moment and never reads it)
// $DEMO_AGENT_STEER: refuse, idle or mute: how it answers messages into its turn. It offers no steering without `steer` (see
// below). Sessions are kept as JSONL under $DEMO_AGENT_HOME. $DEMO_AGENT_WITHOUT names the missing capabilities: load, resume,
// close, list, images, steer, times (in its list).
// $DEMO_AGENT_SETTINGS names the settings: modes (and models), config, or unasked (modes and options that turn questions off).
// $DEMO_AGENT_MODE is the mode that it kept for sessions it resumes.
// $DEMO_AGENT_CALLS is a file to which it adds the name of every call about sessions, and when a second question is open.
// $DEMO_AGENT_FAULT, or a file of that name in its home, makes it useless: auth, hang-initialize, hang-new, hang-resume, load,
// exit, version, no-id, pending-id.
// $DEMO_AGENT_LOGINS is a JSON list of its methods of `authenticate`: sessions need one first. An id that begins with "bad" is
// refused.
// $DEMO_AGENT_DAMAGE=resume: the agent advertises that call and does not implement it.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import * as acp from '@agentclientprotocol/sdk';
import { tour } from './demo-tour.mjs';

const home = process.env.DEMO_AGENT_HOME || path.join(process.env.HOME ?? '.', '.demo-agent');
const without = (process.env.DEMO_AGENT_WITHOUT ?? '').split(',');
/** Blocks while the daemon lives: a killed daemon cancels no turns, and its agent must not outlive it. */
const forever = () =>
  new Promise(() => {
    const timer = setInterval(() => undefined, 1 << 30);
    process.stdin.once('close', () => clearInterval(timer));
  });
fs.mkdirSync(home, { recursive: true, mode: 0o700 });
const faultFile = path.join(home, 'DEMO_AGENT_FAULT');
const fault = process.env.DEMO_AGENT_FAULT ?? (fs.existsSync(faultFile) ? fs.readFileSync(faultFile, 'utf8') : '');
const logins = process.env.DEMO_AGENT_LOGINS && JSON.parse(process.env.DEMO_AGENT_LOGINS);
let isLoggedIn = !logins;
const called = (name) => process.env.DEMO_AGENT_CALLS && fs.appendFileSync(process.env.DEMO_AGENT_CALLS, `${name}\n`);

const file = (id) => path.join(home, `${path.basename(id)}.jsonl`);
const rows = (id) =>
  fs
    .readFileSync(file(id), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const add = (id, row) => fs.appendFileSync(file(id), `${JSON.stringify({ t: new Date().toISOString(), ...row })}\n`);
const known = (id) => {
  if (!fs.existsSync(file(id))) throw acp.RequestError.resourceNotFound(id);
};

if (fault === 'exit') {
  process.stderr.write('demo-agent: cannot work like this\n');
  process.exit(4);
}

// Settings are lost with this process, as with most agents.
const chosen = { mode: 'ask', model: 'large', effort: 'low' };
const offered = (...ids) => ids.map((id) => ({ id, name: `The ${id} one` }));
const planLimit = {
  '_claude/rateLimit': {
    status: 'allowed',
    rateLimitType: 'five_hour',
    utilization: 0.72,
    resetsAt: Math.floor(Date.now() / 1000) + 3 * 3600,
  },
};
const select = (id, category, ...values) => ({
  type: 'select',
  id,
  name: `Which ${id}`,
  ...(category ? { category } : {}),
  currentValue: chosen[id] ?? values[0],
  options: values.map((value) => ({ value, name: `The ${value} one`, description: `About ${value}` })),
});
const configOptions = () => [select('mode', 'mode', 'ask', 'code'), select('effort', null, 'low', 'high')];
const unasked = () => [
  select('mode', 'mode', 'ask', 'bypassPermissions', 'acceptEdits', 'yolo'),
  select('approval', null, 'on', 'off'),
  select('model', 'model', 'large', 'small'),
  select('effort', 'thought_level', 'low', 'high'),
];
const settings = () => {
  if (process.env.DEMO_AGENT_SETTINGS === 'unasked') return { configOptions: unasked() };
  if (process.env.DEMO_AGENT_SETTINGS === 'config') return { configOptions: configOptions() };
  if (process.env.DEMO_AGENT_SETTINGS !== 'modes') return {};
  return {
    modes: { currentModeId: chosen.mode, availableModes: offered('ask', 'code') },
    models: {
      currentModelId: chosen.model,
      availableModels: offered('large', 'small').map(({ id, name }) => ({ modelId: id, name })),
    },
  };
};

const update = acp.methods.client.session.update;
const chunk = (kind, text, messageId) => ({
  sessionUpdate: kind,
  content: { type: 'text', text },
  ...(messageId ? { messageId } : {}),
});
const permission = (sessionId, id, title, rawInput) => ({
  sessionId,
  toolCall: { toolCallId: id, title, kind: 'execute', rawInput, status: 'pending' },
  options: [
    { optionId: 'y', name: 'Allow', kind: 'allow_once' },
    { optionId: 'n', name: 'Reject', kind: 'reject_once' },
  ],
});
/** Asks for a form. */
const elicited = ({ id: sessionId, client }, message, required, properties) => {
  const requestedSchema = { type: 'object', properties, required };
  const form = { sessionId, mode: 'form', message, requestedSchema };
  return client.request(acp.methods.client.elicitation.create, form);
};
/** Asks, and withdraws the question a moment later. */
async function withdrawn(client, asked) {
  const back = new AbortController();
  const answer = client.request(acp.methods.client.session.requestPermission, asked, {
    cancellationSignal: back.signal,
  });
  await delay(20);
  back.abort();
  await answer.catch(() => undefined);
}
const cancels = new Map();
/** Session → the turn that accepts messages. */
const steerable = new Map();
/** The next message into the turn of a session; undefined when the turn is cancelled. */
const steered = (id, signal) =>
  new Promise((resolve) => {
    steerable.set(id, resolve);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

/** Name of a command → its turn. Returns the stop reason; undefined is `end_turn`. */
const commands = {
  async tool({ send, say }) {
    await send({ sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Terminal', kind: 'execute', status: 'pending' });
    await send({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      status: 'in_progress',
      rawInput: { command: 'ls -la' },
    });
    await send({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: 'total 0' } }],
    });
    await say('listed');
  },
  async plan({ send, say }) {
    const entry = (content, status) => ({ content, status, priority: 'medium' });
    await send({ sessionUpdate: 'plan', entries: [entry('look', 'completed'), entry('leap', 'in_progress')] });
    await say('planned');
  },
  async think({ send, say }) {
    await send(chunk('agent_thought_chunk', 'a secret thought'));
    await say('thought');
  },
  async perm({ id, client, say }) {
    if (chosen.mode === 'bypassPermissions' || chosen.approval === 'off') return say('deleted without asking');
    await say('I would like to delete it. ');
    const asked = permission(id, 'c2', 'Delete everything', { command: 'rm -r build' });
    const { outcome } = await client.request(acp.methods.client.session.requestPermission, asked);
    if (outcome.outcome === 'cancelled') return 'cancelled';
    await say(`permission: ${outcome.optionId}`);
  },
  async '/yolo'({ say }) {
    chosen.mode = 'bypassPermissions';
    await say('asks no more');
  },
  async leave({ id, client, say }) {
    const options = [
      { optionId: 'bypassPermissions', name: 'Yes, and bypass permissions', kind: 'allow_always' },
      { optionId: 'default', name: 'Yes', kind: 'allow_once' },
      { optionId: 'plan', name: 'No, without asking keep planning', kind: 'reject_once' },
    ];
    const asked = { ...permission(id, 'c6', 'Ready to code?', {}), options };
    const { outcome } = await client.request(acp.methods.client.session.requestPermission, asked);
    await say(`chosen: ${outcome.optionId}`);
  },
  async permquiet({ id, client, say }) {
    await say('I would like to delete it.');
    const asked = permission(id, 'c3', 'Delete everything', { command: 'rm -r build' });
    await client.request(acp.methods.client.session.requestPermission, asked);
  },
  async permcrash({ id, client }) {
    void client
      .request(acp.methods.client.session.requestPermission, permission(id, 'c5', 'Run it', {}))
      .catch(() => undefined);
    await delay(100);
    process.exit(3);
  },
  async write({ id, client, say }) {
    const toolCall = {
      toolCallId: 'c4',
      title: 'write',
      kind: 'edit',
      status: 'pending',
      locations: [{ path: path.join(rows(id)[0].cwd, 'src/a.ts') }],
      content: [{ type: 'diff', path: path.join(rows(id)[0].cwd, 'src/a.ts'), oldText: null, newText: 'one\ntwo\n' }],
    };
    const asked = { ...permission(id, 'c4', 'write', {}), toolCall };
    const { outcome } = await client.request(acp.methods.client.session.requestPermission, asked);
    await say(`permission: ${outcome.optionId}`);
  },
  async takeback({ id, client, send, say }) {
    await say('May I?');
    await withdrawn(client, permission(id, 'one', 'Run one', {}));
    called('taken back');
    // Waits for a file that the test writes.
    while (!fs.existsSync(path.join(home, 'go on'))) await delay(10);
    await send({ sessionUpdate: 'tool_call', toolCallId: 'k', title: 'going on', kind: 'other', status: 'completed' });
    await say('done without it');
  },
  async meanwhile({ id, client, say }) {
    const back = new AbortController();
    const asked = permission(id, 'one', 'Run one', {});
    client
      .request(acp.methods.client.session.requestPermission, asked, { cancellationSignal: back.signal })
      .catch(() => undefined);
    while (!fs.existsSync(path.join(home, 'go on'))) await delay(10);
    await say('done meanwhile');
    setTimeout(() => back.abort(), 50);
  },
  async perms({ id, client, say }) {
    const ask = (name) =>
      client.request(acp.methods.client.session.requestPermission, permission(id, name, `Run ${name}`, {}));
    const answers = await Promise.all([ask('one'), ask('two')]);
    await say(`permissions: ${answers.map(({ outcome }) => outcome.optionId ?? outcome.outcome).join(' ')}`);
  },
  async withdraw({ id, client, say }) {
    await withdrawn(client, permission(id, 'one', 'Run one', {}));
    const two = client.request(acp.methods.client.session.requestPermission, permission(id, 'two', 'Run two', {}));
    called('second question');
    const { outcome } = await two;
    if (outcome.outcome === 'cancelled') return 'cancelled';
    await say(`permission: ${outcome.optionId}`);
  },
  async withdrawone({ id, client, say }) {
    const one = withdrawn(client, permission(id, 'one', 'Run one', {}));
    const two = client.request(acp.methods.client.session.requestPermission, permission(id, 'two', 'Run two', {}));
    await one;
    called('second question');
    const { outcome } = await two;
    if (outcome.outcome === 'cancelled') return 'cancelled';
    await say(`permission: ${outcome.optionId}`);
  },
  async ask(turn) {
    const answer = await elicited(turn, 'Which color?', ['color'], {
      color: { type: 'string', enum: ['Red', 'Blue'] },
    });
    if (answer.action === 'cancel') return 'cancelled';
    await turn.say(`elicited: ${JSON.stringify(answer)}`);
  },
  async form(turn) {
    const answer = await elicited(turn, 'Two things', ['size', 'gift'], {
      size: {
        type: 'string',
        title: 'Size',
        oneOf: [
          { const: 's', title: 'Small' },
          { const: 'l', title: 'Large' },
        ],
      },
      gift: { type: 'boolean', title: 'Gift wrap' },
      note: { type: 'string', title: 'Anything else' },
    });
    await turn.say(`elicited: ${JSON.stringify(answer)}`);
  },
  async details(turn) {
    const answer = await elicited(turn, 'Where does it listen?', ['color', 'port'], {
      color: {
        type: 'string',
        title: 'Color',
        oneOf: [
          { const: 'r', title: 'Red', description: 'warm' },
          { const: 'b', title: 'Blue' },
        ],
      },
      note: { type: 'string', title: 'Note', description: 'What else matters' },
      port: { type: 'integer', title: 'Port', minimum: 1024, maximum: 65535, default: 8080 },
      mail: { type: 'string', title: 'Mail', format: 'email' },
    });
    await turn.say(`elicited: ${JSON.stringify(answer)}`);
  },
  async media({ send, say }) {
    const block = (content) => send({ sessionUpdate: 'agent_message_chunk', content });
    await say('Look:');
    await block({ type: 'image', mimeType: 'image/png', data: Buffer.alloc(3000).toString('base64') });
    await block({ type: 'audio', mimeType: 'audio/wav', data: Buffer.alloc(30).toString('base64') });
    await block({ type: 'resource_link', name: 'plan.md', uri: 'file:///tmp/plan.md' });
    await say('That is all.');
  },
  async files({ id, links, say }) {
    const out = path.join(rows(id)[0].cwd, '.relay', 'out');
    fs.mkdirSync(out, { recursive: true });
    for (const { uri, name } of links) {
      const bytes = fs.readFileSync(new URL(uri));
      fs.writeFileSync(path.join(out, `copy of ${name}`), bytes);
      await say(`${name} has ${bytes.length} bytes. `);
    }
  },
  async grumble({ say }) {
    for (let n = 0; n < 100; n++) process.stderr.write(`demo-agent: old complaint ${n}\n`);
    await say('grumbled');
  },
  async slow({ send, signal }) {
    for (let n = 0; !signal.aborted && n < 400; n++) {
      await send(chunk('agent_message_chunk', `w${n} `));
      await delay(25, undefined, { signal }).catch(() => undefined);
    }
  },
  async title({ send, say }) {
    await send({ sessionUpdate: 'session_info_update', title: 'A title of its own' });
    await say('titled');
  },
  async two({ send }) {
    await send(chunk('agent_message_chunk', 'first ', 'm1'));
    await send(chunk('agent_message_chunk', 'message', 'm1'));
    await send(chunk('agent_message_chunk', 'second', 'm2'));
  },
  fail: () => {
    throw new acp.RequestError(-32603, 'demo failure', { reason: 'asked for' });
  },
  badmodel: () => {
    const said = { type: 'error', error: { type: 'not_found_error', message: 'model: mock-9 is not there' } };
    throw new acp.RequestError(-32603, `API Error: 404 ${JSON.stringify(said)}`);
  },
  crash: () => {
    process.stderr.write('demo-agent: crashing on request\n');
    process.exit(3);
  },
  async refuse({ say }) {
    await say('not that');
    return 'refusal';
  },
  async max({ say }) {
    await say('as far as it goes');
    return 'max_tokens';
  },
  async look({ say, images }) {
    const seen = images.map(({ mimeType, data }) => `${mimeType} of ${Buffer.from(data, 'base64').length} bytes`);
    await say(`seen: ${seen.join(', ') || 'nothing'}`);
  },
  async usage({ send, say }) {
    await send({ sessionUpdate: 'usage_update', used: 1200, size: 200000 });
    await send({
      sessionUpdate: 'available_commands_update',
      availableCommands: [
        { name: 'compact', description: 'Summarise', input: { hint: 'what to keep' } },
        { name: 'review', description: 'Look at the changes' },
      ],
    });
    await say('told');
  },
  async spend({ send, say, rest, signal }) {
    const totals = rest.split(' ');
    for (const total of totals.filter((word) => word !== 'hang')) {
      const cost = { amount: Number(total), currency: 'USD' };
      await send({ sessionUpdate: 'usage_update', used: 68_400, size: 200_000, cost, _meta: planLimit });
    }
    if (totals.includes('hang') && !signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await say(`spent ${totals.at(-1)}`);
    return { usage: { totalTokens: 1500, inputTokens: 1200, outputTokens: 300 } };
  },
  // Everything beyond plain text: two texts, long output, output as a side note, a changed file, a notice.
  async all({ id, send }) {
    const { cwd } = rows(id)[0];
    const call = (toolCallId, more) => send({ sessionUpdate: 'tool_call', toolCallId, title: toolCallId, ...more });
    const lines = Array.from({ length: 3000 }, (_, n) => `line ${n}`).join('\n');
    await send(chunk('agent_message_chunk', '\n\nLooking ', 'm1'));
    await send(chunk('agent_message_chunk', 'at the parser', 'm1'));
    await call('long', { kind: 'execute', status: 'in_progress', rawInput: { command: 'npm test' } });
    await send({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'long',
      status: 'completed',
      content: [{ type: 'content', content: { type: 'text', text: `${lines}\n\n` } }],
    });
    await call('aside', {
      kind: 'execute',
      status: 'in_progress',
      _meta: { terminal_output_delta: { data: 'total 0' } },
    });
    await send({ sessionUpdate: 'tool_call_update', toolCallId: 'aside', status: 'completed' });
    await call('edit', {
      kind: 'edit',
      status: 'completed',
      content: [{ type: 'diff', path: path.join(cwd, 'src/a.ts'), oldText: 'one', newText: 'two' }],
    });
    await send(chunk('agent_thought_chunk', 'a secret thought'));
    await send({ sessionUpdate: 'notice', severity: 'warning', title: 'Careful', description: 'it is late' });
    await send(chunk('agent_message_chunk', 'First.', 'm2'));
    await send(chunk('agent_message_chunk', 'Second.', 'm3'));
  },
  async settings({ say }) {
    await say(Object.values(chosen).join(' '));
  },
  async switch({ send, say }) {
    chosen.mode = 'code';
    await send({ sessionUpdate: 'current_mode_update', currentModeId: 'code' });
    await say('switched');
  },
  silent: () => undefined,
  cancelled: () => 'cancelled',
  torn: () => {
    fs.writeSync(1, '{"jsonrpc":"2.0","method":"session/upd');
    process.exit(5);
  },
  async garbage({ say }) {
    process.stdout.write('Warning: something is deprecated\n[1,2,3]\n{"half": \n\u0000\n{"jsonrpc":"2.0"}\n');
    await say('after the garbage');
  },
  async odd({ send, client, say }) {
    await send({ sessionUpdate: 'brand_new_kind', foo: 1 });
    await send({ sessionUpdate: 'agent_message_chunk' });
    await client.notify('_demo/ext', { a: 1 });
    await say('after odd');
  },
  async deaf({ send }) {
    for (;;) {
      await send(chunk('agent_message_chunk', 'la '));
      await delay(25);
    }
  },
  async size({ say, text }) {
    await say(`${text.length} characters`);
  },
  mute: forever,
  async steerable({ id, send, say, signal }) {
    await send({
      sessionUpdate: 'tool_call',
      toolCallId: 's1',
      title: 'npm test',
      kind: 'execute',
      status: 'in_progress',
    });
    await say('Running 50 times.');
    const words = await steered(id, signal);
    await say(`Changed to: ${words}`);
    await send({ sessionUpdate: 'tool_call_update', toolCallId: 's1', status: 'completed' });
  },
  async steeredearly({ id, send, say, signal, rest }) {
    await say('Working.');
    const words = await steered(id, signal);
    const worksOn = async () => {
      for (let step = 1; step <= Number(rest || 3); step++) {
        await delay(20);
        if (signal.aborted) return;
        await send({
          sessionUpdate: 'tool_call',
          toolCallId: `e${step}`,
          title: `step ${step}`,
          kind: 'execute',
          status: 'completed',
        });
      }
      await say(`At last: ${words}`);
    };
    void worksOn();
    await delay(3);
  },
  async steerlate({ id, say, signal }) {
    await say('Nearly done.');
    await steered(id, signal);
  },
  async work({ send }) {
    await send({
      sessionUpdate: 'tool_call',
      toolCallId: 'w',
      title: 'long work',
      kind: 'execute',
      status: 'in_progress',
    });
    await forever();
  },
  async permwork(turn) {
    await commands.perm(turn);
    await forever();
  },
  async hang({ send }) {
    await send(chunk('agent_message_chunk', 'hanging'));
    await forever();
  },
  async flood({ send, say }) {
    for (let n = 0; n < 3000; n++)
      await send(chunk('agent_message_chunk', `${String(n).padStart(6, '0')}${'x'.repeat(1018)}\n`));
    await send({ sessionUpdate: 'tool_call', toolCallId: 'f', title: 'end', kind: 'other', status: 'completed' });
    await say('flooded');
  },
  async torrent({ send, say }) {
    const call = (toolCallId, more) => send({ sessionUpdate: 'tool_call', toolCallId, kind: 'execute', ...more });
    await call('loud', { title: 'loud', status: 'in_progress' });
    const piece = 'x'.repeat(64 * 1024);
    for (let n = 0; n < 1600; n++)
      await send({ sessionUpdate: 'tool_call_update', toolCallId: 'loud', _meta: { terminal_output_delta: piece } });
    await send({ sessionUpdate: 'tool_call_update', toolCallId: 'loud', status: 'completed' });
    for (let n = 0; n < 50_000; n++)
      await call(`t${n}`, { title: `call ${n}`, status: 'in_progress', rawInput: { n } });
    const title = 'y'.repeat(1024 * 1024);
    for (let n = 0; n < 50; n++) await call(`w${n}`, { title, status: 'in_progress', rawInput: { command: title } });
    await say('over');
  },
  async fork({ say, rest }) {
    // The child holds the agent's pipes and outlives it unless the whole group is killed.
    spawn(process.execPath, ['-e', rest], { stdio: 'inherit' });
    await say('forked');
  },
};

acp
  .agent({ name: 'demo-agent' })
  .onRequest(acp.methods.agent.initialize, async ({ params }) => {
    called('initialize');
    if (fault === 'hang-initialize') await forever();
    return {
      protocolVersion: fault === 'version' ? 7 : Math.min(params.protocolVersion, acp.PROTOCOL_VERSION),
      agentInfo: { name: 'demo-agent', version: '1.0.0' },
      agentCapabilities: {
        loadSession: !without.includes('load'),
        promptCapabilities: without.includes('images') ? {} : { image: true },
        sessionCapabilities: Object.fromEntries(
          ['list', 'resume', 'close'].filter((name) => !without.includes(name)).map((name) => [name, {}]),
        ),
      },
      authMethods: logins ?? [],
      ...(without.includes('steer') ? {} : { _meta: { steering: { supported: true } } }),
    };
  })
  .onRequest(acp.methods.agent.authenticate, ({ params }) => {
    called(`authenticate ${params.methodId}`);
    if (params.methodId.startsWith('bad')) throw acp.RequestError.authRequired(undefined, 'no such login');
    isLoggedIn = true;
    return {};
  })
  .onRequest(acp.methods.agent.session.new, async ({ params }) => {
    called('new');
    if (fault === 'hang-new') await forever();
    if (fault === 'auth' || !isLoggedIn) throw acp.RequestError.authRequired();
    if (fault === 'no-id') return { sessionId: '' };
    const id = `${fault === 'pending-id' ? 'PENDING-' : ''}${randomUUID()}`;
    add(id, { cwd: params.cwd, pwd: process.env.PWD });
    return { sessionId: id, ...settings() };
  })
  .onRequest(acp.methods.agent.session.load, async ({ params, client }) => {
    called('load');
    if (fault === 'hang-resume') await forever();
    if (fault === 'load') throw acp.RequestError.internalError(undefined, 'the disk is slow');
    known(params.sessionId);
    for (const { role, text, id } of rows(params.sessionId)) {
      if (!role) continue;
      const kind = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
      const told =
        role === 'tool' ? { sessionUpdate: 'tool_call', toolCallId: text, title: text } : chunk(kind, text, id);
      await client.notify(update, { sessionId: params.sessionId, update: told });
    }
    return {};
  })
  .onRequest(acp.methods.agent.session.resume, async ({ params }) => {
    called('resume');
    if (fault === 'hang-resume') await forever();
    if (process.env.DEMO_AGENT_DAMAGE === 'resume') throw acp.RequestError.methodNotFound('session/resume');
    known(params.sessionId);
    chosen.mode = process.env.DEMO_AGENT_MODE ?? chosen.mode;
    return settings();
  })
  .onRequest(acp.methods.agent.session.close, ({ params }) => {
    cancels.get(params.sessionId)?.abort();
    return {};
  })
  .onRequest(acp.methods.agent.session.list, ({ params }) => {
    called('list');
    const ids = fs
      .readdirSync(home)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => name.slice(0, -6))
      .sort();
    // Two on a page.
    const from = params.cursor ? ids.findIndex((id) => id > params.cursor) : 0;
    const page = from < 0 ? [] : ids.slice(from, from + 2);
    const sessions = page.map((id) => {
      const all = rows(id);
      const title = all.find(({ role }) => role === 'user')?.text.slice(0, 60) ?? null;
      return {
        sessionId: id,
        cwd: all[0].cwd,
        title,
        ...(without.includes('times') ? {} : { updatedAt: all.at(-1).t }),
      };
    });
    return { sessions, ...(page.at(-1) === ids.at(-1) ? {} : { nextCursor: page.at(-1) }) };
  })
  .onRequest(acp.methods.agent.session.setMode, ({ params }) => {
    called(`mode ${params.modeId}`);
    chosen.mode = params.modeId;
    return {};
  })
  .onRequest(
    'session/set_model',
    (params) => params,
    ({ params }) => {
      chosen.model = params.modelId;
      return {};
    },
  )
  .onRequest(acp.methods.agent.session.setConfigOption, ({ params }) => {
    chosen[params.configId] = params.value;
    return { configOptions: settings().configOptions ?? configOptions() };
  })
  .onRequest(
    '_session/steering',
    (params) => params,
    async ({ params: { sessionId, prompt } }) => {
      const text = prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
      called(`steer ${text}`);
      if (process.env.DEMO_AGENT_STEER === 'refuse')
        throw acp.RequestError.invalidRequest('this turn takes no message');
      if (process.env.DEMO_AGENT_STEER === 'mute') await forever();
      const take = steerable.get(sessionId);
      if (!take || process.env.DEMO_AGENT_STEER === 'idle')
        return { outcome: 'promptRequired', reason: 'noRunningTurn' };
      steerable.delete(sessionId);
      add(sessionId, { role: 'user', text });
      setImmediate(() => take(text));
      return { outcome: 'injected' };
    },
  )
  .onNotification(acp.methods.agent.session.cancel, ({ params }) => cancels.get(params.sessionId)?.abort())
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
    const id = params.sessionId;
    known(id);
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const [word = '', ...rest] = text.split(' ');
    called(`prompt ${word}`);
    const stop = new AbortController();
    cancels.set(id, stop);
    const send = (change) => client.notify(update, { sessionId: id, update: change });
    add(id, { role: 'user', text });
    const say = async (words) => {
      await send(chunk('agent_message_chunk', words));
      add(id, { role: 'agent', text: words });
    };
    try {
      const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
      const images = params.prompt.filter(({ type }) => type === 'image');
      const links = params.prompt.filter(({ type }) => type === 'resource_link');
      const turn = { id, client, send, say, images, links, signal: stop.signal, text, rest: rest.join(' ') };
      if (!command && !process.env.DEMO_AGENT_HOME) {
        const [{ cwd }, ...said] = rows(id);
        const isFirst = said.filter(({ role }) => role === 'user').length === 1;
        const reason = await tour({ ...turn, cwd, isFirst });
        return { stopReason: stop.signal.aborted ? 'cancelled' : (reason ?? 'end_turn') };
      }
      if (!command) {
        for (const piece of `echo ${rows(id).filter(({ role }) => role === 'user').length}: ${text}`.split(/(?<= )/))
          await say(piece);
      }
      const reason = await command?.(turn);
      // A command with more to answer than a reason returns an object.
      const { stopReason = 'end_turn', ...more } = typeof reason === 'object' ? reason : { stopReason: reason };
      return { stopReason: stop.signal.aborted ? 'cancelled' : stopReason, ...more };
    } finally {
      cancels.delete(id);
    }
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
