/** Routes of the credentials that a person creates: tokens of ACP clients (rules, 18.8) and registration keys (rules, 7.13). */
import * as story from '../examples/story.ts';
import { type Static, Type, count, id, limits, line, list, maybe, oneOf, record, text, time } from '../schema.ts';
import { body, exampleOf } from './body.ts';
import type { Rows } from './route.ts';

/** Tokens of one person that are valid. */
export const maxAcpTokens = 50;
/** A token expires after this time without use. */
export const acpTokenIdleSeconds = 90 * 24 * 60 * 60;
export const acpScopes = ['sessions:read', 'sessions:write'] as const;

const scopes = Type.Array(oneOf(acpScopes, 'Scope'), {
  description:
    '`sessions:read` allows reading and listing; `sessions:write` also allows prompts, answers and cancelling',
  minItems: 1,
  maxItems: acpScopes.length,
  uniqueItems: true,
});

const token = {
  id: id('Id of the token'),
  deviceId: id('The device that it gives access to'),
  name: line('Name of its client; empty if none was given'),
  scopes,
  createdAt: time('Creation time'),
  usedAt: maybe(time('Time of the latest connection with it')),
  expiresAt: time('Expiry, unless a client uses it before'),
};

const CreateAcpToken = body(
  record('CreateAcpToken', 'Create a token for an ACP client.', {
    deviceId: id('The device that it gives access to'),
    name: maybe(text('Name of its client', { maxLength: limits.nameCharacters })),
    scopes: maybe(scopes),
  }),
  { deviceId: story.deviceId, name: 'Phone', scopes: ['sessions:read', 'sessions:write'] },
);

export const AcpToken = body(record('AcpToken', 'A token of an ACP client, without its secret.', token), {
  id: '01KKNS0W7M4GQ0C3Y5R8T2V6XC',
  deviceId: story.deviceId,
  name: 'Phone',
  scopes: ['sessions:read' as const, 'sessions:write' as const],
  createdAt: story.times.registered,
  expiresAt: story.times.completed,
});

export const CreatedAcpToken = body(
  record('CreatedAcpToken', 'The new token. Its secret is shown only once.', {
    ...token,
    url: line('The address to enter in the client'),
    token: line('The secret, as a bearer token'),
  }),
  { ...exampleOf(AcpToken), url: `wss://relay.example.com/acp/${story.deviceId}`, token: story.acpToken },
);

const AcpTokenList = body(
  record('AcpTokenList', 'Valid tokens of ACP clients.', {
    tokens: list(AcpToken, 'Newest first', { maxItems: maxAcpTokens }),
  }),
  { tokens: [{ ...exampleOf(AcpToken), usedAt: story.times.connected }] },
);

export type AcpScope = (typeof acpScopes)[number];

/** Keys of one person that have not expired. */
export const maxDeviceKeys = 20;
export const deviceKeyTtl = { min: 60, default: 600, max: 30 * 24 * 60 * 60 } as const;
export const deviceKeyUses = { default: 1, max: 1000 } as const;

const key = {
  id: id('Key id'),
  name: line('Purpose; empty if none was given'),
  uses: count('Number of machines that can register with it'),
  used: count('Number of machines that registered'),
  createdAt: time('Creation time'),
  expiresAt: time('Expiry'),
};

export const CreateDeviceKey = body(
  record('CreateDeviceKey', 'Create a registration key.', {
    ttlSeconds: maybe(
      Type.Integer({
        description: `Lifetime in seconds; default: ${deviceKeyTtl.default}`,
        minimum: deviceKeyTtl.min,
        maximum: deviceKeyTtl.max,
      }),
    ),
    uses: maybe(
      Type.Integer({
        description: `Number of machines that can register with it; default: ${deviceKeyUses.default}`,
        minimum: 1,
        maximum: deviceKeyUses.max,
      }),
    ),
    name: maybe(text('Purpose', { maxLength: limits.nameCharacters })),
  }),
  { ttlSeconds: 600, uses: 5, name: 'Build machines' },
);

export const DeviceKey = body(record('DeviceKey', 'A registration key, without its secret.', key), {
  id: '01KKNS0W7M4GQ0C3Y5R8T2V6XB',
  name: 'Build machines',
  uses: 5,
  used: 1,
  createdAt: story.times.registered,
  expiresAt: story.times.completed,
});

export const CreatedDeviceKey = body(
  record('CreatedDeviceKey', 'The new key. Its secret is shown only once.', {
    ...key,
    key: line('The secret for `relay-daemon register --key`'),
  }),
  { ...exampleOf(DeviceKey), used: 0, key: story.deviceKey },
);

const DeviceKeyList = body(
  record('DeviceKeyList', 'Registration keys that have not expired, including used-up keys.', {
    keys: list(DeviceKey, 'Newest first', { maxItems: maxDeviceKeys }),
  }),
  { keys: [exampleOf(DeviceKey)] },
);

export type AcpToken = Static<typeof AcpToken>;
export type CreatedAcpToken = Static<typeof CreatedAcpToken>;
export type CreateDeviceKey = Static<typeof CreateDeviceKey>;
export type DeviceKey = Static<typeof DeviceKey>;
export type CreatedDeviceKey = Static<typeof CreatedDeviceKey>;

export const acpTokenRoutes = {
  createAcpToken: {
    method: 'POST',
    path: '/api/acp-tokens',
    credential: 'user',
    summary: 'Create a token that gives an ACP client access to one device at `/acp/<deviceId>`',
    scope: 'devices:write',
    body: CreateAcpToken,
    success: { 201: CreatedAcpToken },
    errors: ['DEVICE_NOT_FOUND', 'TOO_MANY_TOKENS', 'SIGN_IN_NOT_RECENT'],
  },
  listAcpTokens: {
    method: 'GET',
    path: '/api/acp-tokens',
    credential: 'user',
    summary: 'The valid tokens of ACP clients',
    scope: 'devices:read',
    success: { 200: AcpTokenList },
    errors: [],
  },
  revokeAcpToken: {
    method: 'DELETE',
    path: '/api/acp-tokens/:id',
    credential: 'user',
    summary: 'Revoke a token of an ACP client; the relay closes its connections with 4401',
    scope: 'devices:write',
    success: { 204: undefined },
    errors: ['TOKEN_NOT_FOUND'],
  },
} as const satisfies Rows;

export const deviceKeyRoutes = {
  createDeviceKey: {
    method: 'POST',
    path: '/api/devices/keys',
    credential: 'user',
    summary: 'Create a key with which machines register without a person',
    scope: 'devices:write',
    body: CreateDeviceKey,
    success: { 201: CreatedDeviceKey },
    errors: ['TOO_MANY_KEYS', 'SIGN_IN_NOT_RECENT'],
  },
  listDeviceKeys: {
    method: 'GET',
    path: '/api/devices/keys',
    credential: 'user',
    summary: 'The registration keys of the user that have not expired',
    scope: 'devices:read',
    success: { 200: DeviceKeyList },
    errors: [],
  },
  revokeDeviceKey: {
    method: 'DELETE',
    path: '/api/devices/keys/:id',
    credential: 'user',
    summary: 'Revoke a registration key; machines that registered with it stay registered',
    scope: 'devices:write',
    success: { 204: undefined },
    errors: ['KEY_NOT_FOUND'],
  },
} as const satisfies Rows;
