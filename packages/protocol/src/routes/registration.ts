/** Routes that make a machine a device: codes (RFC 8628) and their approval. */
import * as story from '../examples/story.ts';
import { agentType } from '../rest/device.ts';
import { type Static, Type, count, flag, id, limits, line, maybe, oneOf, record, text, time } from '../schema.ts';
import { body } from './body.ts';
import { type PollError, pollErrors } from '../errors.ts';
import type { Rows } from './route.ts';

const hostname = text('Host name of the machine', { minLength: 1, maxLength: limits.hostnameCharacters });
const deviceName = text('Display name; default: the host name', { maxLength: limits.nameCharacters });

export const RequestCode = body(
  Type.Object(
    {
      hostname,
      agent_type: maybe(agentType),
      agentType: maybe(agentType),
      device_name: maybe(deviceName),
      deviceName: maybe(deviceName),
      key: maybe(line('A registration key: approves the code at once in the name of its creator')),
    },
    {
      title: 'RequestCode',
      description:
        'Begin a registration. Each field is accepted in both spellings; `agent_type` or `agentType` is required.',
    },
  ),
  { hostname: story.hostname, agent_type: story.agentType, device_name: story.deviceName },
);

export const DeviceCode = body(
  record('DeviceCode', 'The code that a daemon shows and the code for its polling, in both spellings.', {
    device_code: line('Secret of the daemon, for polling'),
    user_code: line('Code that the person types, `XXXX-XXXX`'),
    verification_uri: text('Page on which the person types it', { maxLength: limits.pathCharacters }),
    verification_uri_complete: text('The same page with the code filled in', { maxLength: limits.pathCharacters }),
    verification_url: text('The same page with the code filled in', { maxLength: limits.pathCharacters }),
    expires_in: count('Seconds'),
    interval: count('Seconds between polls'),
    deviceCode: line('= device_code'),
    userCode: line('= user_code'),
    verificationUri: text('= verification_uri', { maxLength: limits.pathCharacters }),
    verificationUrl: text('= verification_url', { maxLength: limits.pathCharacters }),
    expiresIn: count('= expires_in'),
    approved: maybe(flag('A registration key approved the code: poll at once')),
  }),
  {
    device_code: story.deviceCode,
    user_code: story.userCode,
    verification_uri: 'https://relay.example.com/device',
    verification_uri_complete: `https://relay.example.com/device?user_code=${story.userCode}`,
    verification_url: `https://relay.example.com/device?user_code=${story.userCode}`,
    expires_in: 900,
    interval: 5,
    deviceCode: story.deviceCode,
    userCode: story.userCode,
    verificationUri: 'https://relay.example.com/device',
    verificationUrl: `https://relay.example.com/device?user_code=${story.userCode}`,
    expiresIn: 900,
  },
);

const PollCode = body(
  Type.Object(
    { device_code: maybe(line('`device_code` of the first answer')), deviceCode: maybe(line('= device_code')) },
    { title: 'PollCode', description: 'Poll for the credential. Either spelling.' },
  ),
  { device_code: story.deviceCode },
);

const DeviceCredential = body(
  record('DeviceCredential', 'The credential of the device, in every spelling that daemons read. Shown only once.', {
    device_id: id('Device id'),
    refresh_token: line('Bearer token for `/ws/daemon`'),
    deviceId: id('= device_id'),
    refreshToken: line('= refresh_token'),
    access_token: line('= refresh_token; the daemon does not exchange it for another token'),
    accessToken: line('= refresh_token'),
    expires_in: count('Seconds until it expires if the device does not connect; every connection restarts the period'),
    expiresIn: count('= expires_in'),
    token_type: Type.Literal('Bearer'),
  }),
  {
    device_id: story.deviceId,
    refresh_token: story.refreshToken,
    deviceId: story.deviceId,
    refreshToken: story.refreshToken,
    access_token: story.refreshToken,
    accessToken: story.refreshToken,
    expires_in: 7_776_000,
    expiresIn: 7_776_000,
    token_type: 'Bearer',
  },
);

export const CodeDetail = body(
  record('CodeDetail', 'The machine that requests registration.', {
    userCode: line('`XXXX-XXXX`'),
    hostname: line('Host name of the machine'),
    agentType: line('Agent type name'),
    deviceName: line('Display name'),
    requestedFrom: line('Network address of the request'),
    requestedAt: time('Time of the request'),
    expiresAt: time('Expiry of the code'),
  }),
  {
    userCode: story.userCode,
    hostname: story.hostname,
    agentType: story.agentType,
    deviceName: story.deviceName,
    requestedFrom: '192.0.2.17',
    requestedAt: story.times.codeRequested,
    expiresAt: '2026-03-14T09:13:12.402Z',
  },
);

const CodeApproved = body(
  record('CodeApproved', 'The device was approved and can fetch its credential.', {
    deviceId: id('Its device id'),
    approved: Type.Literal(true),
  }),
  { deviceId: story.deviceId, approved: true },
);

const CodeDenied = body(record('CodeDenied', 'The device was denied.', { approved: Type.Literal(false) }), {
  approved: false,
});

export const PollErrorResponse = body(
  record('PollErrorResponse', 'Why polling returned no credential: `error` is the string of RFC 8628, verbatim.', {
    error: oneOf(Object.keys(pollErrors) as PollError[], 'Why'),
    code: line('The same string in capitals'),
    status: Type.Literal(400, { description: 'HTTP status' }),
  }),
  { error: 'authorization_pending', code: 'AUTHORIZATION_PENDING', status: 400 },
);

export type RequestCode = Static<typeof RequestCode>;
export type DeviceCode = Static<typeof DeviceCode>;
export type CodeDetail = Static<typeof CodeDetail>;

export const registrationRoutes = {
  requestCode: {
    method: 'POST',
    path: '/api/devices/code',
    credential: 'optional',
    summary: 'Begin the registration of a device',
    body: RequestCode,
    success: { 200: DeviceCode },
    errors: ['KEY_NOT_VALID', 'TOO_MANY_DEVICES'],
  },
  pollCode: {
    method: 'POST',
    path: '/api/devices/token',
    credential: 'optional',
    summary: 'Poll for the credential; 400 carries the strings of RFC 8628',
    body: PollCode,
    success: { 200: DeviceCredential },
    refusals: { 400: PollErrorResponse },
    errors: [],
    limit: 'misuse',
  },
  readCode: {
    method: 'GET',
    path: '/api/devices/code/:userCode',
    credential: 'user',
    summary: 'The machine that requests registration',
    scope: 'devices:write',
    success: { 200: CodeDetail },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED'],
  },
  approveCode: {
    method: 'POST',
    path: '/api/devices/code/:userCode/approve',
    credential: 'user',
    summary: 'Approve the device',
    scope: 'devices:write',
    success: { 200: CodeApproved },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED', 'TOO_MANY_DEVICES', 'SIGN_IN_NOT_RECENT'],
  },
  denyCode: {
    method: 'POST',
    path: '/api/devices/code/:userCode/deny',
    credential: 'user',
    summary: 'Deny the device',
    scope: 'devices:write',
    success: { 200: CodeDenied },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED'],
  },
} as const satisfies Rows;
