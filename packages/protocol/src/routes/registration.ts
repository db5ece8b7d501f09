/** The rows of `routes` that make a machine a device: codes (RFC 8628) and their approval. */
import * as people from '../rest/people.ts';

export const registrationRoutes = {
  requestCode: {
    method: 'POST',
    path: '/api/devices/code',
    credential: 'optional',
    summary: 'Begin the registration of a device',
    body: people.RequestCode,
    success: { 200: people.DeviceCode },
    errors: ['KEY_NOT_VALID', 'TOO_MANY_DEVICES'],
  },
  pollCode: {
    method: 'POST',
    path: '/api/devices/token',
    credential: 'optional',
    summary: 'Poll for the credential; 400 carries the strings of RFC 8628',
    body: people.PollCode,
    success: { 200: people.DeviceCredential },
    refusals: { 400: people.PollErrorResponse },
    errors: [],
    limit: 'misuse',
  },
  readCode: {
    method: 'GET',
    path: '/api/devices/code/:userCode',
    credential: 'user',
    summary: 'The machine that requests registration',
    scope: 'devices:write',
    success: { 200: people.CodeDetail },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED'],
  },
  approveCode: {
    method: 'POST',
    path: '/api/devices/code/:userCode/approve',
    credential: 'user',
    summary: 'Approve the device',
    scope: 'devices:write',
    success: { 200: people.CodeApproved },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED', 'TOO_MANY_DEVICES', 'SIGN_IN_NOT_RECENT'],
  },
  denyCode: {
    method: 'POST',
    path: '/api/devices/code/:userCode/deny',
    credential: 'user',
    summary: 'Deny the device',
    scope: 'devices:write',
    success: { 200: people.CodeDenied },
    errors: ['CODE_NOT_FOUND', 'CODE_ALREADY_USED'],
  },
} as const;
