import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { type Route, type RouteName, routes } from '@relay/protocol';
import { type Answer, type TestRelay, registerDevice, startRelay } from '@relay/testing';
import fc from 'fast-check';
import { expectLimitHeaders, expectRefusal, expectSuccess, violations } from '../answers.ts';
import { bearer } from '../credentials.ts';
import { sendBytes } from './raw.ts';

const withBody = (Object.entries(routes) as [RouteName, Route][]).filter(([, route]) => route.body);
const concrete = (path: string) => path.replaceAll(/:\w+/g, 'x');

describe('bad input', () => {
  let relay: TestRelay;
  let deviceId: string;
  beforeAll(async () => {
    relay = await startRelay();
    ({ deviceId } = await registerDevice(relay));
  });
  afterAll(() => relay.stop());

  const sendTo = (route: Route, raw: string | Buffer, headers: Record<string, string> = {}) =>
    relay.call(route.method, concrete(route.path), { raw, headers });
  const create = (raw: string | Buffer, headers: Record<string, string> = {}) =>
    relay.call('POST', '/api/sessions', { raw, headers });
  const stillServes = async () => expectSuccess('me', 200, await relay.call('GET', '/api/me'));

  // Notifications come with their own tokens: ../push/answers.test.ts tests those bodies.
  const ofPeople = withBody.filter(([, { credential }]) => credential !== 'answer');
  /** One route for each of the two readers of JSON (src/http/body.ts). The first case of a table shows that every route uses one. */
  const ofReaders = ofPeople.filter(([name]) => name === 'createSession' || name === 'updateSession');
  const half = 'half an object';
  const plain = 'text/plain';
  describe('in the body of every route', () => {
    it.each<[string, string | Buffer]>([
      [half, '{"a":'],
      ['a comma too many', '{"a":1,}'],
      ['invalid JSON', 'hello'],
      ['an array', '[]'],
      ['a number', '7'],
      ['a text', '"x"'],
      ['null', 'null'],
      ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
      ['half a character', Buffer.from([0x7b, 0x22, 0xe2, 0x82, 0x22, 0x3a, 0x31, 0x7d])],
      ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
      ['a byte order mark', '\ufeff{"a":1}'],
    ])('%s is 400', async (what, raw) => {
      const failures = await violations(what === half ? ofPeople : ofReaders, async (route) => {
        const answer = await sendTo(route, raw);
        expectRefusal(answer, 'INVALID_REQUEST', 'body');
        expectLimitHeaders(answer);
      });
      expect(failures).toEqual([]);
    });

    it.each([plain, 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '', 'garbage'])(
      'the content type %j is 415',
      async (type) => {
        const failures = await violations(type === plain ? ofPeople : ofReaders, async (route) => {
          const answer = await sendTo(route, '{"a":1}', { 'Content-Type': type });
          expectRefusal(answer, 'UNSUPPORTED_MEDIA_TYPE');
          expectLimitHeaders(answer);
        });
        expect(failures).toEqual([]);
      },
    );

    it('more than 1 MiB is 413', async () => {
      const raw = JSON.stringify({ a: 'x'.repeat(1024 * 1024) });
      const failures = await violations(ofPeople, async (route) => {
        const answer = await sendTo(route, raw);
        expectRefusal(answer, 'PAYLOAD_TOO_LARGE', '1 MiB');
        expectLimitHeaders(answer);
      });
      expect(failures).toEqual([]);
    });

    it('the api checks the credential before it reads the body', async () => {
      const failures = await violations(withBody, async (route) => {
        const answer = await relay.call(route.method, concrete(route.path), {
          user: null,
          headers: bearer('garbage'),
          raw: '{"a":',
        });
        expectRefusal(answer, 'INVALID_TOKEN');
      });
      expect(failures).toEqual([]);
    });
  });

  it('accepts every content type of JSON', async () => {
    const raw = JSON.stringify({ deviceId, message: 'hello' });
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/vnd.relay+json',
    ])
      expectSuccess('createSession', 201, await create(raw, { 'Content-Type': type }));
  });

  it('accepts a body of exactly 1 MiB', async () => {
    const body = { deviceId, message: 'hello', filler: '' };
    const filler = 'x'.repeat(1024 * 1024 - JSON.stringify(body).length);
    expectSuccess('createSession', 201, await create(JSON.stringify({ ...body, filler })));
  });

  it('accepts compressed bodies, and counts their unpacked size', async () => {
    const raw = JSON.stringify({ deviceId, message: 'hello' });
    expectSuccess('createSession', 201, await create(gzipSync(raw), { 'Content-Encoding': 'gzip' }));
    expectSuccess('createSession', 201, await create(deflateSync(raw), { 'Content-Encoding': 'deflate' }));
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
    expectRefusal(await create(bomb, { 'Content-Encoding': 'gzip' }), 'PAYLOAD_TOO_LARGE');
    expectRefusal(await create(raw, { 'Content-Encoding': 'snappy' }), 'UNSUPPORTED_MEDIA_TYPE');
    expectRefusal(await create('not gzip at all', { 'Content-Encoding': 'gzip' }), 'INVALID_REQUEST');
    expectRefusal(await create(gzipSync(raw).subarray(0, 20), { 'Content-Encoding': 'gzip' }), 'INVALID_REQUEST');
  });

  it('accepts a body of unknown length, and cuts it at 1 MiB', async () => {
    const head = `POST /api/sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${relay.token()}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    const body = JSON.stringify({ deviceId, message: 'in pieces' });
    expect(await sendBytes(relay.url, `${head}${chunk(body.slice(0, 9))}${chunk(body.slice(9))}0\r\n\r\n`)).toContain(
      ' 201 ',
    );
    const endless = chunk(' '.repeat(2 ** 16)).repeat(17);
    expect(await sendBytes(relay.url, `${head}${endless}0\r\n\r\n`)).toContain('PAYLOAD_TOO_LARGE');
  });

  it('survives a client that announces more than it sends', async () => {
    const { hostname, port } = new URL(relay.url);
    const line = connect({ host: hostname, port: Number(port) });
    line.write(
      `POST /api/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${relay.token()}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"a":`,
    );
    await new Promise((resolve) => line.once('ready', resolve));
    line.resetAndDestroy();
    await stillServes();
  });

  it('reads no field from a prototype, and changes no prototype', async () => {
    const raw = `{"__proto__":{"deviceId":${JSON.stringify(deviceId)},"message":"x","polluted":1},"constructor":{"prototype":{"polluted":1}}}`;
    expectRefusal(await create(raw), 'INVALID_REQUEST', /deviceId|message/);
    expectRefusal(
      await relay.call('DELETE', '/api/watched-sessions', { raw: '{"__proto__":{"sessionId":"x:y:z"}}' }),
      'INVALID_REQUEST',
      'sessionId',
    );
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('accepts any depth of nesting in ignored fields, and refuses it in fields it reads', async () => {
    const deep = (open: string, close: string, depth: number) => `${open.repeat(depth)}${close.repeat(depth)}`;
    const start = `{"deviceId":${JSON.stringify(deviceId)},"message":"deep"`;
    expectSuccess('createSession', 201, await create(`${start},"x":${deep('[', ']', 400_000)}}`));
    expectSuccess(
      'createSession',
      201,
      await create(`${start},"x":${deep('{"x":', '', 150_000)}1${'}'.repeat(150_000)}}`),
    );
    expectRefusal(await create(`{"deviceId":${deep('[', ']', 400_000)},"message":"x"}`), 'INVALID_REQUEST', 'deviceId');
    expectRefusal(await create('['.repeat(1_000_000)), 'INVALID_REQUEST');
  });

  it('drops U+0000 and lone surrogates, which no database can store', async () => {
    const answer = await create(
      `{"deviceId":${JSON.stringify(deviceId)},"message":"a\\u0000b\\ud800c \\ud83d\\udc22"}`,
    );
    expectSuccess('createSession', 201, answer);
    expect(answer.body).toMatchObject({ title: 'ab\ufffdc 🐢', message: { content: 'ab\ufffdc 🐢' } });
  });

  it('refuses U+0000 in the path and the query', async () => {
    for (const path of [
      '/api/sessions/a%00b',
      '/api/tasks/%00',
      '/api/devices/x%00/connections',
      '/api/sessions?deviceId=a%00',
      '/api/sessions?x=%00',
    ])
      expectRefusal(await relay.call('GET', path), 'INVALID_REQUEST');
  });

  it.each(['%', '%E0%A4%A', '%ff', '%C0%80', '%zz', 'a%2'])('refuses %s in the path', async (text) => {
    expectRefusal(await relay.call('GET', `/api/sessions/${text}`), 'INVALID_REQUEST', 'percent');
  });

  it('reads a badly encoded query literally', async () => {
    expectSuccess('listSessions', 200, await relay.call('GET', '/api/sessions?deviceId=%E0%A4%A'));
    expectRefusal(await relay.call('GET', '/api/sessions?limit=%zz'), 'INVALID_REQUEST', 'limit');
  });

  it('returns 404 for unknown paths', async () => {
    const paths = [
      '/',
      '/api',
      '/api/',
      '/api/session',
      '/health/x',
      '/api/sessions/a/b',
      '/api/sessions/a/messages/b',
      '//',
      '/api/../etc/passwd',
      '/api//sessions',
    ].map((path) => [path, path] as const);
    const failures = await violations(paths, async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) expectRefusal(await relay.call(method, path), 'NOT_FOUND');
    });
    expect(failures).toEqual([]);
  });

  const byPath = new Map<string, string[]>();
  for (const { path, method } of Object.values<Route>(routes)) byPath.set(path, [...(byPath.get(path) ?? []), method]);
  it('returns 405 for other methods of every path, with the right ones in Allow', async () => {
    const others = [...byPath].flatMap(([path, allowed]) =>
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']
        .filter((method) => !allowed.includes(method))
        .map((method) => [`${method} ${path}`, { method, path, allowed }] as const),
    );
    const failures = await violations(others, async ({ method, path, allowed }) => {
      const answer = await relay.call(method, concrete(path));
      expectRefusal(answer, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.allow?.split(', ').sort()).toEqual([...allowed].sort());
    });
    expect(failures).toEqual([]);
  });

  it('refuses headers over 16 KiB and lines that violate HTTP, and keeps serving', async () => {
    const huge = `GET /health HTTP/1.1\r\nHost: x\r\nX-Huge: ${'x'.repeat(64 * 1024)}\r\n\r\n`;
    expect(await sendBytes(relay.url, huge)).toMatch(/^HTTP\/1\.1 431 /);
    const many = Array.from({ length: 4000 }, (_, n) => `x${n}: y\r\n`).join('');
    expect(await sendBytes(relay.url, `GET /health HTTP/1.1\r\nHost: x\r\n${many}\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await sendBytes(relay.url, 'hello there\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
    await stillServes();
  });

  it('refuses a token of any length without an internal error', async () => {
    for (const length of [1, 1000, 15_000])
      expectRefusal(
        await relay.call('GET', '/api/me', { user: null, headers: bearer('x'.repeat(length)) }),
        'INVALID_TOKEN',
      );
  });

  it('never returns 500 for any JSON', async () => {
    const names = fc.constantFrom(
      'deviceId',
      'message',
      'content',
      'title',
      'name',
      'archived',
      'sessionId',
      'hostname',
      'agent_type',
      'device_code',
      'queueTtlSeconds',
      'projectPath',
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.string({ unit: 'binary' }),
      fc.constant(deviceId),
      fc.constant('x:scripted:y'),
    );
    const body = fc.dictionary(names, value, { maxKeys: 6 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...withBody), body, async ([name, route], fields) => {
        const answer: Answer = await sendTo(route, JSON.stringify(fields));
        expect({ name, fields, status: answer.status }).toMatchObject({ status: expect.any(Number) });
        expect(answer.status).toBeLessThan(500);
      }),
      { numRuns: 150 },
    );
  });
});
