// Requests to daemons and their answers, 64 in flight: from within an instance, which shows the cost of instances and
// Redis, and as an app requests the history of a session, over REST.
import { Table } from '../measure.mjs';
import { startCpu } from '../cpu.mjs';
import { measured, names, startAll } from '../systems/all.mjs';

const pairs = 32;
const inFlight = 64;
const inside = 6_000;
const overRest = 1_000;

export async function requests({ rounds, progress, folder, share, profile, before }) {
  const ratios = new Table('Questions to daemons: ratios of CPU');
  const cost = new Table(`Questions to daemons, ${inFlight} in flight: CPU, µs per question`);
  const speed = new Table('Questions to daemons: wall clock');
  const { systems, stop } = await startAll(['relay', 'single', 'raw', 'bare', 'floor', 'socketio'], {
    people: pairs,
    floorNeeds: 'token',
    folder,
    progress,
    profile,
    before,
  });
  const inner = 'from an instance';
  const outer = 'history over REST';
  try {
    for (const one of systems) {
      const sessions = await one.load.ask('pairs', { count: pairs });
      if (one.name === 'single' || one.name === 'bare' || one.name === 'floor') continue;
      one.asker = await askerOf(one.system, sessions);
    }
    for (let round = 0; round <= rounds; round += 1) {
      progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      const took = {};
      const note = (what, name, count, one, asker = 0) => {
        took[`${what} ${name}`] = (one.all + asker) / count;
        if (round === 0) return;
        const row = `${what}: ${names[name]}`;
        cost.add(row, 'instances and Redis', (one.all + asker) / count);
        cost.add(row, 'of it Redis', one.redis / count);
        cost.add(row, 'and PostgreSQL', one.database / count);
        speed.add(row, 'per second', (count / one.result.tookMs) * 1000);
        speed.add(row, 'p50 ms', one.result.p50);
        speed.add(row, 'p99 ms', one.result.p99);
      };
      for (const { name, system, asker } of systems) {
        if (!asker) continue;
        const count = Math.ceil(inside * share);
        // The asker is an instance too; of the relay it is not among the others.
        const extra = startCpu({ asker: asker.isExtra ? [asker.pid] : [] });
        const one = await measured(system, () => askMany(asker.url, { count, inFlight, first: 0, users: pairs }));
        note(inner, name, count, one, extra().asker);
      }
      for (const { name, system, load } of systems) {
        const count = Math.ceil(overRest * share);
        const one = await measured(system, () => load.ask('questions', { count, inFlight }));
        note(outer, name, count, one);
      }
      if (round === 0) continue;
      for (const what of [inner, outer]) {
        ratios.add(what, 'relay / raw', took[`${what} relay`] / took[`${what} raw`]);
        ratios.add(what, 'relay / Socket.IO', took[`${what} relay`] / took[`${what} socketio`]);
      }
      ratios.add(outer, 'relay / express, limiter, raw', took[`${outer} relay`] / took[`${outer} bare`]);
      ratios.add(outer, 'floor / express, limiter, raw', took[`${outer} floor`] / took[`${outer} bare`]);
      ratios.add(outer, 'single process / raw', took[`${outer} single`] / took[`${outer} raw`]);
    }
  } finally {
    await stop();
  }
  return [ratios, cost, speed];
}

/** An instance that asks by itself: one of the program's own, or an asker beside the relay that knows these sessions. */
export async function askerOf(system, sessions, n = 0) {
  if (!system.startAsker) return { url: system.appSide[n].url, pid: system.appSide[n].pid, isExtra: false };
  const { url, pid } = await system.startAsker();
  await fetch(url, { method: 'PUT', body: JSON.stringify(sessions) });
  return { url, pid, isExtra: true };
}

/** `{ count, tookMs, p50, p99 }` */
export async function askMany(url, how) {
  const answer = await fetch(`${url}/self?${new URLSearchParams(how)}`, { method: 'POST' });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}
