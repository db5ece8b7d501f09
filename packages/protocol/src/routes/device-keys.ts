/** The rows of `routes` for registration keys (rules, 7.13). */
import { endpoints } from '../endpoints.ts';
import * as keys from '../rest/device-keys.ts';

export const deviceKeyRoutes = {
  createDeviceKey: {
    ...endpoints.createDeviceKey,
    summary: 'Create a key with which machines register without a person',
    scope: 'devices:write',
    body: keys.CreateDeviceKey,
    success: { 201: keys.CreatedDeviceKey },
    errors: ['TOO_MANY_KEYS', 'SIGN_IN_NOT_RECENT'],
  },
  listDeviceKeys: {
    ...endpoints.listDeviceKeys,
    summary: 'The registration keys of the user that have not expired',
    scope: 'devices:read',
    success: { 200: keys.DeviceKeyList },
    errors: [],
  },
  revokeDeviceKey: {
    ...endpoints.revokeDeviceKey,
    summary: 'Revoke a registration key; machines that registered with it stay registered',
    scope: 'devices:write',
    success: { 204: undefined },
    errors: ['KEY_NOT_FOUND'],
  },
} as const;
