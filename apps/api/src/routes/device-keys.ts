/** Routes of registration keys (rules, 7.13). */
import { createDeviceKey as newDeviceKey, hashDeviceKey } from '@relay/auth';
import { createDeviceKey, listDeviceKeys, revokeDeviceKey } from '@relay/database';
import { RelayError, deviceKeyTtl, deviceKeyUses, maxDeviceKeys, type deviceKeyRoutes } from '@relay/protocol';
import { requireRecentSignIn } from '../account/recent-sign-in.ts';
import type { Operations } from '../deps.ts';
import { requireShowable } from '../devices/names.ts';
import type { Handlers } from '../http/pipeline.ts';

export function deviceKeyHandlers(deps: Operations): Handlers<keyof typeof deviceKeyRoutes> {
  const { database } = deps;
  return {
    createDeviceKey: async ({ principal, body }) => {
      const { ttlSeconds = deviceKeyTtl.default, uses = deviceKeyUses.default, name = '' } = body;
      requireShowable(name);
      await requireRecentSignIn(deps, principal);
      const key = newDeviceKey();
      const saved = await createDeviceKey(database, {
        ...{ ttlSeconds, uses, name: name.trim(), userId: principal.userId },
        keyHash: hashDeviceKey(key),
        max: maxDeviceKeys,
      });
      if (!saved) throw new RelayError('TOO_MANY_KEYS');
      return { status: 201, body: { ...saved, key } };
    },
    listDeviceKeys: async ({ principal }) => ({
      status: 200,
      body: { keys: await listDeviceKeys(database, principal.userId) },
    }),
    revokeDeviceKey: async ({ principal, params }) => {
      if (!(await revokeDeviceKey(database, principal.userId, params.id))) throw new RelayError('KEY_NOT_FOUND');
      return { status: 204 };
    },
  };
}
