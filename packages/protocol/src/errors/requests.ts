import type { ErrorRow } from './row.ts';

/** Codes of requests that are malformed, not allowed, or about something that does not exist: status 400 to 408. */
export const requestErrors = {
  INVALID_REQUEST: {
    status: 400,
    sentence: 'A parameter, header or body field is missing or invalid.',
    note: 'Correct the field that `error` names.',
    detail: true,
  },
  UPGRADE_REQUIRED: {
    status: 426,
    sentence:
      'This path serves WebSockets, but the request has no Upgrade header. A proxy probably removes it: configure the proxy to pass the headers Upgrade and Connection.',
  },
  INVALID_IMAGE: {
    status: 400,
    sentence: 'An image is not valid. Remove it, or save it as PNG.',
    note: 'An image is a base64 data URL of png, jpeg, gif or webp, and its bytes match its type. Replace the image that `error` names.',
    detail: true,
  },
  INVALID_ANSWER: {
    status: 400,
    sentence: 'The answer does not match the question. Choose one of its answers.',
    note: 'The option does not exist, or a field is missing or invalid. Correct the field that `error` names.',
    detail: true,
  },
  INVALID_SETTING: {
    status: 400,
    sentence: 'The session does not have this setting, or the setting does not have this value. Choose another one.',
    note: 'GET …/settings lists settings and values.',
    detail: true,
  },
  ADDRESS_NOT_ALLOWED: {
    status: 400,
    sentence: 'Relay cannot notify this address. It must be https on port 443, and reachable from the internet.',
    note: 'The address must not resolve to a private network. The operator of the relay can allow its host with `PUSH_ALLOWED_HOSTS`.',
    detail: true,
  },
  INVALID_FILE: {
    status: 400,
    sentence: 'The machine has another file under this id. Remove the file, then add it again.',
    note: 'The id has another size on the device or is not a ULID, or the piece exceeds the announced size. Use a new id for each file.',
  },
  INVALID_SCHEDULE: {
    status: 400,
    sentence: 'The rule of the schedule is not valid.',
    note: 'The rule is not one of five fields, its zone does not exist, or it has no time within a year. `error` names the part.',
    detail: true,
  },
  SCHEDULE_TOO_OFTEN: {
    status: 400,
    sentence: 'Two times of the schedule are nearer than 15 minutes. Choose a rule with fewer times.',
  },
  UNAUTHORIZED: {
    status: 401,
    sentence: 'You are not signed in. Sign in again.',
    note: 'The request has no credential. Send `Authorization: Bearer <access token>`.',
    detail: true,
  },
  INVALID_TOKEN: {
    status: 401,
    sentence: 'This sign-in is not valid here. Sign in again.',
    note: 'If the credential belongs to a device, register the device again.',
    detail: true,
  },
  TOKEN_EXPIRED: {
    status: 401,
    sentence: 'This sign-in has expired. Sign in again.',
    note: 'Get a new access token. A device that was away for too long registers again.',
    detail: true,
  },
  TOKEN_REVOKED: {
    status: 401,
    sentence: 'This sign-in was revoked. Sign in again.',
    note: 'A device that its owner removed registers again.',
    detail: true,
  },
  FORBIDDEN: {
    status: 403,
    sentence: 'The credential is valid but does not allow this.',
    note: '`error` has the reason.',
    detail: true,
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    sentence: 'This sign-in does not allow this. Sign in again and grant it.',
    note: 'Request a token with the scope that `WWW-Authenticate` names.',
    detail: true,
  },
  DEVICE_TOKEN_NOT_ALLOWED: {
    status: 403,
    sentence: 'This is the credential of a machine. Sign in as a user.',
  },
  SIGN_IN_NOT_RECENT: {
    status: 403,
    sentence: 'This requires a sign-in within the last 15 minutes. Enter your password, or sign in again.',
    note: 'Repeat the request with a token from that sign-in.',
  },
  AGENT_CHAIN_TOO_DEEP: {
    status: 403,
    sentence: 'Too many agents started one another in a row. Finish the work yourself, or ask the person.',
  },
  PERSON_MUST_ANSWER: {
    status: 403,
    sentence: 'Only a person can give this answer. Ask the person to answer in an app.',
    note: 'The question is about the own session of the agent, the answer would apply permanently, or the question requires a person.',
    detail: true,
  },
  FILE_HIDDEN: {
    status: 403,
    sentence: 'The machine does not send the content of this file, because it can contain secrets.',
    note: 'The owner of the machine can allow it with `--show`.',
  },
  KEY_NOT_VALID: {
    status: 403,
    sentence:
      'The registration key is used up, revoked, expired or unknown. Create another with "relay devices invite".',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    sentence:
      'The page that opened the WebSocket is not an allowed origin. The operator of the relay can add it to ALLOWED_ORIGINS.',
  },
  SETTING_NOT_ALLOWED: {
    status: 403,
    sentence: 'The machine does not allow this value from apps. Choose another value.',
    note: 'Its daemon runs with `--no-full-access` or `--ask-at-desk`.',
    detail: true,
  },
  NOT_FOUND: {
    status: 404,
    sentence: 'Not found. Check the URL.',
    note: 'The route does not exist, or this user has no such resource. GET /api/openapi.json lists all routes.',
    detail: true,
  },
  SESSION_NOT_FOUND: {
    status: 404,
    sentence: 'Session not found. It might have been deleted.',
    note: 'GET /api/sessions lists all sessions.',
  },
  DEVICE_NOT_FOUND: {
    status: 404,
    sentence: 'Machine not found. It might have been removed.',
    note: 'GET /api/devices lists all devices.',
  },
  TASK_NOT_FOUND: { status: 404, sentence: 'Task not found. Load the session again.' },
  PROMPT_NOT_FOUND: {
    status: 404,
    sentence: 'Question not found in this session. Nothing was sent to the agent.',
    note: '`prompts` of the session lists the open questions.',
  },
  CONTENT_NOT_FOUND: {
    status: 404,
    sentence: 'The machine does not have this content. Load the item again.',
    note: 'The item does not list it, or the daemon removed it to make room for newer content.',
  },
  FILE_NOT_FOUND: {
    status: 404,
    sentence: 'The file or folder does not exist, or the machine does not share it.',
    note: 'The error is the same for both. List the folder above it. A file for a device: the device does not have it, or erased it after 24 h. Announce it again.',
  },
  FOLDER_NOT_FOUND: {
    status: 404,
    sentence: 'The folder does not exist, or the machine does not share it. Choose another folder.',
    note: 'List the folder above it.',
  },
  CODE_NOT_FOUND: {
    status: 404,
    sentence: 'No machine waits with this code, or it has expired. Check it, or start again on the machine.',
  },
  KEY_NOT_FOUND: { status: 404, sentence: 'Registration key not found. It might have expired.' },
  TOKEN_NOT_FOUND: {
    status: 404,
    sentence: 'Token of an ACP client not found. It might have been revoked.',
  },
  SUBSCRIPTION_NOT_FOUND: {
    status: 404,
    sentence: 'Notification address not found. It might have been removed.',
    note: 'GET /api/push/subscriptions lists all addresses.',
  },
  DELIVERY_NOT_FOUND: {
    status: 404,
    sentence: 'Delivery not found. The relay keeps deliveries for 30 days.',
  },
  ITEM_NOT_FOUND: { status: 404, sentence: 'This item is no longer in your inbox. Load the inbox again.' },
  SCHEDULE_NOT_FOUND: {
    status: 404,
    sentence: 'Schedule not found. It might have been deleted.',
    note: 'GET /api/later lists them.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    sentence: 'The route does not support this method.',
    note: 'Use one that `Allow` lists.',
    detail: true,
  },
  REQUEST_TIMEOUT: {
    status: 408,
    sentence: 'The relay did not receive the complete request in time. Send it again.',
    note: 'It received no data of the body for 15 s, or the request was incomplete after 60 s.',
  },
} as const satisfies Record<string, ErrorRow>;
