/**
 * The error catalogue (rules, 6.2): one row per code. Clients branch on `code`; `docs/errors.md` is generated from here.
 */
export const errorCatalogue = {
  INVALID_REQUEST: { status: 400, meaning: 'A parameter, header or body field is missing or wrong; `error` names it.' },
  UPGRADE_REQUIRED: {
    status: 426,
    meaning:
      'This path serves WebSockets, and the request has no `Upgrade`. A proxy in between probably drops it: let it pass `Upgrade` and `Connection`.',
  },
  INVALID_IMAGE: {
    status: 400,
    meaning:
      'An image is no base64 data URL of png, jpeg, gif or webp, or its bytes are something else; `error` says which.',
  },
  INVALID_ANSWER: {
    status: 400,
    meaning:
      'The answer does not fit this question: no such option, or a field that is missing or wrong; `error` names it.',
  },
  INVALID_SETTING: {
    status: 400,
    meaning: 'The session has no such setting, or the setting no such value. GET …/settings lists both.',
  },
  ADDRESS_NOT_ALLOWED: {
    status: 400,
    meaning:
      'The address to notify is not https on port 443, or leads into a network that is not public. Its operator may allow hosts with `PUSH_ALLOWED_HOSTS`.',
  },
  UNAUTHORIZED: { status: 401, meaning: 'No credential was sent. Send `Authorization: Bearer <access token>`.' },
  INVALID_TOKEN: {
    status: 401,
    meaning: 'The credential is not valid here. Sign in again, or register the device again.',
  },
  TOKEN_EXPIRED: { status: 401, meaning: 'The credential has expired. Get a new one.' },
  TOKEN_REVOKED: { status: 401, meaning: 'The credential was revoked. Sign in, or register the device, again.' },
  FORBIDDEN: { status: 403, meaning: 'The credential is valid but may not do this.' },
  INSUFFICIENT_SCOPE: { status: 403, meaning: 'The access token lacks the scope named in `WWW-Authenticate`.' },
  DEVICE_TOKEN_NOT_ALLOWED: { status: 403, meaning: 'A device credential was used where a user is needed.' },
  SIGN_IN_NOT_RECENT: {
    status: 403,
    meaning:
      'This needs a sign-in of the last 15 minutes. Let the person enter the password, or sign in, again; then repeat the request with a token from that sign-in.',
  },
  AGENT_CHAIN_TOO_DEEP: {
    status: 403,
    meaning:
      'The chain of agents that started one another is as deep as it may be. Finish the work yourself, or ask the person.',
  },
  PERSON_MUST_ANSWER: {
    status: 403,
    meaning:
      'An agent cannot give this answer: it is about its own session, it would hold for good, or the question is for its person alone. Let the person answer in an app.',
  },
  FILE_HIDDEN: {
    status: 403,
    meaning:
      'The machine keeps the content of this file: it may hold secrets. Its owner can change that with `--show`.',
  },
  KEY_NOT_VALID: {
    status: 403,
    meaning:
      'The registration key is used up, was revoked, has expired or was never one. Make another: `relay devices invite`.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    meaning: 'The page that opened the WebSocket is not on the list of allowed origins.',
  },
  NOT_FOUND: { status: 404, meaning: 'No such route, or no such thing for this user.' },
  SESSION_NOT_FOUND: { status: 404, meaning: 'This user has no such session.' },
  DEVICE_NOT_FOUND: { status: 404, meaning: 'This user has no such device.' },
  TASK_NOT_FOUND: { status: 404, meaning: 'This user has no such task.' },
  PROMPT_NOT_FOUND: { status: 404, meaning: 'This session has no such question.' },
  CONTENT_NOT_FOUND: {
    status: 404,
    meaning:
      'The device does not have this content: the item names no such thing, or it was removed to make room for newer ones.',
  },
  FILE_NOT_FOUND: {
    status: 404,
    meaning:
      'There is no such file or folder in this session, or it lies outside what the machine shares. The answer does not tell which.',
  },
  FOLDER_NOT_FOUND: {
    status: 404,
    meaning:
      'The daemon of this device lets apps look into no such folder: there is none, or it lies outside what is allowed there.',
  },
  CODE_NOT_FOUND: { status: 404, meaning: 'No device waits under this user code, or it has expired.' },
  KEY_NOT_FOUND: { status: 404, meaning: 'This user has no such registration key, or it has expired.' },
  TOKEN_NOT_FOUND: { status: 404, meaning: 'This user has no such token of an ACP client, or it is no longer valid.' },
  SUBSCRIPTION_NOT_FOUND: { status: 404, meaning: 'This user has no such address to notify.' },
  DELIVERY_NOT_FOUND: { status: 404, meaning: 'This user has no such delivery; it is kept for 30 days.' },
  ITEM_NOT_FOUND: { status: 404, meaning: 'This user has no such item in the inbox.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The route exists, the method does not; `Allow` lists what does.' },
  REQUEST_TIMEOUT: {
    status: 408,
    meaning: 'Nothing of the body came for 15 s, or the request was not complete after 60 s. Send it again.',
  },
  ITEM_NEEDS_ANSWER: {
    status: 409,
    meaning: 'The item ends when its question is answered, or its machine is back; until then it can only be snoozed.',
  },
  NO_RUNNING_TASK: { status: 409, meaning: 'Nothing runs or waits in this session that could be cancelled.' },
  TASK_ALREADY_SENT: {
    status: 409,
    meaning: 'The message was sent to the daemon and no longer waits. Cancel the session, or send another message.',
  },
  TASK_ALREADY_ENDED: {
    status: 409,
    meaning: 'The message no longer waits: it is done, was cancelled or has expired. Read the queue again.',
  },
  TASK_NOT_CHANGEABLE: {
    status: 409,
    meaning:
      'The first message of a session and an answer keep their places, and a choice keeps its text. A message with a time has no place, and only such a message gets another time. All of them may be removed.',
  },
  QUEUE_FULL: {
    status: 409,
    meaning:
      '20 messages (`QUEUE_LIMIT`) already wait in this session, or 64 MiB of images for the device, or 128 MiB for all devices of the user. Wait, or cancel some.',
  },
  INVALID_SCHEDULE: {
    status: 400,
    meaning:
      'The rule is not one of five fields, its zone does not exist, or it has no time within a year. The message names the part.',
  },
  SCHEDULE_TOO_OFTEN: {
    status: 400,
    meaning: 'Two times of the rule within a year are nearer than 15 minutes. Choose a rule with fewer times.',
  },
  SCHEDULE_NOT_FOUND: { status: 404, meaning: 'The user has no schedule with this id. GET /api/later lists them.' },
  TOO_MANY_SCHEDULES: { status: 409, meaning: 'The user has 50 schedules, which is the limit. Delete some.' },
  TOO_MANY_LATER: {
    status: 409,
    meaning:
      '20 messages of this session, or 200 of the user, have a time that has not come, which is the limit. Remove some.',
  },
  TOO_MANY_DEVICES: {
    status: 409,
    meaning: 'The user has as many devices as this relay takes from one. Remove some, then approve again.',
  },
  TOO_MANY_KEYS: {
    status: 409,
    meaning: 'The user has 20 registration keys that have not expired, which is the limit. Revoke one.',
  },
  TOO_MANY_TOKENS: {
    status: 409,
    meaning: 'The user has 50 tokens of ACP clients, which is the limit. Revoke one.',
  },
  TOO_MANY_INVITATIONS: {
    status: 409,
    meaning: 'As many invitations of this user wait as one may have. Wait until some are used or end after a week.',
  },
  TOO_MANY_SUBSCRIPTIONS: {
    status: 409,
    meaning: 'The user has 20 addresses to notify, which is the limit. Remove one.',
  },
  SUBSCRIPTION_TAKEN: {
    status: 409,
    meaning: 'This browser is subscribed for another account. Subscribe again in the browser, then add it again.',
  },
  KIND_NOT_CONFIGURED: {
    status: 409,
    meaning: 'This relay cannot notify in this way. GET /api/push/config lists the ways it can.',
  },
  TOO_MANY_WATCHED: {
    status: 409,
    meaning: 'The user watches 1,000 sessions, which is the limit. Stop watching some.',
  },
  TOO_MANY_SESSIONS: {
    status: 409,
    meaning: 'The device has as many sessions as this relay keeps for one. Delete some.',
  },
  SCOPE_NOT_AVAILABLE: {
    status: 409,
    meaning:
      'The files cannot be compared like this here. `scopes` of the answer names the comparisons that are possible.',
  },
  NOT_SUPPORTED_BY_DEVICE: {
    status: 409,
    meaning:
      'The daemon of the device did not declare this capability: accepting images, reporting its context, listing folders, or the like. Do without it, or update the daemon.',
  },
  AGENT_NOT_OFFERED: {
    status: 409,
    meaning: 'The machine does not offer this agent. GET /api/devices lists the `agents` of each.',
  },
  SETTING_NOT_ALLOWED: {
    status: 403,
    meaning:
      'The machine does not allow this value from afar: it was started with `--no-full-access` or `--ask-at-desk`. Choose another one.',
  },
  SETTINGS_NOT_SUPPORTED: {
    status: 409,
    meaning: 'The agent of the session has nothing to choose, or the daemon is too old to tell. Update the daemon.',
  },
  SESSION_NOT_RESOLVED: {
    status: 409,
    meaning: 'The daemon never named this session, so there is nothing to continue. Start a new one.',
  },
  PROMPT_ALREADY_ANSWERED: {
    status: 409,
    meaning: 'The question was answered before; `answer` says with what, when and by whom.',
  },
  PROMPT_SUPERSEDED: {
    status: 409,
    meaning: 'The question can no longer be answered, or is another one than was shown. `prompts` holds the open ones.',
  },
  AGENT_ASKS: {
    status: 409,
    meaning:
      'The agent waits for an answer, so nothing can be sent into its turn. Answer the question: `prompts` holds the open ones.',
  },
  PROMPT_REFERENCE_REQUIRED: {
    status: 409,
    meaning: 'A permission is open, and this relay takes no words for it. Answer it by its id, or send `answers`.',
  },
  IDEMPOTENCY_CONFLICT: { status: 409, meaning: 'This Idempotency-Key was used with another body.' },
  CODE_ALREADY_USED: { status: 409, meaning: 'This user code was already approved or denied.' },
  CHANGES_TOO_LARGE: {
    status: 413,
    meaning:
      'The comparison takes too long or is too large. `scopes` of the answer names what is possible: the edits that the agent reported.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning:
      'The body exceeds 1 MiB (16 MiB where images may be), a message 256 KiB, an image 5 MiB, or all of them 10 MiB.',
  },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'Send `Content-Type: application/json`.' },
  TOO_MANY_CONNECTIONS: {
    status: 429,
    meaning: 'As many apps of this user are connected as one may have. Close some, or wait `Retry-After` seconds.',
  },
  TOO_MANY_AGENT_TURNS: {
    status: 429,
    meaning:
      'Agents started as many turns in this hour, or at this time, as they may. Wait for those that run, or `retryAfter` seconds.',
  },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests; wait `retryAfter` seconds.' },
  INTERNAL_ERROR: { status: 500, meaning: 'A fault of the relay. The response carries an X-Request-Id to report.' },
  DEVICE_ERROR: { status: 502, meaning: 'The daemon answered with an error of its own.' },
  DEVICE_OFFLINE: { status: 503, meaning: 'The device is not connected.' },
  GATEWAY_FULL: {
    status: 503,
    meaning:
      'This gateway takes no more daemons, or let this one go to spread them; connect again after `Retry-After` seconds.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'Something the relay needs is down; retry after `Retry-After` seconds.',
  },
  DEVICE_TIMEOUT: { status: 504, meaning: 'The daemon did not answer in time.' },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCatalogue;

/** The strings of RFC 8628 §3.5 and RFC 6749 §5.2 that polling for a device answers, verbatim (rules, 7.2). */
export const pollErrors = {
  authorization_pending: 'The user has not answered yet; poll again after `interval` seconds.',
  slow_down: 'Polled below half the interval; wait longer.',
  expired_token: 'The code has expired; ask for a new one.',
  access_denied: 'The user denied the request.',
  invalid_grant: 'This device code is unknown or was already redeemed.',
} as const;

export type PollError = keyof typeof pollErrors;

/** Codes for `Task.error.code` and `Session.lastTask.code` (rules, 2.13). */
export const taskErrors = {
  AGENT_ERROR: 'The agent reported that it failed.',
  DELIVERY_UNKNOWN: 'The connection died while the task was being delivered. It may have run; it is never sent again.',
  TASK_LOST: 'The task was running, and the daemon no longer knows it. Its outcome is unknown.',
  TASK_EXPIRED: 'The device did not come online before the time to live of the message ended.',
  SESSION_NOT_RESOLVED: 'The first task of the session ended without a session on the device.',
  NOT_SUPPORTED_BY_DEVICE:
    'The message has images or settings, and the daemon that has connected since does not accept any.',
  SETTING_NOT_APPLIED: 'A setting that was chosen with the message could not be set. The message did not run.',
  AGENT_NOT_OFFERED: 'The daemon that connected since does not offer the agent of this session.',
  DEVICE_REMOVED: 'The device was removed while the message waited.',
  HELD_AT_DESK:
    'Another program on the machine has the session open and was not closed. Nothing was sent to the agent.',
  USAGE_LIMIT: 'The agent reached a usage limit. The queue of the session waits until it resets, or for a message.',
  OVERTAKEN: 'A message was sent in this session before the one that continues after a limit. That one was not sent.',
  STEER_DROPPED: 'The turn ended before the agent read the message. Send it again.',
  PROMPT_SUPERSEDED: 'The question that it answers was gone when the answer reached the daemon. Nothing was applied.',
} as const;

export type TaskErrorCode = keyof typeof taskErrors;

interface ErrorBody {
  error: string;
  code: string;
  status: number;
  retryAfter?: number;
  /** Fields of one refusal, `answer` for instance. */
  [detail: string]: unknown;
}

/** An error for clients: a stable code, a status and a text with advice. */
export class RelayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  /** Seconds until a retry makes sense, as an integer; becomes `Retry-After`. */
  readonly retryAfter: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Further members of the body. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown;
      retryAfter?: number;
      headers?: Record<string, string>;
      details?: Record<string, unknown>;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'RelayError';
    this.code = code;
    this.status = errorCatalogue[code].status;
    this.retryAfter = options.retryAfter;
    this.headers = options.headers ?? {};
    this.details = options.details ?? {};
  }

  get body(): ErrorBody {
    return {
      ...this.details,
      error: this.message,
      code: this.code,
      status: this.status,
      ...(this.retryAfter === undefined ? {} : { retryAfter: this.retryAfter }),
    };
  }
}

/** The refusal of a plain request to a path that serves WebSockets. */
export const upgradeRequired = () =>
  new RelayError(
    'UPGRADE_REQUIRED',
    'This path serves WebSockets, and the request came without Upgrade. A proxy in between probably drops it: let it pass the headers Upgrade and Connection.',
    { headers: { Upgrade: 'websocket', Connection: 'Upgrade' } },
  );

export const strippedAdvice =
  'a proxy on the way probably does not pass WebSockets: ask its operator to pass the headers Upgrade and Connection';

/**
 * Whether a proxy or an older relay answers like this when the request for a WebSocket lost its `Upgrade`. A 426 of a relay explains itself, and can
 * be about the version of the daemon (rules, 9.14).
 */
export const isStripped = (status: number): boolean => [200, 400, 404, 405, 501].includes(status);
