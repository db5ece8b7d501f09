// Events: from a daemon's write to an app's read, both in this process, so on one clock. The bare relay passes the same bytes
// from socket to socket without reading them.
import { connectApp, connectDaemon, httpClient, Peer, registerDevice, startTask, tokensOf } from '../clients.mjs';
import { median, quantile, Table } from '../measure.mjs';
import { startBaseline, startRelay } from '../process.mjs';

const sessionCount = 200;
const framesPerRound = 200;
const turnsPerRound = 50;
const burst = 2000;
/** Frames under way in a burst: few enough that a reader is never too slow. */
const atATime = 16;

export async function events({ rounds, progress, folder }) {
  const table = new Table('Events, from daemon to app, one at a time');
  const bursts = new Table(`Events in bursts (${atATime} under way)`);
  const turns = new Table('A turn: a message to a daemon, its answer to an app');
  const dataDir = folder();
  const relay = await startRelay(dataDir, { observed: true });
  const bare = await startBaseline('ws');
  const token = tokensOf(dataDir)('someone');
  const client = httpClient(relay.url, token);
  const daemon = await connectDaemon(relay, await registerDevice(client, relay.url));
  const app = await connectApp(relay, token);
  const bareDaemon = new Peer(`${bare.ws}/daemon`);
  const bareApp = new Peer(`${bare.ws}/app`);
  await Promise.all([bareDaemon.opened, bareApp.opened]);

  progress(`starting ${sessionCount} tasks`);
  const tasks = [];
  for (let i = 0; i < sessionCount; i += 1) {
    tasks.push(await startTask(client, daemon, app, `native-${i}`));
  }

  const event = (event_type, task, fields) => ({ type: 'event', event_type, task_id: task.task_id, ...fields });
  const output = (bytes) => (n) => event('OUTPUT', tasks[n % tasks.length], { output: 'x'.repeat(bytes) });
  const progressing = (n) =>
    event('PROGRESS', tasks[n % tasks.length], { action: 'Reading', target: `src/file-${n}.ts` });
  const cases = [
    { name: 'OUTPUT, 200 bytes', frame: output(200), arrives: ({ type }) => type === 'task_output' },
    { name: 'OUTPUT, 4 KiB', frame: output(4096), arrives: ({ type }) => type === 'task_output' },
    // Each session once: the second one of a session would be held back (twice a second at most).
    { name: 'PROGRESS', frame: progressing, arrives: ({ type }) => type === 'session_update' },
  ];

  const oneByOne = async (server, from, to, { frame, arrives }) => {
    const tookMs = [];
    await server.take();
    for (let n = 0; n < framesPerRound; n += 1) {
      const text = JSON.stringify(frame(n));
      const arrived = to.next(arrives);
      const sentAt = performance.now();
      from.send(text);
      tookMs.push((await arrived).receivedAt - sentAt);
    }
    const { cpuMs } = await server.take();
    return { p50: median(tookMs), p99: quantile(tookMs, 0.99), cpu: cpuMs / framesPerRound };
  };

  const inBurst = async (server, from, to, { frame, arrives }) => {
    await server.take();
    const startedAt = performance.now();
    for (let sent = 0; sent < burst; sent += atATime) {
      const arrived = to.next(arrives, atATime);
      for (let n = sent; n < sent + atATime; n += 1) from.send(frame(n));
      await arrived;
    }
    const tookMs = performance.now() - startedAt;
    const { cpuMs } = await server.take();
    return { cpu: cpuMs / burst, perSecond: (burst / tookMs) * 1000 };
  };

  /** Frames with almost no effect on apps: waits only until a later frame proves that they were handled. */
  const heldBack = async () => {
    await relay.take();
    const arrived = app.next(({ type }) => type === 'task_output');
    for (let n = 0; n < burst; n += 1) daemon.send(event('PROGRESS', tasks[0], { action: 'Reading', target: `${n}` }));
    daemon.send(output(10)(0));
    await arrived;
    return (await relay.take()).cpuMs / burst;
  };

  let said = 0;
  const turn = async (task) => {
    said += 1;
    const result = `answer ${said}`;
    const spoken = app.next((frame) => frame.type === 'new_message' && frame.message.content === result);
    const ended = app.next(
      ({ type, session }) =>
        type === 'session_update' && session.id === task.id && session.lastTask.state === 'completed',
    );
    const endSentAt = performance.now();
    daemon.send(event('TASK_COMPLETE', task, { result }));
    const spokenMs = (await spoken).receivedAt - endSentAt;
    const endedMs = (await ended).receivedAt - endSentAt;
    const resumed = daemon.next((frame) => frame.type === 'task_resume');
    const settled = app.next(
      ({ type, session }) => type === 'session_update' && session.id === task.id && session.lastTask.state === 'sent',
    );
    const messageSentAt = performance.now();
    await client.call('POST', `/api/sessions/${encodeURIComponent(task.id)}/messages`, { content: `Again ${said}` });
    const { frame, receivedAt } = await resumed;
    await settled;
    task.task_id = frame.task_id;
    return { spokenMs, endedMs, resumedMs: receivedAt - messageSentAt };
  };

  for (let round = 0; round <= rounds; round += 1) {
    // A message from a user makes the gateway drop its memory of the device's sessions.
    const [one] = cases;
    progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}: sessions that must be read again`);
    const again = await oneByOne(relay, daemon, app, one);
    if (round > 0) {
      const row = 'OUTPUT, 200 bytes, first one after a message to the device';
      for (const [column, value] of [
        ['p50 ms', again.p50],
        ['p99 ms', again.p99],
        ['CPU ms', again.cpu],
      ])
        table.add(row, column, value);
    }
    for (const one of cases) {
      progress(round === 0 ? `warming up: ${one.name}` : `round ${round} of ${rounds}: ${one.name}`);
      const ours = await oneByOne(relay, daemon, app, one);
      const theirs = await oneByOne(bare, bareDaemon, bareApp, { ...one, arrives: ({ type }) => type === 'event' });
      if (round === 0) continue;
      table.add(one.name, 'p50 ms', ours.p50);
      table.add(one.name, 'p99 ms', ours.p99);
      table.add(one.name, 'CPU ms', ours.cpu);
      table.add(one.name, 'bare p50 ms', theirs.p50);
      table.add(one.name, 'bare CPU ms', theirs.cpu);
      table.add(one.name, 'p50 ratio', ours.p50 / theirs.p50);
      table.add(one.name, 'CPU ratio', ours.cpu / theirs.cpu);
    }
    for (const one of cases.slice(0, 2)) {
      progress(round === 0 ? `warming up: bursts` : `round ${round} of ${rounds}: bursts, ${one.name}`);
      const ours = await inBurst(relay, daemon, app, one);
      const theirs = await inBurst(bare, bareDaemon, bareApp, { ...one, arrives: ({ type }) => type === 'event' });
      if (round === 0) continue;
      bursts.add(one.name, 'CPU ms', ours.cpu);
      bursts.add(one.name, 'bare CPU ms', theirs.cpu);
      bursts.add(one.name, 'CPU ratio', ours.cpu / theirs.cpu);
      bursts.add(one.name, 'events/s', ours.perSecond);
      bursts.add(one.name, 'bare events/s', theirs.perSecond);
    }
    const heldBackMs = await heldBack();
    if (round > 0) bursts.add(`PROGRESS of one session, held back`, 'CPU ms', heldBackMs);

    progress(round === 0 ? 'warming up: turns' : `round ${round} of ${rounds}: turns`);
    await relay.take();
    const took = [];
    for (let n = 0; n < turnsPerRound; n += 1) took.push(await turn(tasks[n]));
    const { cpuMs, mainCpuMs } = await relay.take();
    if (round === 0) continue;
    const add = (row, of) => {
      turns.add(row, 'p50 ms', median(took.map(of)));
      turns.add(row, 'p99 ms', quantile(took.map(of), 0.99));
    };
    add('POST …/messages → task_resume at the daemon', ({ resumedMs }) => resumedMs);
    add('TASK_COMPLETE → new_message at the app', ({ spokenMs }) => spokenMs);
    add('TASK_COMPLETE → session_update at the app', ({ endedMs }) => endedMs);
    turns.add('the whole turn', 'CPU ms', cpuMs / turnsPerRound);
    turns.add('the whole turn', 'of it main thread', mainCpuMs / turnsPerRound);
  }
  for (const peer of [daemon, app, bareDaemon, bareApp]) await peer.close();
  client.close();
  await relay.stop();
  await bare.stop();
  return [table, bursts, turns];
}
