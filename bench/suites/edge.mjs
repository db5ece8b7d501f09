// HAProxy before a gateway and an api, with TLS and the backends of the shipped Ingress: the memory of a silent socket, and the processor time
// of a connection, of rest and of an event that passes it twice. No relay is weighed here, only the edge.
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { startHaProxy } from '@relay/testing';
import { startCpu } from '../cpu.mjs';
import { Table } from '../measure.mjs';
import { measured, startLoad } from '../systems/all.mjs';
import { startInstances } from '../systems/relay.mjs';

/** HAProxy needs two descriptors for each. */
const daemons = 8_000;
const pairs = 16;
const window = 64;
const restMs = 30_000;
const events = 20_000;
const perSecond = 2_000;

export async function edge({ rounds, progress, share }) {
  const count = Math.ceil(daemons * share);
  const memory = new Table(`HAProxy with TLS, ${count} silent daemons: memory`);
  const cost = new Table('HAProxy with TLS: processor time');
  progress('starting');
  const system = await startInstances({ people: pairs + count * (rounds + 1) });
  try {
    const port = (of) => Number(new URL(of.ws).port);
    // The first round fills caches, and is not counted.
    for (let round = 0; round <= rounds; round += 1) {
      const say = (what) => progress(`${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: ${what}`);
      const haproxy = await startHaProxy({ apis: system.appSide.map(port), gateways: system.daemonSide.map(port) });
      const address = haproxy.url.replace('https', 'wss');
      const load = await startLoad(
        { ...system, apps: () => [address], daemons: () => [address] },
        { NODE_EXTRA_CA_CERTS: haproxy.certificate },
      );
      try {
        const pids = haproxy.pids();
        const resident = () => pids.reduce((sum, pid) => sum + residentKB(pid), 0);
        const spent = (act) => measured({ groups: async () => ({ pods: pids, redis: [], database: [] }) }, act);
        await load.ask('pairs', { count: pairs });
        const before = resident();
        say(`connecting ${count} daemons`);
        const first = pairs + round * count;
        const connected = await spent(() => load.ask('sockets', { role: 'daemon', first, count, window, hello: 2 }));
        const after = resident();
        say('at rest');
        await wait(restMs);
        const rest = startCpu({ pids });
        await wait(restMs);
        const idleUs = rest().pids;
        const rested = resident();
        say(`${perSecond} events a second`);
        const passed = await spent(() => load.ask('events', { bytes: 200, count: events * share, perSecond }));
        if (round === 0) continue;
        memory.add('HAProxy', 'without sockets, MB', before / 1000);
        memory.add('HAProxy', 'a socket that has just come, KB', (after - before) / count);
        memory.add('HAProxy', 'a silent socket, KB', (rested - before) / count);
        cost.add('HAProxy', 'a connection, µs', connected.pods / count);
        cost.add('HAProxy', 'rest, % of a core', idleUs / restMs / 10);
        const idleMeanwhile = (idleUs / restMs) * passed.result.tookMs;
        cost.add('HAProxy', 'an event of 200 B, µs', (passed.pods - idleMeanwhile) / (events * share));
      } finally {
        await load.stop();
        await haproxy.stop();
      }
    }
  } finally {
    await system.stop();
  }
  return [memory, cost];
}

const residentKB = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
