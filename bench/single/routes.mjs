// Routes, as the server sees them: from the parsed head of a request to the last byte of its answer. The bare server answers
// the same bodies; one client, one request at a time, both servers in turn.
import { setTimeout as wait } from 'node:timers/promises';
import { connectApp, connectDaemon, httpClient, Peer, registerDevice, tokensOf } from '../clients.mjs';
import { median, quantile, Table } from '../measure.mjs';
import { startBaseline, startRelay } from '../process.mjs';

const requestsPerRound = 200;
const sessionCount = 20;
/** V8 collects its garbage when a process has been idle for a while. */
const restMs = 45_000;
const text = 'what an agent says about what it did. '.repeat(10);

const history = {
  messages: Array.from({ length: 50 }, (_, i) => ({
    uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    role: i % 2 === 0 ? 'USER' : 'AGENT',
    content: text,
    timestamp: '2026-01-01T00:00:00.000Z',
  })),
  has_more: false,
};
const entry = (i) => ({
  session_id: `native-${i}`,
  title: `Session ${i}`,
  project: '/home/someone/project',
  file_path: `/home/someone/.agent/${i}.jsonl`,
  last_message: text,
  message_count: i,
  is_active: false,
  last_activity: new Date(Date.now() - i * 60_000).toISOString(),
});

export async function routes({ rounds, progress, folder }) {
  const table = new Table('Routes, in process');
  const asClient = new Table('Routes, as a keep-alive client on loopback sees them');
  const rest = new Table('Memory after the routes');
  const dataDir = folder();
  const relay = await startRelay(dataDir, { observed: true });
  const bare = await startBaseline('http');
  const token = tokensOf(dataDir)('someone');
  const client = httpClient(relay.url, token);
  const daemon = await connectDaemon(relay, await registerDevice(client, relay.url), history);
  const app = await connectApp(relay, token);
  const reported = app.next((frame) => frame.type === 'session_update', sessionCount);
  daemon.send({ type: 'report_sessions', sessions: Array.from({ length: sessionCount }, (_, i) => entry(i)) });
  await reported;
  const { sessions } = (await client.call('GET', '/api/sessions')).body;
  const paths = sessions.map(({ id }) => `/api/sessions/${encodeURIComponent(id)}`);
  // An agent that knows the answer at once.
  daemon.answer('task_resume', ({ task_id }) =>
    daemon.send({ type: 'event', event_type: 'TASK_COMPLETE', task_id, result: `done: ${task_id}` }),
  );

  const bareClient = httpClient(bare.url);
  const barePeer = new Peer(bare.ws);
  await barePeer.opened;
  barePeer.answer('get_messages', ({ request_id, session_id }) =>
    barePeer.send({ type: 'messages', request_id, session_id, ...history }),
  );

  /** One request of each route; `after` completes the work it started, so that the next request finds an idle relay. */
  const path = (n) => paths[n % paths.length];
  const cases = [
    { name: 'GET /health', send: (to) => to('GET', '/health') },
    { name: 'GET /api/me', send: (to) => to('GET', '/api/me') },
    { name: `GET /api/sessions (${sessionCount})`, send: (to) => to('GET', '/api/sessions') },
    { name: 'GET /api/sessions/:id (50 messages)', asks: true, send: (to, n) => to('GET', path(n)) },
    { name: 'PATCH /api/sessions/:id', send: (to, n) => to('PATCH', path(n), { title: `Title ${n}` }) },
    {
      name: 'POST /api/sessions/:id/messages, and its task',
      send: (to, n) => to('POST', `${path(n)}/messages`, { content: `Please ${n}` }),
      after: (n) => {
        const { id } = sessions[n % paths.length];
        return app.next(
          ({ type, session }) =>
            type === 'session_update' && session.id === id && session.lastTask.state === 'completed',
        );
      },
    },
  ];

  let n = 0;
  const slice = async (server, call, { send, after }) => {
    const seenMs = [];
    await server.take();
    for (let i = 0; i < requestsPerRound; i += 1) {
      n += 1;
      const settled = after?.(n);
      seenMs.push((await send(call, n)).tookMs);
      await settled;
    }
    const { durationsMs, cpuMs, mainCpuMs } = await server.take();
    const per = (total) => total / requestsPerRound;
    return {
      p50: median(durationsMs),
      p99: quantile(durationsMs, 0.99),
      cpu: per(cpuMs),
      main: per(mainCpuMs),
      seenMs,
    };
  };

  for (let round = 0; round <= rounds; round += 1) {
    for (const one of cases) {
      progress(round === 0 ? `warming up: ${one.name}` : `round ${round} of ${rounds}: ${one.name}`);
      const call = (method, path, body) => client.call(method, path, body);
      const { body } = await one.send(call, (n += 1));
      await bareClient.call('PUT', '/', one.asks ? { ...body, messages: undefined } : body);
      const bareCall = (method, path, body) => bareClient.call(method, one.asks ? '/ask' : path, body);
      const ours = await slice(relay, call, one);
      const theirs = await slice(bare, bareCall, { send: one.send });
      if (round === 0) continue;
      table.add(one.name, 'p50 ms', ours.p50);
      table.add(one.name, 'p99 ms', ours.p99);
      table.add(one.name, 'CPU ms', ours.cpu);
      table.add(one.name, 'of it main thread', ours.main);
      table.add(one.name, 'bare p50 ms', theirs.p50);
      table.add(one.name, 'bare CPU ms', theirs.cpu);
      table.add(one.name, 'CPU ratio', ours.cpu / theirs.cpu);
      asClient.add(one.name, 'p50 ms', median(ours.seenMs));
      asClient.add(one.name, 'p99 ms', quantile(ours.seenMs, 0.99));
      asClient.add(one.name, 'bare p50 ms', median(theirs.seenMs));
    }
    const row = `busy, after each round of ${cases.length * requestsPerRound} requests`;
    if (round > 0) rest.add(row, 'resident, MB', relay.memoryMB().resident);
  }
  progress(`at rest for ${restMs / 1000} s`);
  await wait(restMs);
  rest.add(`at rest, ${restMs / 1000} s later`, 'resident, MB', relay.memoryMB().resident);
  for (const peer of [daemon, app, barePeer]) await peer.close();
  for (const one of [client, bareClient]) one.close();
  await relay.stop();
  await bare.stop();
  return [table, asClient, rest];
}
