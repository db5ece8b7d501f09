// A daemon with a turn of ten minutes and 20,000 operations, in a process of its own, to measure its memory during the
// turn. Its clock can run faster, so that operations are joined as in real time.
import { mkdtempSync, rmSync, statSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createDaemon } from '@relay/daemon-kit';

const [server, deviceId, refreshToken, ...numbers] = process.argv.slice(2);
const [operations, minutes, faster] = numbers.map(Number);
const samples = 20;

const start = performance.now();
const elapsed = () => (performance.now() - start) * faster;
const clock = {
  now: () => Math.round(Date.now() + elapsed()),
  elapsed,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs / faster);
    return () => clearTimeout(timer);
  },
};

/** Texts, thoughts, tool calls with output, and the plan, mixed as agents do. */
function* updates() {
  const text = (kind, words) => ({ sessionUpdate: kind, content: { type: 'text', text: words } });
  for (let n = 0; ; n++) {
    const id = `call-${n}`;
    const call = { sessionUpdate: 'tool_call_update', toolCallId: id };
    for (let word = 0; word < 6; word++) yield text('agent_thought_chunk', `Step ${n}, thought ${word}. `);
    for (let word = 0; word < 8; word++) yield text('agent_message_chunk', `Step ${n} of the work, part ${word}. `);
    yield { ...call, sessionUpdate: 'tool_call', title: `npm test ${n}`, kind: 'execute', status: 'in_progress' };
    for (let line = 0; line < 4; line++)
      yield { ...call, _meta: { terminal_output_delta: { data: `${n}: ${'output '.repeat(60)}\n` } } };
    yield { ...call, status: 'completed' };
  }
}

let play;
const report = new Promise((resolve) => (play = resolve));
const agent = {
  tellsUpdates: true,
  start(_turn, told) {
    let end;
    const ended = new Promise((resolve) => (end = resolve));
    play({ ...told, end });
    return { ended, cancel: async () => end() };
  },
};

const storeDir = mkdtempSync(join(tmpdir(), 'relay-bench-turn-'));
const daemon = createDaemon({
  server,
  deviceId,
  refreshToken,
  agentType: 'bench',
  daemonVersion: '1.0.0',
  agent,
  storeDir,
  clock,
});
daemon.start();
await daemon.connected();
process.send({ connected: true });
const told = await report;
const weigh = () => {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, rss } = process.memoryUsage();
  process.send({ memory: { heapMB: heapUsed / 1e6, residentMB: rss / 1e6 } });
};
const cpu = process.cpuUsage();
const all = updates();
const perTick = 20;
const pauseMs = (minutes * 60_000) / faster / (operations / perTick);
for (let done = 0; done < operations; done += perTick) {
  if (done % (operations / samples) === 0) weigh();
  const due = performance.now() + pauseMs;
  for (let n = 0; n < perTick; n++) told.update(all.next().value);
  await wait(Math.max(0, due - performance.now()));
}
weigh();
const { user, system } = process.cpuUsage(cpu);
told.complete('Done.');
told.end();
const folder = join(storeDir, 'sessions');
const fileMB = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 1e6;
await daemon.stop();
rmSync(storeDir, { recursive: true, force: true });
process.send({ cost: { cpuUs: (user + system) / operations, fileMB } });
