/** The rows of `routes` for the credentials that a person creates: tokens of ACP clients (rules, 18.8) and registration keys (rules, 7.13). */
import * as tokens from '../rest/acp-tokens.ts';
import * as keys from '../rest/device-keys.ts';

export const acpTokenRoutes = {
  createAcpToken: {
    method: 'POST',
    path: '/api/acp-tokens',
    credential: 'user',
    summary: 'Create a token that gives an ACP client access to one device at `/acp/<deviceId>`',
    scope: 'devices:write',
    body: tokens.CreateAcpToken,
    success: { 201: tokens.CreatedAcpToken },
    errors: ['DEVICE_NOT_FOUND', 'TOO_MANY_TOKENS', 'SIGN_IN_NOT_RECENT'],
  },
  listAcpTokens: {
    method: 'GET',
    path: '/api/acp-tokens',
    credential: 'user',
    summary: 'The valid tokens of ACP clients',
    scope: 'devices:read',
    success: { 200: tokens.AcpTokenList },
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
} as const;

export const deviceKeyRoutes = {
  createDeviceKey: {
    method: 'POST',
    path: '/api/devices/keys',
    credential: 'user',
    summary: 'Create a key with which machines register without a person',
    scope: 'devices:write',
    body: keys.CreateDeviceKey,
    success: { 201: keys.CreatedDeviceKey },
    errors: ['TOO_MANY_KEYS', 'SIGN_IN_NOT_RECENT'],
  },
  listDeviceKeys: {
    method: 'GET',
    path: '/api/devices/keys',
    credential: 'user',
    summary: 'The registration keys of the user that have not expired',
    scope: 'devices:read',
    success: { 200: keys.DeviceKeyList },
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
} as const;
