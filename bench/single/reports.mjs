// report_sessions of a device with many sessions: daemons send it every 30 seconds, and mostly nothing has changed.
import { connectApp, connectDaemon, httpClient, registerDevice, startTask, tokensOf } from '../clients.mjs';
import { Table } from '../measure.mjs';
import { startRelay } from '../process.mjs';

const entries = 1000;
const repeats = { unchanged: 20, one: 10, all: 3 };

export async function reports({ rounds, progress, folder }) {
  const table = new Table(`report_sessions with ${entries} entries`);
  const dataDir = folder();
  const relay = await startRelay(dataDir, { observed: true });
  const token = tokensOf(dataDir)('someone');
  const client = httpClient(relay.url, token);
  const daemon = await connectDaemon(relay, await registerDevice(client, relay.url));
  const app = await connectApp(relay, token);

  let generation = 0;
  const sessions = Array.from({ length: entries }, (_, i) => ({
    session_id: `native-${i}`,
    title: `Session ${i}`,
    project: '/home/someone/project',
    last_message: 'what an agent says about what it did. '.repeat(4),
    message_count: i + 1,
    is_active: false,
    last_activity: '2026-01-01T00:00:00.000Z',
  }));
  const change = (count) => {
    generation += 1;
    for (let i = 0; i < count; i += 1) {
      const at = (generation + i) % entries;
      sessions[at] = { ...sessions[at], last_message: `generation ${generation}`, message_count: entries + generation };
    }
    return JSON.stringify({ type: 'report_sessions', sessions });
  };
  // The relay handles frames in order, and output of a running task touches no database: when it arrives, the report is
  // done, and the output itself costs next to nothing.
  const { task_id } = await startTask(client, daemon, app);
  const send = async (text) => {
    const heard = app.next((frame) => frame.type === 'task_output');
    daemon.send(text);
    daemon.send({ type: 'event', event_type: 'OUTPUT', task_id, output: 'after it' });
    await heard;
  };

  const measure = async (count, texts) => {
    const made = Array.from({ length: count }, texts);
    await relay.take();
    const startedAt = performance.now();
    for (const text of made) await send(text);
    const tookMs = performance.now() - startedAt;
    const { cpuMs, mainCpuMs } = await relay.take();
    return { tookMs: tookMs / count, cpu: cpuMs / count, main: mainCpuMs / count };
  };
  const parseMs = (text) => {
    const startedAt = performance.now();
    for (let i = 0; i < 20; i += 1) JSON.parse(text);
    return (performance.now() - startedAt) / 20;
  };

  await send(change(0));
  for (let round = 0; round <= rounds; round += 1) {
    progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
    const same = change(0);
    const results = [
      ['unchanged', await measure(repeats.unchanged, () => same)],
      ['1 of them changed', await measure(repeats.one, () => change(1))],
      ['all changed', await measure(repeats.all, () => change(entries))],
    ];
    if (round === 0) continue;
    for (const [row, { tookMs, cpu, main }] of results) {
      table.add(row, 'handled after, ms', tookMs);
      table.add(row, 'CPU ms', cpu);
      table.add(row, 'of it main thread', main);
    }
    table.add('JSON.parse of it alone', 'CPU ms', parseMs(same));
  }
  await Promise.all([daemon.close(), app.close()]);
  client.close();
  await relay.stop();
  return [table];
}
