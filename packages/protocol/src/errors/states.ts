import type { ErrorRow } from './row.ts';

/** Codes of correct requests that the state of a session, a device or the relay does not allow, and of limits and failures: status 409 to 504. */
export const stateErrors = {
  ITEM_NEEDS_ANSWER: {
    status: 409,
    sentence: 'The item closes when its question is answered or its machine is online again. You can snooze it.',
  },
  NO_RUNNING_TASK: {
    status: 409,
    sentence: 'There is nothing to cancel: the session has no such running or queued task.',
  },
  TASK_ALREADY_SENT: {
    status: 409,
    sentence: 'The message was already sent to the daemon. Cancel the session, or send another message.',
  },
  TASK_ALREADY_ENDED: {
    status: 409,
    sentence: 'The message is no longer queued: it is completed, cancelled or expired.',
  },
  TASK_NOT_CHANGEABLE: {
    status: 409,
    sentence: 'This message cannot be changed in this way. Remove it instead.',
    note: 'The first message of a session and an answer cannot be moved, the text of a choice cannot be edited, a delayed message has no place in the queue, and only a delayed message can get another time.',
    detail: true,
  },
  QUEUE_FULL: {
    status: 409,
    sentence: 'The queue is full. Wait, or cancel some messages.',
    note: 'The session has 20 queued messages (`QUEUE_LIMIT`), or the queued images exceed 64 MiB for the device or 128 MiB for all devices of the user.',
    detail: true,
  },
  FILE_INCOMPLETE: {
    status: 409,
    sentence: 'The pieces of the file did not arrive in order. Try again.',
    note: 'The piece does not begin where the received part of the file ends. Send the piece at `received` of the answer.',
  },
  DEVICE_FULL: {
    status: 409,
    sentence: 'The machine has no room for the file. Send the messages of the other files, or drop files.',
    note: 'Its disk is full, or 512 MiB of files wait there.',
  },
  TOO_MANY_SCHEDULES: { status: 409, sentence: 'You have 50 schedules, which is the limit. Delete one first.' },
  TOO_MANY_LATER: {
    status: 409,
    sentence: 'The session has 20 delayed messages, or you have 200, which is the limit. Remove one first.',
  },
  TOO_MANY_DEVICES: {
    status: 409,
    sentence: 'You have the maximum number of machines. Remove one, then approve again.',
    note: 'The limit is `DEVICES_PER_USER`.',
    detail: true,
  },
  TOO_MANY_KEYS: { status: 409, sentence: 'You have 20 registration keys, which is the limit. Revoke one first.' },
  TOO_MANY_TOKENS: {
    status: 409,
    sentence: 'You have 50 tokens of ACP clients, which is the limit. Revoke one first.',
  },
  TOO_MANY_INVITATIONS: {
    status: 409,
    sentence: 'You have the maximum number of unused invitations. Wait until one is used or expires after a week.',
    note: 'The limit is `INVITATIONS_PER_USER`.',
    detail: true,
  },
  TOO_MANY_SUBSCRIPTIONS: {
    status: 409,
    sentence: 'You have 20 notification addresses, which is the limit. Remove one first.',
  },
  SUBSCRIPTION_TAKEN: {
    status: 409,
    sentence: 'This browser is subscribed for another account. Reset its notifications, then try again.',
    note: 'Renew the subscription in the browser, then add it again.',
  },
  KIND_NOT_CONFIGURED: {
    status: 409,
    sentence: 'This relay does not support this kind of address. Choose another one.',
    note: 'GET /api/push/config lists the kinds. The operator configures them, and `PUSH_SECRET` for all.',
    detail: true,
  },
  TOO_MANY_WATCHED: { status: 409, sentence: 'You watch 1,000 sessions, which is the limit. Unwatch some.' },
  TOO_MANY_SESSIONS: {
    status: 409,
    sentence: 'The machine has the maximum number of sessions. Delete some.',
    note: 'The limit is `SESSIONS_PER_DEVICE`.',
    detail: true,
  },
  SCOPE_NOT_AVAILABLE: {
    status: 409,
    sentence: 'This comparison is not possible here. Choose another one.',
    note: '`scopes` of the answer lists them.',
  },
  NOT_SUPPORTED_BY_DEVICE: {
    status: 409,
    sentence: 'The daemon of this machine does not support this. Update it.',
    note: 'The daemon did not declare the capability, such as images, context usage or folders. Update it, or do not use the capability.',
    detail: true,
  },
  AGENT_NOT_OFFERED: {
    status: 409,
    sentence: 'The machine does not offer this agent. Choose another one.',
    note: 'GET /api/devices lists its `agents`.',
  },
  SETTINGS_NOT_SUPPORTED: {
    status: 409,
    sentence: 'The agent of the session has no settings, or the daemon is too old to report them. Update the daemon.',
    detail: true,
  },
  SESSION_NOT_RESOLVED: {
    status: 409,
    sentence: 'The agent never started this session, so it cannot continue. Start a new session.',
    note: 'The daemon never named the session.',
    detail: true,
  },
  PROMPT_ALREADY_ANSWERED: {
    status: 409,
    sentence: 'The question was already answered. Nothing was sent to the agent.',
    note: '`answer` has the option, the time and the person.',
  },
  PROMPT_SUPERSEDED: {
    status: 409,
    sentence: 'The question is closed, or differs from the question that was shown. Nothing was sent to the agent.',
    note: '`prompts` lists the open questions: answer one of them.',
  },
  AGENT_ASKS: {
    status: 409,
    sentence: 'The agent waits for an answer. Answer its question first.',
    note: 'No message goes into its turn. `prompts` lists the open questions.',
  },
  PROMPT_REFERENCE_REQUIRED: {
    status: 409,
    sentence: 'The agent asks for a permission. Answer its question first.',
    note: 'This relay does not accept a plain message as the answer. Answer by the id of the question, or send `answers`: null with a message that waits until then.',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    sentence: 'Nothing was sent: this Idempotency-Key was used with another body. Use a new key.',
  },
  CODE_ALREADY_USED: {
    status: 409,
    sentence: 'This code was already approved or denied. Start again on the machine to get another one.',
  },
  CHANGES_TOO_LARGE: {
    status: 413,
    sentence:
      'The comparison takes too long or is too large. Choose another one, such as the edits that the agent reported.',
    note: '`scopes` of the answer lists them.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    sentence: 'The request is too large. A message can have 256 KiB, an image 5 MiB.',
    note: 'The body can have 1 MiB (16 MiB if the route accepts images), all images together 10 MiB. Send less.',
    detail: true,
  },
  FILE_TOO_LARGE: { status: 413, sentence: 'A file can have 25 MiB. Send a smaller one.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    sentence: 'The relay does not support the Content-Type or the Content-Encoding of this request.',
    note: 'Send `Content-Type: application/json`, or `application/octet-stream` with a piece of a file.',
    detail: true,
  },
  TOO_MANY_CONNECTIONS: {
    status: 429,
    sentence: 'The maximum number of your apps is connected. Close some.',
    note: 'Or wait `Retry-After` seconds.',
    detail: true,
  },
  TOO_MANY_AGENT_TURNS: {
    status: 429,
    sentence: 'Agents have started too many turns. Wait until running turns complete, or ask the person.',
    note: 'The limits are per hour, and at the same time. Or wait `retryAfter` seconds.',
    detail: true,
  },
  RATE_LIMITED: {
    status: 429,
    sentence: 'Too many requests. Try again in a minute.',
    note: 'Wait `retryAfter` seconds.',
    detail: true,
  },
  INTERNAL_ERROR: {
    status: 500,
    sentence: 'The relay failed. Try again.',
    note: 'If it fails again, report the X-Request-Id of the response to the operator.',
  },
  DEVICE_ERROR: {
    status: 502,
    sentence: 'The daemon answered with an error. Check the machine.',
    note: '`error` has its text.',
    detail: true,
  },
  DEVICE_OFFLINE: {
    status: 503,
    sentence: 'The machine is offline. Start its daemon, or try again later.',
    note: 'To queue a message, send it without `queueTtlSeconds: 0`.',
  },
  GATEWAY_FULL: {
    status: 503,
    sentence: 'This gateway is full, or released the daemon to spread the load. Connect again.',
    note: 'Wait `Retry-After` seconds.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    sentence: 'The relay cannot do this right now. Try again in a few seconds.',
    note: 'A dependency of the relay is down, or the instance is overloaded or shutting down. Retry in `Retry-After` seconds.',
    detail: true,
  },
  DEVICE_TIMEOUT: {
    status: 504,
    sentence: 'The machine did not answer in time. Check it, or try again.',
  },
} as const satisfies Record<string, ErrorRow>;
