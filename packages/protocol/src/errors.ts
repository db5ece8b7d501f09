export * from './task-errors.ts';

/**
 * The error catalogue (rules, 6.2): one row per code. Clients branch on `code`; `docs/errors.md` is generated from here.
 */
export const errorCatalogue = {
  INVALID_REQUEST: {
    status: 400,
    meaning: 'A parameter, header or body field is missing or invalid. Correct the field that `error` names.',
  },
  UPGRADE_REQUIRED: {
    status: 426,
    meaning:
      'This path serves WebSockets, but the request has no `Upgrade` header. A proxy probably removes it: configure the proxy to pass `Upgrade` and `Connection`.',
  },
  INVALID_IMAGE: {
    status: 400,
    meaning:
      'An image is not a base64 data URL of png, jpeg, gif or webp, or its bytes do not match its type. Replace the image that `error` names.',
  },
  INVALID_ANSWER: {
    status: 400,
    meaning:
      'The answer does not match the question: the option does not exist, or a field is missing or invalid. Correct the field that `error` names.',
  },
  INVALID_SETTING: {
    status: 400,
    meaning:
      'The session does not have this setting, or the setting does not have this value. Choose one that GET …/settings lists.',
  },
  ADDRESS_NOT_ALLOWED: {
    status: 400,
    meaning:
      'The notification address is not https on port 443, or resolves to a private network. The operator of the relay can allow its host with `PUSH_ALLOWED_HOSTS`.',
  },
  INVALID_FILE: {
    status: 400,
    meaning:
      'The id of the file has another size on the device, or the piece exceeds the announced size. Use a new id for each file.',
  },
  UNAUTHORIZED: { status: 401, meaning: 'The request has no credential. Send `Authorization: Bearer <access token>`.' },
  INVALID_TOKEN: {
    status: 401,
    meaning: 'The credential is not valid here. Sign in or register the device again.',
  },
  TOKEN_EXPIRED: { status: 401, meaning: 'The credential has expired. Get a new one.' },
  TOKEN_REVOKED: { status: 401, meaning: 'The credential was revoked. Sign in, or register the device, again.' },
  FORBIDDEN: { status: 403, meaning: 'The credential is valid but does not allow this; `error` has the reason.' },
  INSUFFICIENT_SCOPE: {
    status: 403,
    meaning: 'The access token lacks a scope. Request a token with the scope that `WWW-Authenticate` names.',
  },
  DEVICE_TOKEN_NOT_ALLOWED: { status: 403, meaning: 'This route requires a user. Send the access token of a user.' },
  SIGN_IN_NOT_RECENT: {
    status: 403,
    meaning:
      'This requires a sign-in within the last 15 minutes. Ask the person for the password or for a new sign-in, then repeat the request with a token from that sign-in.',
  },
  AGENT_CHAIN_TOO_DEEP: {
    status: 403,
    meaning:
      'The chain of agents that started one another has reached its maximum depth. Finish the work yourself, or ask the person.',
  },
  PERSON_MUST_ANSWER: {
    status: 403,
    meaning:
      'An agent cannot give this answer: the question is about its own session, the answer would apply permanently, or only a person can answer. Ask the person to answer in an app.',
  },
  FILE_HIDDEN: {
    status: 403,
    meaning:
      'The machine does not send the content of this file, because it can contain secrets. The owner of the machine can allow it with `--show`.',
  },
  KEY_NOT_VALID: {
    status: 403,
    meaning:
      'The registration key is used up, revoked, expired or unknown. Create another with `relay devices invite`.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    meaning:
      'The page that opened the WebSocket is not an allowed origin. The operator of the relay can add it to `ALLOWED_ORIGINS`.',
  },
  NOT_FOUND: { status: 404, meaning: 'The route does not exist, or this user has no such resource. Check the URL.' },
  SESSION_NOT_FOUND: { status: 404, meaning: 'This user has no such session. GET /api/sessions lists all sessions.' },
  DEVICE_NOT_FOUND: { status: 404, meaning: 'This user has no such device. GET /api/devices lists all devices.' },
  TASK_NOT_FOUND: { status: 404, meaning: 'This user has no such task. Read the session again.' },
  PROMPT_NOT_FOUND: {
    status: 404,
    meaning: 'This session has no such question. `prompts` of the session lists the open questions.',
  },
  CONTENT_NOT_FOUND: {
    status: 404,
    meaning:
      'The device does not have this content: the item does not list it, or the daemon removed it to make room for newer content. Load the item again.',
  },
  FILE_NOT_FOUND: {
    status: 404,
    meaning:
      'The file or folder does not exist in this session, or the machine does not share it; the error is the same for both. List the folder above it. A file for a device: the device does not have it, or erased it after 24 h. Announce it again.',
  },
  FOLDER_NOT_FOUND: {
    status: 404,
    meaning: 'The folder does not exist, or the daemon of this device does not share it. List the folder above it.',
  },
  CODE_NOT_FOUND: {
    status: 404,
    meaning:
      'No device waits with this user code, or the code has expired. Start the registration on the device again.',
  },
  KEY_NOT_FOUND: {
    status: 404,
    meaning: 'This user has no such registration key, or it has expired. List the keys again.',
  },
  TOKEN_NOT_FOUND: {
    status: 404,
    meaning: 'This user has no such token of an ACP client, or the token is no longer valid. List the tokens again.',
  },
  SUBSCRIPTION_NOT_FOUND: {
    status: 404,
    meaning: 'This user has no such notification address. GET /api/push/subscriptions lists all addresses.',
  },
  DELIVERY_NOT_FOUND: { status: 404, meaning: 'This user has no such delivery. Deliveries are kept for 30 days.' },
  ITEM_NOT_FOUND: { status: 404, meaning: 'This user has no such inbox item. Load the inbox again.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The route does not support this method. Use one that `Allow` lists.' },
  REQUEST_TIMEOUT: {
    status: 408,
    meaning:
      'The relay received no data of the body for 15 s, or the request was incomplete after 60 s. Send the request again.',
  },
  ITEM_NEEDS_ANSWER: {
    status: 409,
    meaning:
      'The item closes when its question is answered or its machine is online again. Until then you can only snooze it.',
  },
  NO_RUNNING_TASK: { status: 409, meaning: 'The session has no running or queued task to cancel. Reload the session.' },
  TASK_ALREADY_SENT: {
    status: 409,
    meaning: 'The message was already sent to the daemon. Cancel the session, or send another message.',
  },
  TASK_ALREADY_ENDED: {
    status: 409,
    meaning: 'The message is no longer queued: it is completed, cancelled or expired. Read the queue again.',
  },
  TASK_NOT_CHANGEABLE: {
    status: 409,
    meaning:
      'The first message of a session and an answer cannot be moved, the text of a choice cannot be edited, a delayed message has no place in the queue, and only a delayed message can get another time. Remove the message instead.',
  },
  QUEUE_FULL: {
    status: 409,
    meaning:
      'The session already has 20 queued messages (`QUEUE_LIMIT`), or the queued images exceed 64 MiB for the device or 128 MiB for all devices of the user. Wait, or cancel some messages.',
  },
  FILE_INCOMPLETE: {
    status: 409,
    meaning:
      'The piece does not begin where the received part of the file ends. Send the piece at `received` of the answer.',
  },
  DEVICE_FULL: {
    status: 409,
    meaning:
      'The device has no room for the file: its disk is full, or 512 MiB of files wait there. Send the messages of the other files, or drop files.',
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
    meaning: 'The session has 20 delayed messages, or the user has 200, which is the limit. Remove some.',
  },
  TOO_MANY_DEVICES: {
    status: 409,
    meaning: 'The user has the maximum number of devices (`DEVICES_PER_USER`). Remove some, then approve again.',
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
    meaning:
      'The user has the maximum number of unused invitations (`INVITATIONS_PER_USER`). Wait until some are used, or until they expire after a week.',
  },
  TOO_MANY_SUBSCRIPTIONS: {
    status: 409,
    meaning: 'The user has 20 notification addresses, which is the limit. Remove one.',
  },
  SUBSCRIPTION_TAKEN: {
    status: 409,
    meaning:
      'This browser is subscribed for another account. Renew the subscription in the browser, then add it again.',
  },
  KIND_NOT_CONFIGURED: {
    status: 409,
    meaning: 'This relay does not support this kind of address. Choose one that GET /api/push/config lists.',
  },
  TOO_MANY_WATCHED: {
    status: 409,
    meaning: 'The user watches 1,000 sessions, which is the limit. Unwatch some.',
  },
  TOO_MANY_SESSIONS: {
    status: 409,
    meaning: 'The device has the maximum number of sessions (`SESSIONS_PER_DEVICE`). Delete some.',
  },
  SCOPE_NOT_AVAILABLE: {
    status: 409,
    meaning: 'This comparison is not possible here. Choose one that `scopes` of the answer lists.',
  },
  NOT_SUPPORTED_BY_DEVICE: {
    status: 409,
    meaning:
      'The daemon of the device did not declare this capability, such as images, context usage or folders. Update the daemon, or do not use the capability.',
  },
  AGENT_NOT_OFFERED: {
    status: 409,
    meaning: 'The machine does not offer this agent. Choose one of its `agents` in GET /api/devices.',
  },
  SETTING_NOT_ALLOWED: {
    status: 403,
    meaning:
      'The machine does not allow this value from apps, because its daemon runs with `--no-full-access` or `--ask-at-desk`. Choose another value.',
  },
  SETTINGS_NOT_SUPPORTED: {
    status: 409,
    meaning: 'The agent of the session has no settings, or the daemon is too old to report them. Update the daemon.',
  },
  SESSION_NOT_RESOLVED: {
    status: 409,
    meaning: 'The daemon never named this session, so it cannot continue. Start a new session.',
  },
  PROMPT_ALREADY_ANSWERED: {
    status: 409,
    meaning: 'The question was already answered. `answer` has the option, the time and the person.',
  },
  PROMPT_SUPERSEDED: {
    status: 409,
    meaning:
      'The question is closed, or differs from the question that was shown. `prompts` lists the open questions: answer one of them.',
  },
  AGENT_ASKS: {
    status: 409,
    meaning:
      'The agent waits for an answer and takes no message into its turn. Answer the question; `prompts` lists the open questions.',
  },
  PROMPT_REFERENCE_REQUIRED: {
    status: 409,
    meaning:
      'A permission is open, and this relay does not accept a plain message as its answer. Answer it by its id, or send `answers`.',
  },
  IDEMPOTENCY_CONFLICT: { status: 409, meaning: 'This Idempotency-Key was used with another body. Use a new key.' },
  CODE_ALREADY_USED: {
    status: 409,
    meaning: 'This user code was already approved or denied. Start a new registration on the device if necessary.',
  },
  CHANGES_TOO_LARGE: {
    status: 413,
    meaning:
      'The comparison takes too long or is too large. Choose one that `scopes` of the answer lists: the edits that the agent reported.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    meaning:
      'The body exceeds 1 MiB (16 MiB if the route accepts images), a message 256 KiB, an image 5 MiB, or all images together 10 MiB. Send less.',
  },
  FILE_TOO_LARGE: { status: 413, meaning: 'A file can have 25 MiB. Send a smaller one.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    meaning: 'Send `Content-Type: application/json`, or `application/octet-stream` with a piece of a file.',
  },
  TOO_MANY_CONNECTIONS: {
    status: 429,
    meaning: 'The user has the maximum number of connected apps. Close some, or wait `Retry-After` seconds.',
  },
  TOO_MANY_AGENT_TURNS: {
    status: 429,
    meaning:
      'Agents have started the maximum number of turns per hour, or at the same time. Wait until running turns complete, or `retryAfter` seconds.',
  },
  RATE_LIMITED: { status: 429, meaning: 'Too many requests; wait `retryAfter` seconds.' },
  INTERNAL_ERROR: {
    status: 500,
    meaning: 'The relay failed. Report the X-Request-Id of the response to the operator.',
  },
  DEVICE_ERROR: { status: 502, meaning: 'The daemon answered with an error; `error` has its text. Check the machine.' },
  DEVICE_OFFLINE: { status: 503, meaning: 'The device is not connected. Start its daemon, or try again later.' },
  GATEWAY_FULL: {
    status: 503,
    meaning:
      'This gateway is full, or released the daemon to spread the load. Connect again after `Retry-After` seconds.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'A dependency of the relay is down. Retry in `Retry-After` seconds.',
  },
  DEVICE_TIMEOUT: {
    status: 504,
    meaning: 'The daemon did not respond in time. Try again, and check the machine if it keeps failing.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof errorCatalogue;

/** The strings of RFC 8628 §3.5 and RFC 6749 §5.2 that polling for a device answers, verbatim (rules, 7.2). */
export const pollErrors = {
  authorization_pending: 'The user has not answered yet; poll again after `interval` seconds.',
  slow_down: 'The daemon polled faster than half the interval; wait longer.',
  expired_token: 'The code has expired; request a new one.',
  access_denied: 'The user denied the request; ask the user, then register again.',
  invalid_grant: 'This device code is unknown or already redeemed; register again.',
} as const;

export type PollError = keyof typeof pollErrors;

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
    'This path serves WebSockets, but the request has no Upgrade header. A proxy probably removes it: configure the proxy to pass the headers Upgrade and Connection.',
    { headers: { Upgrade: 'websocket', Connection: 'Upgrade' } },
  );

export const strippedAdvice =
  'a proxy in between probably blocks WebSockets: ask its operator to pass the headers Upgrade and Connection';

/**
 * Whether a proxy or an older relay answers like this when the request for a WebSocket lost its `Upgrade`. A 426 of a relay explains itself, and can
 * be about the version of the daemon (rules, 9.14).
 */
export const isStripped = (status: number): boolean => [200, 400, 404, 405, 501].includes(status);
