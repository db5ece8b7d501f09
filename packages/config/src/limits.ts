/** The numbers of the table. */
import { int, variable } from './kinds.ts';
import type { Role, Variable } from './variable.ts';

const daemonDoor: readonly Role[] = ['standalone', 'gateway'];
const appDoor: readonly Role[] = ['standalone', 'api'];

function limit(value: number, unit: string, meaning: string, readBy?: readonly Role[]): Variable<number> {
  const shape = int({ min: 1, max: 1_000_000, unit });
  return variable('Limits', shape, { default: value, meaning, ...(readBy ? { readBy } : {}) });
}

export const limits = {
  RATE_LIMIT_PER_MINUTE: limit(100, 'requests', 'requests of one user per minute, on all routes together', appDoor),
  SIGN_IN_PER_MINUTE: limit(
    10,
    'requests',
    'passwords and invitations that one address can try per minute with the built-in sign-in',
    appDoor,
  ),
  SESSION_CREATE_PER_MINUTE: limit(10, 'requests', 'sessions that one user can create per minute', appDoor),
  AGENT_TURNS_PER_HOUR: limit(
    60,
    'turns',
    'turns that the agents of one user can start per hour on machines of that user through `/mcp`',
    appDoor,
  ),
  QUEUE_LIMIT: limit(
    20,
    'messages',
    'messages that can wait for the running task of one session; the relay refuses more',
    appDoor,
  ),
  FRAMES_PER_SECOND: limit(200, 'frames', 'sustained frames per second from one daemon', daemonDoor),
  CONNECTING_LIMIT: limit(
    500,
    'connections',
    'daemons that can connect at the same time, from the request until the claim of their device; the relay refuses more with 503 and `Retry-After` before any other work. Also the maximum number of sockets without a request, on any port: beyond it, the relay closes the socket that has been silent longest',
  ),
  MAX_CONNECTIONS: limit(
    20_000,
    'connections',
    'daemons that can be connected to one gateway; it refuses more with 503 and `Retry-After`, and an edge tries the next gateway',
    daemonDoor,
  ),
  SOCKETS_PER_USER: limit(
    50,
    'connections',
    'apps of one user that can be connected to one instance; the instance refuses more with 429',
    appDoor,
  ),
  APP_FRAMES_PER_SECOND: limit(
    10,
    'frames',
    "sustained frames per second from one app, with bursts of a minute's worth; beyond that the relay closes its socket with 4429",
    appDoor,
  ),
  INVITATIONS_PER_USER: limit(20, 'invitations', 'unused invitations of one user', appDoor),
  DEVICES_PER_USER: variable('Limits', int({ min: 1, max: 1000, unit: 'devices' }), {
    default: 100,
    meaning: 'devices of one user, including approved devices that have not fetched their credential',
    readBy: appDoor,
  }),
  WAITING_IMAGES_MIB_PER_USER: limit(
    128,
    'MiB',
    'queued images for all devices of one user, as data URLs; the limit for one device is always 64 MiB',
    appDoor,
  ),
  SESSIONS_PER_DEVICE: limit(
    10_000,
    'sessions',
    'sessions of one device, without deleted sessions. The relay skips and counts further sessions in reports of its daemon, and refuses to start new ones',
  ),
  RESUME_HISTORY_BYTES: variable('Limits', int({ min: 4096, max: 64 * 1024 * 1024, unit: 'bytes' }), {
    default: 1024 * 1024,
    meaning:
      'frames of one user that the relay keeps for apps that reconnect, newest first: their text, and 128 bytes for each frame. Redis, or the single process, can need this much for every active user',
  }),
  FRAME_BURST: limit(1000, 'frames', 'frames that one daemon can send at once', daemonDoor),
};
