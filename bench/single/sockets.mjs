// The cost of a silent connection: daemons and apps connect in batches, and after each batch the process reports its
// memory, after a garbage collection. Every app is another user.
import { setTimeout as wait } from 'node:timers/promises';
import { connectApp, connectDaemon, httpClient, Peer, registerDevice, tokensOf } from '../clients.mjs';
import { Table } from '../measure.mjs';
import { startBaseline, startRelay } from '../process.mjs';

const batch = 100;
const settleMs = 1000;

export async function sockets({ rounds, progress, folder }) {
  const table = new Table(`Memory per silent connection (${rounds} batches of ${batch})`);
  const dataDir = folder();
  const relay = await startRelay(dataDir, { observed: true });
  const bare = await startBaseline('ws');
  const tokens = tokensOf(dataDir);
  const client = httpClient(relay.url, tokens('someone'));
  const peers = [];

  /** Everything is registered before the first batch: it is connections that are weighed. */
  const devices = [];
  for (let i = 0; i < batch * (rounds + 1); i += 1) {
    if (i % batch === 0) progress(`registering devices: ${i} of ${batch * (rounds + 1)}`);
    devices.push(await registerDevice(client, relay.url));
  }
  let users = 0;
  const kinds = [
    ['a daemon', relay, async () => connectDaemon(relay, devices.pop())],
    ['an app', relay, async () => connectApp(relay, tokens(`user-${(users += 1)}`), '')],
    [
      'a bare WebSocket',
      bare,
      async () => {
        const peer = new Peer(`${bare.ws}/app`);
        await peer.opened;
        return peer;
      },
    ],
  ];
  for (let round = 0; round <= rounds; round += 1) {
    for (const [kind, server, connect] of kinds) {
      progress(round === 0 ? `warming up: ${kind}` : `batch ${round} of ${rounds}: ${kind}`);
      await wait(settleMs);
      const before = await server.settledMemoryMB();
      for (let i = 0; i < batch; i += 1) peers.push(await connect());
      await wait(settleMs);
      const after = await server.settledMemoryMB();
      if (round === 0) continue;
      const perSocket = (what) => ((after[what] - before[what]) * 1000) / batch;
      table.add(kind, 'heap, kB', perSocket('heap'));
      table.add(kind, 'external, kB', perSocket('external'));
      table.add(kind, 'resident, kB', perSocket('resident'));
    }
  }
  const { resident } = await relay.settledMemoryMB();
  const held = new Table('Memory with all of them connected');
  held.add(`relay: ${batch * (rounds + 1)} daemons and as many apps`, 'resident, MB', resident);
  await Promise.all(peers.map((peer) => peer.close()));
  client.close();
  await relay.stop();
  await bare.stop();
  return [table, held];
}
