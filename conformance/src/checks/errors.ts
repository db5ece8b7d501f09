/** The relay refuses bad input with a code, of any kind (specification §7; rules, 6.23). */
import { type Check, rule, specification } from '../check.ts';
import { matches, must, oneOf, same } from '../expect.ts';
import type { World } from '../world.ts';

const codeOf = (body: unknown) => (body as { code?: unknown } | undefined)?.code;
const json = { 'Content-Type': 'application/json' };

/** The route that most checks here use: nothing is created when it is refused. */
const watched = async ({ rest }: World, raw: string | Buffer, headers: Record<string, string> = json) =>
  rest.call('watch', { raw, headers });

export const errors: readonly Check[] = [
  specification(
    '§7',
    ['error', 'code', 'status', '400 Bad request'],
    'every error is {error, code, status}; a wrong body is 400 INVALID_REQUEST and names the field',
    async ({ rest }) => {
      const wrong = [{}, { sessionId: 5 }, { sessionId: null }, { sessionId: '' }, { sessionId: ['x'] }];
      for (const body of wrong) {
        const answer = await rest.refused('watch', 'INVALID_REQUEST', { body });
        matches((answer.body as { error?: unknown }).error, /sessionId/, 'error');
      }
    },
  ),
  specification('§7', '404 Not found', 'an unknown session is 404 SESSION_NOT_FOUND', async ({ rest }) => {
    const unknown = [
      'nobody:knows:it',
      'no-session-id',
      '::',
      'x'.repeat(600),
      '01ARZ3NDEKTSV4RRFFQ69G5FAV:a:PENDING-x',
    ];
    for (const id of unknown) await rest.refused('readSession', 'SESSION_NOT_FOUND', { params: { id } });
    await rest.refused('sendMessage', 'SESSION_NOT_FOUND', { params: { id: 'a:b:c' }, body: { content: 'hello?' } });
  }),
  rule('6.23', 'malformed JSON, an array, a text, bytes that are not UTF-8: 400 INVALID_REQUEST', async (world) => {
    const bodies = ['{"sessionId":', '[]', '"text"', 'null', '5', Buffer.from([0x7b, 0xff, 0x7d])];
    for (const raw of bodies) {
      const { status, body } = await watched(world, raw);
      same([status, codeOf(body)], [400, 'INVALID_REQUEST'], `status and code for ${JSON.stringify(raw.toString())}`);
    }
  }),
  rule('6.23', 'a body that is not JSON by its Content-Type is 415 UNSUPPORTED_MEDIA_TYPE', async (world) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const { status, body } = await watched(world, '{"sessionId":"a:b:c"}', { 'Content-Type': type });
      same([status, codeOf(body)], [415, 'UNSUPPORTED_MEDIA_TYPE'], `status and code for ${type}`);
    }
  }),
  rule('6.23', 'an unknown route is 404 NOT_FOUND, an unknown method 405 METHOD_NOT_ALLOWED', async ({ rest }) => {
    for (const path of ['/api/nothing', '/api', '/api/sessions/a/b/c', '/api//sessions']) {
      const { status, body } = await rest.send('GET', path);
      same([status, codeOf(body)], [404, 'NOT_FOUND'], `status and code of GET ${path}`);
    }
    for (const [method, path] of [
      ['PUT', '/api/sessions'],
      ['DELETE', '/api/devices'],
      ['PATCH', '/health'],
    ] as const) {
      const { status, body } = await rest.send(method, path);
      same([status, codeOf(body)], [405, 'METHOD_NOT_ALLOWED'], `status and code of ${method} ${path}`);
    }
  }),
  rule('6.23', 'a cursor that the relay did not give out is 400', async ({ rest }) => {
    const cursors = [
      'garbage',
      '',
      '%00',
      Buffer.from('["now","x"]').toString('base64url'),
      Buffer.from('{"a":1}').toString('base64url'),
    ];
    for (const cursor of cursors) {
      const { status } = await rest.call('listSessions', { query: { cursor } });
      oneOf(status, cursor === '' ? [200, 400] : [400], `status for the cursor "${cursor}"`);
    }
    await rest.refused('listNotifications', 'INVALID_REQUEST', { query: { cursor: 'garbage' } });
  }),
  rule(
    '6.23',
    'names like __proto__ and constructor in a body are fields like any other: unknown, and ignored',
    async (world) => {
      const { id } = await world.session();
      const raw = `{"sessionId":${JSON.stringify(id)},"__proto__":{"sessionId":"x","admin":true},"constructor":{"prototype":{}},"toString":1}`;
      const { status } = await watched(world, raw);
      oneOf(status, [200, 201], 'status');
      const hidden = await watched(world, '{"__proto__":{"sessionId":"a:b:c"}}');
      same(
        [hidden.status, codeOf(hidden.body)],
        [400, 'INVALID_REQUEST'],
        'status and code of a field given through __proto__',
      );
    },
  ),
  rule(
    '6.8',
    'a message above 256 KiB and a body above 1 MiB are 413 PAYLOAD_TOO_LARGE; an empty message is 400',
    async (world) => {
      const { rest } = world;
      const { id } = await world.session();
      const params = { id };
      await rest.refused('sendMessage', 'PAYLOAD_TOO_LARGE', { params, body: { content: 'ü'.repeat(128 * 1024 + 1) } });
      await rest.refused('sendMessage', 'PAYLOAD_TOO_LARGE', { params, body: { content: 'x'.repeat(1024 * 1024) } });
      for (const body of [
        { content: '' },
        {},
        { content: 5 },
        { content: 'x', queueTtlSeconds: -1 },
        { content: 'x', queueTtlSeconds: 86_401 },
        { content: 'x', queueTtlSeconds: 1.5 },
      ])
        await rest.refused('sendMessage', 'INVALID_REQUEST', { params, body });
    },
  ),
  rule(
    '6.3',
    'POST /api/sessions for an unknown device is 404 DEVICE_NOT_FOUND, without its required fields 400',
    async ({ rest }) => {
      await rest.refused('createSession', 'DEVICE_NOT_FOUND', { body: { deviceId: 'nobody', message: 'hello?' } });
      await rest.refused('createSession', 'INVALID_REQUEST', { body: { message: 'hello?' } });
    },
  ),
  rule('6.13', 'hostile text is stored, cut or refused, and never a fault of the relay', async (world) => {
    const { rest } = world;
    const { id } = await world.session();
    const title = (raw: string) => rest.call('updateSession', { params: { id }, raw });
    const answers = [
      await title('{"title":"a\\u0000b"}'),
      await title('{"title":"\\ud800"}'),
      await title(`{"title":"x","deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
      await title(`{"title":${JSON.stringify('x'.repeat(5000))}}`),
      await rest.send('GET', '/api/sessions/%E0%A4%A'),
      await rest.send('GET', '/api/sessions/%00'),
      await rest.send('GET', `/api/tasks/${encodeURIComponent("'; DROP TABLE tasks; --")}`),
      await rest.send('GET', '/api/sessions?limit=1&limit=2&limit[a]=b'),
      await rest.send('GET', '/api/devices/__proto__/connections'),
    ];
    for (const { status, text } of answers)
      must(status < 500, `expected an answer below 500, came ${status} ${text.slice(0, 200)}`);
  }),
];

/** Runs after all other requests: it examines the answers to all of them. */
export const failures: readonly Check[] = [
  specification(
    '§7',
    '500 Internal server error',
    'no request of this run was answered with 500, the hostile ones included',
    ({ rest }) => {
      same(rest.failures, [], 'requests that were answered with 500');
      return Promise.resolve();
    },
  ),
];
