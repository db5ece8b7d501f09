import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RelayDouble, startRelayDouble } from '@relay/testing';
import {
  BadAnswerError,
  type Client,
  type ClientOptions,
  NetworkError,
  RelayError,
  TimeoutError,
  createClient,
} from '../src/node.ts';
import { createTokens } from '../src/token.ts';

let relay: RelayDouble;
let client: Client;
const clientWith = (options: Partial<ClientOptions> = {}) =>
  createClient({ baseUrl: relay.url, ...(options.getToken ? {} : { token: 'token-1' }), ...options });
beforeEach(async () => {
  relay = await startRelayDouble();
  client = clientWith();
});
afterEach(() => relay.close());

const refusal = (status: number, code: string, more: { headers?: Record<string, string>; body?: object } = {}) => ({
  status,
  body: { error: 'So it is.', code, status, ...more.body },
  ...(more.headers ? { headers: more.headers } : {}),
});
const devices = { status: 200, body: { devices: [] } };
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a call', () => {
  it('goes to the path of its route with its parameters, and resolves with the body', async () => {
    const sent = { taskId: 't1', sessionId: 'd1:a/b:s 1', state: 'queued', message: {}, later: 1 };
    relay.answers.set('POST /api/sessions/d1%3Aa%2Fb%3As%201/messages', [{ status: 202, body: sent }]);
    const body = await client.call('sendMessage', { params: { id: 'd1:a/b:s 1' }, body: { content: 'Hi' } });
    expect(body).toEqual(sent);
    expect(relay.requests[0]).toMatchObject({
      headers: { authorization: 'Bearer token-1', 'content-type': 'application/json' },
      body: '{"content":"Hi"}',
    });
    relay.answers.set('GET /api/sessions', [{ status: 200, body: { sessions: [] } }]);
    await client.call('listSessions', { query: { limit: 5, archived: 'all' } });
    expect(relay.requests[1]!.query.toString()).toBe('limit=5&archived=all');
    relay.answers.set('DELETE /api/devices/d1', [{ status: 204 }]);
    expect(await client.call('deleteDevice', { params: { id: 'd1' } })).toBeUndefined();
  });

  it('keeps the path of its base URL, and returns status and headers with request()', async () => {
    const below = clientWith({ baseUrl: `${relay.url}/relay/` });
    relay.answers.set('POST /relay/api/sessions', [
      { status: 201, body: { id: 's' }, headers: { 'Idempotent-Replay': 'true' } },
    ]);
    const answer = await below.request('createSession', { body: { deviceId: 'd1', message: 'Hi' } });
    expect(below.url).toBe(`${relay.url}/relay`);
    expect([answer.status, answer.headers.get('idempotent-replay')]).toEqual([201, 'true']);
  });

  it('does not compile without the parameters of its route', () => {
    const wrong = () => {
      // @ts-expect-error -- the route has a parameter
      void client.call('readTask');
      // @ts-expect-error -- another parameter
      void client.call('readTask', { params: { task: '1' } });
      // @ts-expect-error -- the message is missing
      void client.call('createSession', { body: { deviceId: 'd1' } });
      // @ts-expect-error -- the route takes no key
      void client.call('cancelSession', { params: { id: '1' }, idempotencyKey: 'k' });
      // @ts-expect-error -- no such field in the answer
      void client.call('me').then(({ nothing }) => void nothing);
      // @ts-expect-error -- no such route
      void client.call('nothing');
    };
    expect(wrong).toBeInstanceOf(Function);
  });

  it('with an empty parameter is not sent, because its path would be another one', async () => {
    for (const id of ['', '.', '..'])
      expect(await failureOf(client.call('deleteSession', { params: { id } }))).toBeInstanceOf(TypeError);
    expect(relay.calls).toEqual([]);
  });

  it('of a public route requests no token', async () => {
    const open = clientWith({ getToken: () => Promise.reject(new Error('no one is signed in')) });
    relay.answers.set('GET /health', [{ status: 200, body: { status: 'ok', version: '1.0.0' } }]);
    expect(await open.call('health')).toMatchObject({ status: 'ok' });
    expect(relay.requests[0]!.headers.authorization).toBeUndefined();
    await expect(open.call('me')).rejects.toThrow('no one is signed in');
  });
});

describe('a failing call', () => {
  it('rejects with the refusal of the relay', async () => {
    const more = { headers: { 'Retry-After': '17', 'X-Request-Id': 'r-1' }, body: { extra: [1] } };
    relay.answers.set('GET /api/devices', [refusal(429, 'RATE_LIMITED', more)]);
    const error = await failureOf(client.call('listDevices'));
    expect(error).toBeInstanceOf(RelayError);
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      status: 429,
      retryAfter: 17,
      message: 'So it is.',
      details: { extra: [1] },
    });
    expect((error as RelayError).headers.get('x-request-id')).toBe('r-1');
    expect(relay.calls).toHaveLength(1);
  });

  it('distinguishes a missing response, a late one, and a foreign one', async () => {
    relay.answers.set('GET /api/devices', [{ status: 200, silent: true }]);
    const late = await failureOf(client.call('listDevices', { timeoutMs: 50, retries: 0 }));
    expect(late).toBeInstanceOf(TimeoutError);
    for (const answer of [
      { status: 200, text: '<html>Welcome</html>' },
      { status: 200 },
      { status: 404, text: '<html>Not here</html>' },
      { status: 308, headers: { Location: 'https://elsewhere.example/' } },
    ]) {
      relay.answers.set('GET /api/devices', [answer]);
      const odd = await failureOf(client.call('listDevices'));
      expect(odd).toBeInstanceOf(BadAnswerError);
      expect(odd).toMatchObject({ code: 'BAD_ANSWER', status: answer.status });
    }
    const { url } = relay;
    await relay.close();
    const gone = await failureOf(createClient({ baseUrl: url, token: 't', retries: 0 }).call('me'));
    expect(gone).toBeInstanceOf(NetworkError);
    expect(gone).toMatchObject({ code: 'NETWORK', cause: expect.anything() });
    relay = await startRelayDouble();
  });

  it('outlives its page only with keepalive', async () => {
    const outlives: unknown[] = [];
    const watching = clientWith({
      fetch: (input, init) => {
        outlives.push(init?.keepalive);
        return fetch(input, init);
      },
    });
    relay.answers.set('GET /api/devices', [devices, devices]);
    await watching.call('listDevices');
    await watching.call('listDevices', { keepalive: true });
    expect(outlives).toEqual([false, true]);
  });

  it('rejects with the reason of the signal, before and while it runs', async () => {
    relay.answers.set('GET /api/devices', [{ status: 200, silent: true }]);
    const reason = new Error('changed my mind');
    const early = AbortSignal.abort(reason);
    expect(await failureOf(client.call('listDevices', { signal: early }))).toBe(reason);
    expect(relay.calls).toEqual([]);
    const controller = new AbortController();
    const running = failureOf(client.call('listDevices', { signal: controller.signal }));
    while (relay.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(reason);
    expect(await running).toBe(reason);
  });
});

describe('a temporary failure', () => {
  const busy = refusal(503, 'SERVICE_UNAVAILABLE', { headers: { 'Retry-After': '0' } });

  it('of a reading call is retried', async () => {
    relay.answers.set('GET /api/devices', [busy, { status: 502, text: '<html>Bad Gateway</html>' }, devices]);
    expect(await client.call('listDevices')).toEqual({ devices: [] });
    relay.answers.set('GET /api/devices', [{ status: 200, silent: true }, devices]);
    // The repetition has to be answered within the same time, on a busy machine too.
    expect(await client.call('listDevices', { timeoutMs: 1_000 })).toEqual({ devices: [] });
  });

  it('of a call with an idempotency key is retried with the same key', async () => {
    relay.answers.set('POST /api/sessions', [busy, busy, { status: 201, body: { id: 's' } }]);
    await client.call('createSession', { body: { deviceId: 'd1', message: 'Hi' } });
    await client.call('createSession', { body: { deviceId: 'd1', message: 'Hi' } });
    await client.call('createSession', { body: { deviceId: 'd1', message: 'Hi' }, idempotencyKey: 'mine' });
    const keys = relay.requests.map(({ headers }) => headers['idempotency-key'] as string);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys.slice(1, 3)).toEqual([keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
    expect(keys[4]).toBe('mine');
  });

  it('of any other call is left to the caller', async () => {
    for (const route of ['POST /api/sessions/s/cancel', 'DELETE /api/sessions/s', 'PATCH /api/devices/d'])
      relay.answers.set(route, [busy]);
    await failureOf(client.call('cancelSession', { params: { id: 's' } }));
    await failureOf(client.call('deleteSession', { params: { id: 's' } }));
    await failureOf(client.call('updateDevice', { params: { id: 'd' }, body: { name: 'n' } }));
    expect(relay.calls).toHaveLength(3);
  });

  it('is not retried if the relay announces a long one', async () => {
    relay.answers.set('GET /api/devices', [refusal(503, 'SERVICE_UNAVAILABLE', { headers: { 'Retry-After': '60' } })]);
    expect(await failureOf(client.call('listDevices'))).toMatchObject({ retryAfter: 60 });
    relay.answers.set('GET /api/sessions/s/messages', [refusal(503, 'DEVICE_OFFLINE')]);
    expect(await failureOf(client.call('readMessages', { params: { id: 's' } }))).toMatchObject({
      code: 'DEVICE_OFFLINE',
    });
    expect(relay.calls).toHaveLength(2);
  });
});

describe('tokens', () => {
  it('are fetched one after the other, once for all concurrent calls with the same request', async () => {
    const asked: { wish: unknown; give: (token: string) => void }[] = [];
    const tokens = createTokens(undefined, (wish) => new Promise((give) => asked.push({ wish, give })));
    const get = (wish = {}) => tokens.get(wish);
    const turn = () => new Promise((done) => setImmediate(done));
    const some = [get(), get(), get({ refused: 'old' }), get({ refused: 'old' })];
    await turn();
    expect(asked.map(({ wish }) => wish)).toEqual([{}]);
    asked[0]!.give('one');
    await turn();
    expect(asked.map(({ wish }) => wish)).toEqual([{}, { refused: 'old' }]);
    asked[1]!.give('two');
    expect((await Promise.all(some)).map((grant) => grant?.token)).toEqual(['one', 'one', 'two', 'two']);
    void get({ refused: 'old' });
    await turn();
    expect(asked).toHaveLength(3);
  });

  it('are fetched again by the next call after a failure', async () => {
    let count = 0;
    const failing = clientWith({
      getToken: () => ((count += 1) === 1 ? Promise.reject(new Error('not now')) : 'token'),
    });
    relay.answers.set('GET /api/devices', [devices]);
    const [one, two] = await Promise.all([1, 2].map(() => failureOf(failing.call('listDevices'))));
    expect([one, two]).toEqual([new Error('not now'), new Error('not now')]);
    expect(await failing.call('listDevices')).toEqual({ devices: [] });
    expect(count).toBe(2);
  });
});

describe('a refused token', () => {
  it('is replaced once', async () => {
    const wishes: unknown[] = [];
    const renewing = clientWith({
      getToken: (wish) => {
        wishes.push(wish);
        return `token-${wishes.length}`;
      },
    });
    relay.answers.set('GET /api/devices', [refusal(401, 'TOKEN_EXPIRED'), devices]);
    expect(await renewing.call('listDevices')).toEqual({ devices: [] });
    expect(wishes).toEqual([{}, { refused: 'token-1' }]);
    expect(relay.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
    relay.answers.set('GET /api/devices', [refusal(401, 'TOKEN_REVOKED')]);
    expect(await failureOf(renewing.call('listDevices'))).toMatchObject({ code: 'TOKEN_REVOKED', status: 401 });
    expect(relay.calls).toHaveLength(4);
  });

  it('is not sent again without a new one', async () => {
    relay.answers.set('GET /api/devices', [refusal(401, 'INVALID_TOKEN')]);
    expect(await failureOf(client.call('listDevices'))).toMatchObject({ code: 'INVALID_TOKEN' });
    const same = clientWith({ getToken: () => 'the only one' });
    expect(await failureOf(same.call('listDevices'))).toMatchObject({ code: 'INVALID_TOKEN' });
    expect(relay.calls).toHaveLength(2);
  });
});

it('a client of an impossible address is not created', () => {
  expect(() => clientWith({ baseUrl: 'ftp://relay.example.com' })).toThrow(TypeError);
  expect(() => createClient({ baseUrl: relay.url, token: 't', getToken: () => 't' })).toThrow(TypeError);
});
