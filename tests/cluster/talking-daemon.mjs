/**
 * A daemon in its own process, which tests kill: its agent sends random ACP updates, asks questions in between and
 * completes turns in every way. The random choices are not repeatable, because the timings are not either.
 */
import { randomUUID } from 'node:crypto';
import { createDaemon } from '@relay/daemon-kit';

const below = (n) => Math.floor(Math.random() * n);
const pick = (all) => all[below(all.length)];
const words = () => `${pick(['looking', 'reading', 'writing', 'naïve', '…', 'done'])} ${'x'.repeat(below(200))}\n`;
const text = (value) => ({ type: 'text', text: value });

/** Creates the updates of one turn. */
function createUpdates() {
  const calls = [];
  let message = 0;
  return [
    () => ({ sessionUpdate: 'agent_message_chunk', messageId: `m${message}`, content: text(words()) }),
    () => ({ sessionUpdate: 'agent_message_chunk', messageId: `m${(message += 1)}`, content: text(words()) }),
    () => ({ sessionUpdate: 'agent_thought_chunk', messageId: `t${message}`, content: text(words()) }),
    () => {
      const toolCallId = randomUUID();
      calls.push(toolCallId);
      return { sessionUpdate: 'tool_call', toolCallId, title: words().trim(), kind: 'execute', status: 'in_progress' };
    },
    () => {
      const toolCallId = pick(calls) ?? 'none';
      const content = [{ type: 'content', content: text(words().repeat(1 + below(40))) }];
      return { sessionUpdate: 'tool_call_update', toolCallId, content };
    },
    () => {
      const toolCallId = pick(calls) ?? 'none';
      const diff = { type: 'diff', path: '/garden/bed.md', oldText: words(), newText: words() };
      return { sessionUpdate: 'tool_call_update', toolCallId, status: pick(['completed', 'failed']), content: [diff] };
    },
    () => ({ sessionUpdate: 'plan', entries: [{ content: words(), status: pick(['pending', 'completed']) }] }),
    () => ({ sessionUpdate: 'usage_update', used: below(1000), size: 1000 }),
    () => ({ sessionUpdate: 'current_mode_update', currentModeId: pick(['ask', 'code']) }),
  ];
}

function start(_turn, report) {
  const updates = createUpdates();
  const asked = [];
  let left = 5 + below(60);
  let isCancelled = false;
  const ask = () => ({ uuid: randomUUID(), prompt: words(), options: ['Yes', 'No'] });
  const step = (resolve) => {
    if (isCancelled) return resolve();
    left -= 1;
    if (left > 0) {
      const chance = below(30);
      if (chance === 0) {
        const question = ask();
        asked.push(question.uuid);
        report.further(question);
      } else if (chance === 1 && asked.length > 0) report.closed(asked.pop());
      else report.update(pick(updates)());
      return setTimeout(() => step(resolve), below(40));
    }
    const end = below(8);
    if (end === 0) report.error(words());
    else if (end === 1) report.wait(ask());
    else report.complete(words());
    return resolve();
  };
  const ended = new Promise(step);
  const cancel = () => {
    isCancelled = true;
    return ended;
  };
  return { ended, cancel };
}

const agent = { tellsUpdates: true, start };
const daemon = createDaemon({ ...JSON.parse(process.env.DAEMON ?? '{}'), agent, daemonVersion: '1.0.0' });
process.once('SIGTERM', () => void daemon.stop());
daemon.start();
await daemon.connected();
process.stdout.write('connected\n');
