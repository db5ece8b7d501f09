// Answers alone: the same body from `node:http` and from express, without a relay.
import { fileURLToPath } from 'node:url';
import { start } from '../process.mjs';

export async function startPlain(body) {
  const file = fileURLToPath(new URL('../rivals/plain.mjs', import.meta.url));
  const all = [];
  for (const [name, how] of [
    ['node:http', 'http'],
    ['express', 'express'],
  ]) {
    const child = await start(file, {
      env: { PATH: process.env.PATH, HOW: how, BODY: JSON.stringify(body) },
      port: (said) => /listening on (\d+)/.exec(said)?.[1],
    });
    const system = {
      name,
      dialect: 'relay',
      people: [{ token: 'none' }],
      groups: async () => ({ pods: [child.pid], redis: [], database: [] }),
      apps: () => [child.ws],
      daemons: () => [child.ws],
      http: () => [child.url],
      stop: () => child.stop(),
    };
    all.push({ name, system });
  }
  return all;
}
