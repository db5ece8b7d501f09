// A demonstration for people without an agent: it introduces itself and shows a question, a diff, long work or a
// failure. It touches no files. `turn` is the turn of demo-agent.mjs.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as acp from '@agentclientprotocol/sdk';

const hello = `Hi, I’m the demo agent. I have no model, and nothing I do touches your files. I show you what working with an agent looks like.`;
const again = 'Write anything to see more.';

const { requestPermission } = acp.methods.client.session;

const call = (toolCallId, more) => ({ sessionUpdate: 'tool_call', toolCallId, status: 'in_progress', ...more });
const done = (toolCallId, text, status = 'completed') => ({
  sessionUpdate: 'tool_call_update',
  toolCallId,
  status,
  ...(text === undefined ? {} : { content: [{ type: 'content', content: { type: 'text', text } }] }),
});
const run = (toolCallId, command) => call(toolCallId, { title: command, kind: 'execute', rawInput: { command } });

async function permission({ id, client, send, say }) {
  await say('An agent asks before it does anything you haven’t allowed. I’d like to run the tests. ');
  const { outcome } = await client.request(requestPermission, {
    sessionId: id,
    toolCall: {
      toolCallId: 'tests',
      title: 'Run the tests?',
      kind: 'execute',
      rawInput: { command: 'npm test' },
      status: 'pending',
    },
    options: [
      { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' },
    ],
  });
  if (outcome.outcome === 'cancelled') return 'cancelled';
  if (outcome.optionId !== 'once')
    return void (await say(`Fine, I’ll leave it. A real agent would now look for another way. ${again}`));
  await send(run('tests', 'npm test'));
  await delay(600);
  await send(done('tests', '\u001b[32m✓\u001b[0m 42 tests passed\n'));
  await say(`You allowed it, so I went on. No test really ran. ${again}`);
}

async function diff({ send, say, cwd }) {
  const file = path.join(cwd, 'src/greeting.ts');
  const before = `export function greeting(name: string): string {\n  return 'Hello ' + name;\n}\n\nexport const bye = 'Bye';\n`;
  const after = `export function greeting(name: string): string {\n  if (name === '') return 'Hello!';\n  return \`Hello \${name}!\`;\n}\n\nexport const bye = 'Goodbye';\n`;
  await send(
    call('read', { title: 'src/greeting.ts', kind: 'read', locations: [{ path: file }], status: 'completed' }),
  );
  await send(
    call('edit', {
      title: 'src/greeting.ts',
      kind: 'edit',
      status: 'completed',
      locations: [{ path: file }],
      content: [{ type: 'diff', path: file, oldText: before, newText: after }],
    }),
  );
  await say(
    `This is how a change looks: removed lines are red, added lines are green, and the words that differ are marked. There is no such file, so nothing was changed. ${again}`,
  );
}

const steps = ['Look at the code', 'Write the change', 'Run the tests', 'Tidy up'];

async function long({ send, say, signal }) {
  await say('I’ll work for a quarter of a minute. You can leave, write more, or stop me. ');
  const plan = (now) =>
    send({
      sessionUpdate: 'plan',
      entries: steps.map((content, n) => ({
        content,
        priority: 'medium',
        status: n < now ? 'completed' : n === now ? 'in_progress' : 'pending',
      })),
    });
  for (let n = 0; n < steps.length && !signal.aborted; n++) {
    await plan(n);
    await send(run(`step-${n}`, `make step-${n + 1}`));
    await delay(3500, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await send(done(`step-${n}`, `step ${n + 1} of ${steps.length} done\n`));
  }
  if (signal.aborted) return;
  await plan(steps.length);
  await say(
    `## Done\n\n| Step | Result |\n| --- | --- |\n${steps.map((step) => `| ${step} | ✓ |`).join('\n')}\n\n${again}`,
  );
}

async function failure({ send }) {
  await send(run('build', 'npm run build'));
  await delay(600);
  await send(done('build', '\u001b[31merror\u001b[0m The disk of this demonstration is full.\n', 'failed'));
  throw new acp.RequestError(-32603, 'The build failed, because you asked for a failure. Write anything to go on.');
}

const shows = [
  { name: 'Ask for permission', what: 'A command that needs your yes', show: permission },
  { name: 'Show a diff', what: 'A change of a file', show: diff },
  { name: 'Long task', what: 'A plan, and work you can follow or stop', show: long },
  { name: 'Fail', what: 'An error, and how you go on', show: failure },
];

const form = {
  type: 'object',
  properties: {
    show: {
      type: 'string',
      title: 'What should I show you?',
      oneOf: shows.map(({ name, what }) => ({ const: name, title: name, description: what })),
    },
  },
  required: ['show'],
};

/** A turn about anything. */
export async function tour(turn) {
  const named = (text) => shows.find(({ name }) => name.toLowerCase() === text.trim().toLowerCase());
  let chosen = named(turn.text);
  if (!chosen) {
    await turn.say(turn.isFirst ? `${hello}\n\n` : 'Here is what I can show you. ');
    const answer = await turn.client.request(acp.methods.client.elicitation.create, {
      sessionId: turn.id,
      mode: 'form',
      message: 'What should I show you?',
      requestedSchema: form,
    });
    if (answer.action === 'cancel') return 'cancelled';
    chosen = named(String(answer.content?.show ?? ''));
    if (!chosen) return void (await turn.say(`Another time, then. ${again}`));
  }
  return chosen.show(turn);
}
