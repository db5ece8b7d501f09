/** Routes of tokens of ACP clients (rules, 18.8). */
import { createAcpToken as newAcpToken, hashAcpToken } from '@relay/auth';
import { acpTokenName, createAcpToken, findDevice, listAcpTokens, revokeAcpToken } from '@relay/database';
import { RelayError, acpScopes, maxAcpTokens, type acpTokenRoutes } from '@relay/protocol';
import { requireRecentSignIn } from '../account/recent-sign-in.ts';
import { notifyAllowed } from '../account/notify-allowed.ts';
import { announceAcpTokens } from '../account/end-acp-tokens.ts';
import type { Operations } from '../deps.ts';
import { requireShowable } from '../devices/names.ts';
import { requireScope } from '../http/authenticate.ts';
import type { Handlers } from '../http/pipeline.ts';

export function acpTokenHandlers(deps: Operations): Handlers<keyof typeof acpTokenRoutes> {
  const { database, config } = deps;
  return {
    createAcpToken: async ({ principal, body }) => {
      const { deviceId, name = '', scopes = acpScopes } = body;
      requireShowable(name);
      // No one gives away more than they have.
      for (const scope of scopes) requireScope(principal, scope);
      await requireRecentSignIn(deps, principal);
      const { userId } = principal;
      if (!(await findDevice(database, userId, deviceId))) throw new RelayError('DEVICE_NOT_FOUND');
      const token = newAcpToken();
      const saved = await createAcpToken(database, {
        ...{ userId, deviceId, scopes, name: name.trim(), max: maxAcpTokens },
        tokenHash: hashAcpToken(token),
      });
      if (!saved) throw new RelayError('TOO_MANY_TOKENS');
      await notifyAllowed(deps, userId, { kind: 'program', name: acpTokenName(saved.name) });
      const url = `${config.publicUrl.replace(/^http/, 'ws')}/acp/${encodeURIComponent(deviceId)}`;
      return { status: 201, body: { ...saved, url, token } };
    },
    listAcpTokens: async ({ principal }) => ({
      status: 200,
      body: { tokens: await listAcpTokens(database, principal.userId) },
    }),
    revokeAcpToken: async ({ principal, params }) => {
      if (!(await revokeAcpToken(database, principal.userId, params.id))) throw new RelayError('TOKEN_NOT_FOUND');
      await announceAcpTokens(deps, [params.id]);
      return { status: 204 };
    },
  };
}
