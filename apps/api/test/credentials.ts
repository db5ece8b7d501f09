/** Tests of the refusals that all user routes share: no credential, a device credential, and a missing scope. */
import { describe, expect, it } from '@jest/globals';
import { type Route, type RouteName, type Scope, routes } from '@relay/protocol';
import { type Answer, type TestRelay, registerDevice } from '@relay/testing';
import { expectLimitHeaders, expectRefusal } from './answers.ts';

const scopes: readonly Scope[] = ['sessions:read', 'sessions:write', 'devices:read', 'devices:write'];

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** `path`: a real path of the route; default: the path of the table. These tests change nothing. */
export function itAsksForCredentials(
  relay: () => TestRelay,
  name: RouteName,
  request: { path?: () => string; body?: unknown } = {},
): void {
  const route: Route = routes[name];
  const call = (headers: Record<string, string>): Promise<Answer> =>
    relay().call(route.method, request.path?.() ?? route.path.replace(/:\w+/, 'x:scripted:y'), {
      user: null,
      headers,
      ...(request.body === undefined ? {} : { body: request.body }),
    });

  describe('checks the credential and', () => {
    it('answers 401 without a credential', async () => {
      const answer = await call({});
      expectRefusal(answer, 'UNAUTHORIZED');
      expectLimitHeaders(answer);
    });

    if (route.credential === 'user') {
      it('answers 403 to a device credential', async () => {
        const { refreshToken } = await registerDevice(relay());
        expectRefusal(await call(bearer(refreshToken)), 'DEVICE_TOKEN_NOT_ALLOWED');
      });
    }

    const needed = [route.scope ?? []].flat();
    if (needed.length === 0) return;
    it.each(needed)('answers 403 to a token that has every scope but %s, and names it', async (scope) => {
      const answer = await call(bearer(relay().token('alice', { scopes: scopes.filter((other) => other !== scope) })));
      expectRefusal(answer, 'INSUFFICIENT_SCOPE', scope);
      expect(answer.headers['www-authenticate']).toBe(`Bearer error="insufficient_scope", scope="${scope}"`);
      expectLimitHeaders(answer);
    });

    it(`accepts a token with nothing but ${needed.join(' and ')}`, async () => {
      expect((await call(bearer(relay().token('nobody', { scopes: needed })))).status).not.toBe(403);
    });
  });
}
