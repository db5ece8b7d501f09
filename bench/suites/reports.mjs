// A large report with a change of every session, and the delay of its daemon's next frames: output of a running task,
// and the answer to a history request.
import { setTimeout as wait } from 'node:timers/promises';
import { connectApp, connectDaemon, httpClient, startTask } from '../clients.mjs';
import { Table } from '../measure.mjs';
import { startInstances } from '../systems/relay.mjs';
import { countersOf, freePort } from './counts.mjs';

const sizes = [1_000, 10_000];
const entry = (i, generation) => ({
  session_id: `native-${i}`,
  title: `Session ${i}`,
  project: '/home/someone/project',
  last_message: `${generation} ${'what an agent says about what it did. '.repeat(3)}`,
  message_count: generation + 1,
  is_active: false,
  last_activity: new Date(Date.UTC(2026, 0, 1, 0, 0, i)).toISOString(),
});

export async function reports({ rounds, progress, share, profile, before }) {
  const table = new Table('A report in which every session changed: wait of other frames of its daemon, ms');
  const people = sizes.length;
  const systems = [{ name: 'relay', system: await startInstances({ people, gateways: 0, profile }) }];
  if (before) systems.push({ name: 'before', system: await startInstances({ people, gateways: 0, build: before }) });
  try {
    for (const one of systems) {
      const port = await freePort();
      one.system.daemonSide.push(await one.system.launch('gateway', port));
      one.reportsSoFar = async () => (await countersOf(port)).reports;
      one.daemons = [];
      for (const n of sizes.keys()) one.daemons.push(await reporting(one.system, n));
    }
    for (let round = 0; round <= rounds; round += 1)
      for (const [n, size] of sizes.entries()) {
        const count = Math.ceil(size * share);
        for (const { name, daemons, reportsSoFar } of systems) {
          progress(`${name}, ${count} sessions, ${round === 0 ? 'new' : `round ${round} of ${rounds}`}`);
          const sessions = Array.from({ length: count }, (_, i) => entry(i, round));
          const alone = await daemons[n].waits();
          const before = await reportsSoFar();
          const startedAt = performance.now();
          const behind = await daemons[n].waits({ type: 'report_sessions', sessions });
          // A report that arrives while another is being written waits, and all later frames wait with it.
          while ((await reportsSoFar()) === before) await wait(20);
          const tookMs = performance.now() - startedAt;
          if (round === 0) continue;
          const row = `${count} sessions: ${name}`;
          table.add(row, 'output without a report', alone.output);
          table.add(row, 'output right after it', behind.output);
          table.add(row, 'the report is written', tookMs);
          table.add(row, 'history without a report', alone.history);
          table.add(row, 'history right after it', behind.history);
        }
      }
  } finally {
    for (const { daemons = [], system } of systems) {
      for (const daemon of daemons) await daemon.close();
      await system.stop();
    }
  }
  return [table];
}

/**
 * A daemon with a task that runs. `waits(report)`: how long output and history take right after this report, in ms.
 */
async function reporting(system, n) {
  const { deviceId, deviceToken, token } = system.people[n];
  const client = httpClient(system.http()[0], token);
  const daemon = await connectDaemon({ ws: system.daemons()[0] }, { deviceId, token: deviceToken });
  const app = await connectApp({ ws: system.apps()[0] }, token);
  const { task_id, id } = await startTask(client, daemon, app);
  const output = async () => {
    const heard = app.next((frame) => frame.type === 'task_output');
    daemon.send({ type: 'event', event_type: 'OUTPUT', task_id, output: 'after it' });
    return heard;
  };
  const since = async (startedAt, act) => {
    await act;
    return performance.now() - startedAt;
  };
  return {
    waits: async (report) => {
      if (report) daemon.send(report);
      const startedAt = performance.now();
      const asked = client.call('GET', `/api/sessions/${encodeURIComponent(id)}/messages`);
      const [said, history] = await Promise.all([since(startedAt, output()), since(startedAt, asked)]);
      return { output: said, history };
    },
    close: async () => {
      await Promise.all([daemon.close(), app.close()]);
      client.close();
    },
  };
}
