/** The rows of `routes` for tokens of ACP clients (rules, 18.8). */
import { endpoints } from '../endpoints.ts';
import * as tokens from '../rest/acp-tokens.ts';

export const acpTokenRoutes = {
  createAcpToken: {
    ...endpoints.createAcpToken,
    summary: 'Create a token that gives an ACP client access to one device at `/acp/<deviceId>`',
    scope: 'devices:write',
    body: tokens.CreateAcpToken,
    success: { 201: tokens.CreatedAcpToken },
    errors: ['DEVICE_NOT_FOUND', 'TOO_MANY_TOKENS', 'SIGN_IN_NOT_RECENT'],
  },
  listAcpTokens: {
    ...endpoints.listAcpTokens,
    summary: 'The valid tokens of ACP clients',
    scope: 'devices:read',
    success: { 200: tokens.AcpTokenList },
    errors: [],
  },
  revokeAcpToken: {
    ...endpoints.revokeAcpToken,
    summary: 'Revoke a token of an ACP client; the relay closes its connections with 4401',
    scope: 'devices:write',
    success: { 204: undefined },
    errors: ['TOKEN_NOT_FOUND'],
  },
} as const;
