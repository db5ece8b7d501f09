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
    'requests of one user per `RATE_WINDOW_MS`, all routes together',
    appDoor,
  ),
  SIGN_IN_PER_MINUTE: limit(
    10,
    'requests',
    'passwords and invitations one address may try per minute with the built-in sign-in',
    appDoor,
  ),
  SESSION_CREATE_PER_MINUTE: limit(10, 'requests', 'sessions one user may create per `RATE_WINDOW_MS`', appDoor),
  AGENT_TURNS_PER_HOUR: limit(
    60,
    'turns',
    'turns that the agents of one user may start on machines of that user through `/mcp`, in an hour',
    appDoor,
  ),
  QUEUE_LIMIT: limit(
    20,
    'messages',
    'messages that wait behind the running task of one session; more are refused',
    appDoor,
  ),
  FRAMES_PER_SECOND: limit(200, 'frames', 'frames per second that one daemon may send over a long time', daemonDoor),
  CONNECTING_LIMIT: limit(
    500,
    'connections',
    'daemons that may be connecting at once, from the request until the claim of their device; more are refused with 503 and `Retry-After` before any other work. Also the number of sockets without a request yet, at any port: above it, the one that was silent longest is closed',
  ),
  MAX_CONNECTIONS: limit(
    20_000,
    'connections',
    'daemons that may be connected to one gateway; more are refused with 503 and `Retry-After`, and an edge tries the next gateway',
    daemonDoor,
  ),
  SOCKETS_PER_USER: limit(
    50,
    'connections',
    'apps of one user that may be connected to one instance; more are refused with 429',
    appDoor,
  ),
  APP_FRAMES_PER_SECOND: limit(
    10,
    'frames',
    'frames per second that one app may send over a long time, and a minute of them at once; it is closed with 4429',
    appDoor,
  ),
  INVITATIONS_PER_USER: limit(20, 'invitations', 'unused invitations of one user', appDoor),
  DEVICES_PER_USER: variable('Limits', int({ min: 1, max: 1000, unit: 'devices' }), {
    default: 100,
    meaning: 'devices of one user, those included that are approved and have not fetched their credential',
    readBy: appDoor,
  }),
  WAITING_IMAGES_MIB_PER_USER: limit(
    128,
    'MiB',
    'images that wait for the devices of one user, as data URLs; 64 MiB for one device in any case',
    appDoor,
  ),
  SESSIONS_PER_DEVICE: limit(
    10_000,
    'sessions',
    'sessions of one device, deleted ones aside. Further ones that its daemon reports are left out and counted, and a user who starts one is refused',
  ),
  RESUME_HISTORY_BYTES: variable('Limits', int({ min: 4096, max: 64 * 1024 * 1024, unit: 'bytes' }), {
    default: 1024 * 1024,
    meaning:
      'frames of one user that are kept for apps that come back, newest first: their text, and 128 bytes for each. Redis, or the single process, may need so much for every user who is active',
  }),
  FRAME_BURST: limit(1000, 'frames', 'frames that one daemon may send at once', daemonDoor),
};

export const timings = {
  PING_INTERVAL_MS: ms(30_000, 'how often a live socket is pinged'),
  SILENCE_TIMEOUT_MS: ms(75_000, 'a socket from which no byte came for this long is closed'),
  OFFLINE_GRACE_MS: ms(10_000, 'a device that stays away this long is announced as offline', {
    min: 0,
    readBy: daemonDoor,
  }),
  STATUS_WAIT_MS: ms(2_000, 'how long queued tasks wait for the first `status` of a daemon that connected', {
    min: 0,
    readBy: daemonDoor,
  }),
  STATUS_LOST_MS: ms(5_000, 'a running task that every `status` omits for this long is lost', {
    min: 0,
    readBy: daemonDoor,
  }),
  DESK_WAIT_MS: ms(
    20_000,
    'a program that waits for its person for this long notifies the person, in a watched session',
    {
      min: 0,
      readBy: daemonDoor,
    },
  ),
  TASK_SILENCE_MS: ms(
    900_000,
    'a running task that no frame mentioned for this long is lost if the daemon contradicts it, or if there is no session to ask',
  ),
  DEVICE_GONE_MS: ms(86_400_000, 'a running task whose device has been offline this long is lost'),
  SWEEP_INTERVAL_MS: ms(30_000, 'how often overdue tasks, codes and leases are looked for'),
  LEASE_TTL_MS: ms(60_000, 'how long an instance owns a device without renewing it'),
  LEASE_REFRESH_MS: ms(20_000, 'how often an instance renews what it owns; at most half of `LEASE_TTL_MS`'),
  OUTCOME_ASK_MS: ms(
    10_000,
    'a history that is asked for the end of a task is asked again after this time, three and twelve times of it',
    { max: 100_000_000, readBy: daemonDoor },
  ),
  DAEMON_REPLY_TIMEOUT_MS: ms(10_000, 'how long a daemon may take to answer a question'),
  COMMAND_TIMEOUT_MS: ms(2_000, 'how long the instance that owns a device may take to confirm a command'),
  PROGRESS_INTERVAL_MS: ms(500, 'progress of one session is shown to apps at most this often', { readBy: daemonDoor }),
  PROGRESS_FLUSH_MS: ms(2_000, 'the latest progress of one session is stored at most this often', {
    readBy: daemonDoor,
  }),
  OPEN_SESSION_MS: ms(300_000, 'how long reading a session keeps its daemon watching it'),
  DEDUPE_WINDOW_MS: ms(30_000, 'the same message or completion within this time is one', { min: 0 }),
  QUEUE_TTL_DEFAULT_SECONDS: seconds(
    900,
    'how long a message waits for an offline device, unless the request says otherwise',
    { min: 0, max: 86_400 },
  ),
  RESUME_HISTORY_MS: ms(300_000, 'how long the kept frames of a user outlive the newest of them'),
  CREDENTIAL_RECHECK_MS: ms(300_000, 'how often the credentials of live daemons and apps are checked again'),
  LAST_SEEN_FLUSH_MS: ms(300_000, 'the time a device was last seen is stored at most this often', {
    readBy: daemonDoor,
  }),
  DEVICE_CODE_TTL_SECONDS: seconds(900, 'how long a code for registering a device is valid', { readBy: appDoor }),
  DEVICE_POLL_INTERVAL_SECONDS: seconds(5, 'how often a daemon is asked to poll while it registers', {
    readBy: appDoor,
  }),
  TICKET_TTL_SECONDS: seconds(30, 'how long a ticket for `/ws/attention` is valid', { readBy: appDoor }),
  OUTBOX_POLL_MS: ms(5_000, 'how often notifications that are due are looked for', { readBy: appDoor }),
  RATE_WINDOW_MS: ms(60_000, 'the window in which requests are counted', { readBy: appDoor }),
  MALFORMED_WINDOW_MS: ms(60_000, 'three malformed frames of a daemon within this time close its connection', {
    readBy: daemonDoor,
  }),
  SLOW_READER_STALL_MS: ms(
    10_000,
    'an app or daemon that takes nothing of what is waiting for it for this long is closed',
  ),
  VACUUM_INTERVAL_MS: ms(3_600_000, 'how often the embedded database is tidied', { readBy: ['standalone'] }),
  EXPIRY_TOLERANCE_MS: ms(5_000, 'a live socket is closed this long after its token expired', {
    min: 0,
    readBy: appDoor,
  }),
  IDEMPOTENCY_TTL_SECONDS: seconds(
    86_400,
    'how long an `Idempotency-Key` is remembered; the same for all, because gateways delete what apis look up',
  ),
};
