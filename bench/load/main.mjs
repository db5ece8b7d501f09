// The load: a process of its own, so that the cost of clients is not counted. It holds the sockets of daemons and apps
// of one system and takes orders over IPC, one at a time: `{ id, what, args }` → `{ id, result }` or `{ id, error }`.
import { Load } from './load.mjs';

const dialects = {
  relay: () => import('./relay.mjs'),
  raw: () => import('./raw.mjs'),
  socketio: () => import('./socketio.mjs'),
};
let load;

/** The clients of the soak, or of one of the compared systems. */
async function loadOf(system) {
  if (system.dialect === 'staying') return new (await import('./staying.mjs')).Staying(system);
  const { Dialect } = await dialects[system.dialect]();
  return new Load(new Dialect(system));
}

process.on('message', async ({ id, what, args }) => {
  try {
    if (what === 'use') {
      load = await loadOf(args);
      process.send({ id });
    } else process.send({ id, result: await load[what](args) });
  } catch (error) {
    process.send({ id, error: String(error?.stack ?? error) });
  }
});
process.on('disconnect', () => process.exit(0));
console.log('listening on 1');
