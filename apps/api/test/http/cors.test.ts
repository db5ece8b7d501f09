import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, startRelay } from '@relay/testing';
import { expectRefusal } from '../answers.ts';

describe('pages of other origins', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({
      config: {
        publicUrl: 'https://relay.example.com',
        allowedOrigins: ['https://app.example.com', 'http://localhost:5173'],
      },
    });
  });
  afterAll(() => relay.stop());

  const call = (origin: string, method = 'GET', path = '/api/me', headers: Record<string, string> = {}) =>
    relay.call(method, path, { user: method === 'OPTIONS' ? null : 'alice', headers: { Origin: origin, ...headers } });
  const allowed = ['https://relay.example.com', 'https://app.example.com', 'http://localhost:5173'];

  it.each(allowed)('can use REST from %s and read its headers', async (origin) => {
    const { status, headers } = await call(origin);
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers.vary).toMatch(/\borigin\b/i);
    const exposed = headers['access-control-expose-headers']!.toLowerCase().split(', ');
    for (const name of ['x-request-id', 'x-ratelimit-remaining', 'retry-after', 'location', 'idempotent-replay'])
      expect(exposed).toContain(name);
    // The credential is a header, never a cookie.
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  it.each(allowed)('can send a preflight from %s, without a credential and without a limit', async (origin) => {
    const { status, headers, text } = await call(origin, 'OPTIONS', '/api/sessions/x', {
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization, content-type',
    });
    expect({ status, text }).toEqual({ status: 204, text: '' });
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers['access-control-allow-methods']!.split(', ')).toEqual(
      expect.arrayContaining(['GET', 'POST', 'PATCH', 'DELETE']),
    );
    expect(headers['access-control-allow-headers']!.toLowerCase().split(', ')).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'idempotency-key']),
    );
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });

  it('can read errors too', async () => {
    const answer = await relay.call('me', { user: null, headers: { Origin: allowed[1]! } });
    expectRefusal(answer, 'UNAUTHORIZED');
    expect(answer.headers['access-control-allow-origin']).toBe(allowed[1]);
    const unknown = await call(allowed[1]!, 'GET', '/api/nothing');
    expect(unknown.headers['access-control-allow-origin']).toBe(allowed[1]);
  });

  it.each([
    'https://evil.example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.com',
    'https://evil.com/https://app.example.com',
    'null',
    '*',
  ])('get no CORS headers at %s', async (origin) => {
    const plain = await call(origin);
    const before = await call(origin, 'OPTIONS', '/api/me', { 'Access-Control-Request-Method': 'GET' });
    expectRefusal(before, 'METHOD_NOT_ALLOWED');
    for (const { headers } of [plain, before])
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('change nothing for clients without an Origin', async () => {
    const { headers } = await relay.call('me');
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});
