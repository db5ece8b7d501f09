/** The numbers of the table: how much is allowed, and how long things take. Tests shorten the timings; people rarely need to. */
import { maxTimerMs, int, variable } from './kinds.ts';
import type { Role, Variable } from './variable.ts';

const daemonDoor: readonly Role[] = ['standalone', 'gateway'];
const appDoor: readonly Role[] = ['standalone', 'api'];

function limit(value: number, unit: string, meaning: string, readBy?: readonly Role[]): Variable<number> {
  const shape = int({ min: 1, max: 1_000_000, unit });
  return variable('Limits', shape, { default: value, meaning, ...(readBy ? { readBy } : {}) });
}

interface Options {
  readonly min?: number;
  readonly max?: number;
  readonly readBy?: readonly Role[];
}

const timing =
  (unit: string, longest: number) =>
  (value: number, meaning: string, { min = 1, max = longest, readBy }: Options = {}): Variable<number> =>
    variable('Timings', int({ min, max, unit }), { default: value, meaning, ...(readBy ? { readBy } : {}) });
const ms = timing('milliseconds', maxTimerMs);
const seconds = timing('seconds', Math.floor(maxTimerMs / 1000));

export const limits = {
  RATE_LIMIT_PER_MINUTE: limit(
    100,
    'requests',
    'requests of one user per `RATE_WINDOW_MS`, on all routes together',
    appDoor,
  ),
  SIGN_IN_PER_MINUTE: limit(
    10,
    'requests',
    'passwords and invitations that one address can try per minute with the built-in sign-in',
    appDoor,
  ),
  SESSION_CREATE_PER_MINUTE: limit(10, 'requests', 'sessions that one user can create per `RATE_WINDOW_MS`', appDoor),
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

export const timings = {
  PING_INTERVAL_MS: ms(30_000, 'how often the relay pings a live socket'),
  SILENCE_TIMEOUT_MS: ms(75_000, 'the relay closes a socket that sent no byte for this long'),
  OFFLINE_GRACE_MS: ms(10_000, 'the relay reports a device as offline when it has been disconnected for this long', {
    min: 0,
    readBy: daemonDoor,
  }),
  STATUS_WAIT_MS: ms(2_000, 'how long queued tasks wait for the first `status` of a newly connected daemon', {
    min: 0,
    readBy: daemonDoor,
  }),
  STATUS_LOST_MS: ms(5_000, 'a running task is lost when every `status` omits it for this long', {
    min: 0,
    readBy: daemonDoor,
  }),
  DESK_WAIT_MS: ms(
    20_000,
    'the relay notifies the person of a watched session when a program has waited for this long',
    {
      min: 0,
      readBy: daemonDoor,
    },
  ),
  TASK_SILENCE_MS: ms(
    900_000,
    'a running task that no frame mentions for this long is lost if the daemon does not list it, or if its session has no name to check',
  ),
  DEVICE_GONE_MS: ms(86_400_000, 'a running task is lost when its device has been offline for this long'),
  SWEEP_INTERVAL_MS: ms(30_000, 'how often the relay looks for overdue tasks, codes and leases'),
  LEASE_TTL_MS: ms(60_000, 'how long an instance owns a device without renewing its lease'),
  LEASE_REFRESH_MS: ms(20_000, 'how often an instance renews its leases; at most half of `LEASE_TTL_MS`'),
  OUTCOME_ASK_MS: ms(
    10_000,
    'when a history does not contain the outcome of a task yet, the gateway requests it again after this time, three times this time and twelve times this time',
    { max: 100_000_000, readBy: daemonDoor },
  ),
  DAEMON_REPLY_TIMEOUT_MS: ms(10_000, 'how long a daemon has to answer a request'),
  COMMAND_TIMEOUT_MS: ms(2_000, 'how long the instance that owns a device has to confirm a command'),
  PROGRESS_INTERVAL_MS: ms(500, 'how often, at most, the gateway sends the progress of one session to apps', {
    readBy: daemonDoor,
  }),
  PROGRESS_FLUSH_MS: ms(2_000, 'how often, at most, the gateway stores the latest progress of one session', {
    readBy: daemonDoor,
  }),
  OPEN_SESSION_MS: ms(300_000, 'how long the daemon keeps watching a session after an app reads it'),
  DEDUPE_WINDOW_MS: ms(30_000, 'equal messages or completions within this time count as duplicates', { min: 0 }),
  QUEUE_TTL_DEFAULT_SECONDS: seconds(
    900,
    'how long a message waits for an offline device, unless the request says otherwise',
    { min: 0, max: 86_400 },
  ),
  RESUME_HISTORY_MS: ms(300_000, 'how long the relay keeps the stored frames of a user after the newest of them'),
  CREDENTIAL_RECHECK_MS: ms(300_000, 'how often the relay checks the credentials of connected daemons and apps again'),
  LAST_SEEN_FLUSH_MS: ms(300_000, 'how often, at most, the gateway stores the time at which a device was last seen', {
    readBy: daemonDoor,
  }),
  DEVICE_CODE_TTL_SECONDS: seconds(900, 'how long a registration code of a device is valid', { readBy: appDoor }),
  DEVICE_POLL_INTERVAL_SECONDS: seconds(5, 'the interval at which a daemon polls during its registration', {
    readBy: appDoor,
  }),
  TICKET_TTL_SECONDS: seconds(30, 'how long a ticket for `/ws/attention` is valid', { readBy: appDoor }),
  OUTBOX_POLL_MS: ms(5_000, 'how often the relay looks for due notifications', { readBy: appDoor }),
  RATE_WINDOW_MS: ms(60_000, 'the window of the request limits', { readBy: appDoor }),
  MALFORMED_WINDOW_MS: ms(
    60_000,
    'the relay closes the connection of a daemon after three malformed frames within this time',
    {
      readBy: daemonDoor,
    },
  ),
  SLOW_READER_STALL_MS: ms(
    10_000,
    'the relay closes the socket of an app or daemon that reads none of its pending data for this long',
  ),
  VACUUM_INTERVAL_MS: ms(3_600_000, 'how often the relay vacuums the embedded database', { readBy: ['standalone'] }),
  EXPIRY_TOLERANCE_MS: ms(5_000, 'how long after the expiry of its token the relay closes a live socket', {
    min: 0,
    readBy: appDoor,
  }),
  IDEMPOTENCY_TTL_SECONDS: seconds(
    86_400,
    'how long the relay remembers an `Idempotency-Key`; must be the same for all instances, because gateways delete the keys that apis look up',
  ),
};
