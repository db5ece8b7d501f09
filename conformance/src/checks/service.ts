/** The service itself: probes, documents, the current user. */
import { type Route, routes } from '@relay/protocol';
import { type Check, rule, specification } from '../check.ts';
import { matches, must, same } from '../expect.ts';

export const service: readonly Check[] = [
  specification(
    '§4.1',
    'GET /health',
    'answers status and a version like 1.0.0, without a token',
    async ({ rest }) => {
      const { body } = await rest.ok('health');
      same(body.status, 'ok', 'status');
      matches(body.version, /^\d+\.\d+\.\d+/, 'version');
    },
    { also: ['§9 point 1 version of the service'] },
  ),
  rule('6.5 GET /ready', 'answers status and checks without a token', async ({ rest }) => {
    const { status, body } = await rest.ok('ready');
    same([status, body.status], [200, 'ok'], 'status');
    for (const check of ['database', 'backplane']) same(body.checks[check], 'ok', `checks.${check}`);
  }),
  rule('6.22 GET /api/openapi.json', 'lists every route, without a token', async ({ rest }) => {
    const { body } = await rest.ok('openapi');
    const { openapi, paths } = body as { openapi?: unknown; paths?: Record<string, Record<string, unknown>> };
    matches(openapi, /^3\./, 'openapi');
    for (const { method, path } of Object.values<Route>(routes)) {
      const written = path.replace(/:(\w+)/g, '{$1}');
      must(paths?.[written]?.[method.toLowerCase()], `expected ${method} ${written} among the paths of the document`);
    }
  }),
  rule('6.22 GET /api/asyncapi.json', 'is an AsyncAPI document, without a token', async ({ rest }) => {
    const { body } = await rest.ok('asyncapi');
    matches((body as { asyncapi?: unknown }).asyncapi, /^\d+\./, 'asyncapi');
  }),
  specification(
    '§5',
    'point 2 tokens from sign-in',
    'a token of the sign-in is accepted, and GET /api/me says whose it is',
    async ({ rest }) => {
      const { body } = await rest.ok('me');
      must(body.id !== '', 'expected an id of the user, came an empty text');
      must(body.scopes.includes('sessions:read'), `expected the scope sessions:read, came ${body.scopes.join(' ')}`);
    },
  ),
  rule('8.16 GET /api/me/export', 'is one document about the person who asks', async ({ rest }) => {
    const { body: me } = await rest.ok('me');
    const { body } = await rest.ok('exportMe');
    same(body.account.id, me.id, 'account.id');
  }),
  rule('8.14 DELETE /api/me', 'deletes nothing without the confirmation', async ({ rest }) => {
    await rest.refused('deleteMe', 'INVALID_REQUEST', { body: { confirm: 'yes' } });
    await rest.ok('me');
  }),
];
