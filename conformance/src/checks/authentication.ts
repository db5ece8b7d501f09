/** Authentication: missing, wrong and misplaced credentials (specification §5; rules, 8.1). */
import { type Route, type RouteName, routes } from '@relay/protocol';
import { type Check, rule, specification } from '../check.ts';
import { same } from '../expect.ts';

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Invalid tokens, made from a valid one. */
export function badTokens(token: string): Record<string, string> {
  const [head = '', payload = '', signature = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8') || '{}') as Record<string, unknown>;
  return {
    garbage: 'not-a-token',
    'another subject under the same signature': [head, base64({ ...claims, sub: 'somebody-else' }), signature].join(
      '.',
    ),
    'the algorithm "none"': `${base64({ alg: 'none', typ: 'JWT' })}.${payload}.`,
  };
}

export const authentication: readonly Check[] = [
  specification(
    '§5',
    ['point 1 bearer token', 'point 5 401 and 403'],
    'every REST route of users answers 401 UNAUTHORIZED without a token',
    async ({ rest }) => {
      for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
        if (!route.credential.startsWith('user')) continue;
        const params = {
          id: 'nobody:knows:it',
          userCode: 'BCDF-GHJK',
          uuid: 'unknown',
          name: 'unknown',
          taskId: 'unknown',
          fileId: 'unknown',
        };
        await rest.refused(name, 'UNAUTHORIZED', { as: null, params, ...(route.body ? { body: {} } : {}) });
      }
    },
    { also: ['§7 401 Unauthorized'] },
  ),
  rule('8.1', 'a token that is not valid is 401 INVALID_TOKEN', async ({ rest, token }) => {
    for (const bad of Object.values(badTokens(token))) await rest.refused('me', 'INVALID_TOKEN', { as: bad });
  }),
  rule('8.1', 'a scheme other than Bearer is 401', async ({ rest }) => {
    const { status } = await rest.call('me', { as: null, headers: { Authorization: 'Basic dXNlcjpwYXNzd29yZA==' } });
    same(status, 401, 'status');
  }),
  specification(
    '§7',
    '403 Forbidden',
    "a device's credential on a route of users is 403 DEVICE_TOKEN_NOT_ALLOWED",
    async ({ rest, device }) => {
      const { token } = await device('desk');
      await rest.refused('listSessions', 'DEVICE_TOKEN_NOT_ALLOWED', { as: token });
      await rest.refused('me', 'DEVICE_TOKEN_NOT_ALLOWED', { as: token });
    },
    { also: ['§5 point 5 401 and 403'] },
  ),
];
