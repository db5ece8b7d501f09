// One turn of ten minutes and 20,000 updates, in real time, through a daemon, a gateway and an api to an app: the
// memory of each of the three processes at every tenth, after a garbage collection. "Flat" compares from the second
// tenth on.
import { TranscriptCopy } from '@relay/client';
import { connectApp, httpClient } from '../clients.mjs';
import { minutes, operationsOf, playTurn } from '../daemon/play-turn.mjs';
import { Table } from '../measure.mjs';
import { startInstances } from '../systems/relay.mjs';

export async function longTurn({ rounds, progress, share }) {
  const title = `A turn of ${minutes * share} minutes and ${operationsOf(share)} updates`;
  const table = new Table(`${title}: memory in MB`);
  const cost = new Table(`${title}: cost`);
  for (let round = 1; round <= rounds; round += 1) {
    const system = await startInstances({ people: 1, weighed: true });
    try {
      await one(system, { share, table, cost, progress: (what) => progress(`round ${round} of ${rounds}: ${what}`) });
    } finally {
      await system.stop();
    }
  }
  return [table, cost];
}

async function one(system, { share, table, cost, progress }) {
  const [{ token, deviceId, deviceToken }] = system.people;
  const [api, gateway] = [system.appSide[0], system.daemonSide[0]];
  const client = httpClient(api.url, token);
  const app = await connectApp(api, token, '?events=transcript');
  const copy = new TranscriptCopy();
  const heard = { frames: 0, operations: 0, asked: 0 };
  let asking;
  const ask = async (id) => {
    heard.asked += 1;
    const changed = copy.v === undefined ? '' : `&changed=${copy.v}`;
    const path = `/api/sessions/${encodeURIComponent(id)}/messages?parts=1&limit=200${changed}`;
    copy.take((await client.call('GET', path)).body);
    asking = undefined;
  };
  app.answer('transcript', ({ sessionId, v, ops }) => {
    heard.frames += 1;
    heard.operations += ops.length;
    copy.apply({ v, ops });
    if (copy.isBehind) asking ??= ask(sessionId);
  });
  let weighings = 0;
  let weighed = Promise.resolve();
  const weigh = async (name, { heapMB, residentMB }) => {
    table.add(name, 'daemon JavaScript', heapMB);
    table.add(name, 'daemon resident', residentMB);
    for (const [what, child] of Object.entries({ gateway, api })) {
      const { heap, resident } = await child.settledMemoryMB();
      table.add(name, `${what} JavaScript`, heap);
      table.add(name, `${what} resident`, resident);
    }
    progress(`${name} of the turn`);
  };
  const turn = await playTurn({
    server: gateway.url,
    deviceId,
    token: deviceToken,
    share,
    weighed: (memory) => {
      const twentieth = (weighings += 1) - 1;
      if (twentieth > 0 && twentieth % 2 === 0) weighed = weighed.then(() => weigh(`${twentieth * 5} %`, memory));
    },
  });
  await client.call('POST', '/api/sessions', { deviceId, message: 'Work' });
  const { cpuUs, fileMB } = await turn.over;
  await Promise.all([weighed, asking]);
  if (copy.isBehind) throw new Error('the app has not everything');
  await app.close();
  client.close();
  cost.add('daemon', 'CPU µs per update', cpuUs);
  cost.add('daemon', 'file MB', fileMB);
  cost.add('app', 'frames', heard.frames);
  cost.add('app', 'operations', heard.operations);
  cost.add('app', 'requests', heard.asked);
  cost.add('app', 'items', copy.items.length);
}
