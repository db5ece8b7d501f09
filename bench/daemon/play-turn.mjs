// Starts turn.mjs, a daemon with one long turn, and receives its memory readings.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./turn.mjs', import.meta.url));
const operations = 20_000;
export const minutes = 10;

/** As many as can be weighed twenty times. */
export const operationsOf = (share) => Math.max(400, Math.ceil((operations * share) / 400) * 400);

/**
 * Resolves when the daemon is connected to `server`. It begins with its first task, and calls `weighed` with `{ heapMB,
 * residentMB }` at every twentieth of the turn, including start and finish. `over` resolves with the cost of the turn.
 */
export async function playTurn({ server, deviceId = 'device', token = 'rly_drt_bench', share, faster = 1, weighed }) {
  const words = [server, deviceId, token, operationsOf(share), minutes * share, faster].map(String);
  const child = fork(program, words, { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const failed = new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the turn ended with ${code}`)));
  });
  failed.catch(() => undefined);
  child.on('message', ({ memory }) => memory && weighed(memory));
  const said = (name) => {
    const found = new Promise((resolve) => {
      child.on('message', (message) => name in message && resolve(message[name]));
    });
    return Promise.race([found, failed]);
  };
  const over = said('cost');
  over.catch(() => undefined);
  await said('connected');
  return { over };
}
