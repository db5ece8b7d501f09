import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuthError } from '@relay/auth';
import { BackplaneError } from '@relay/backplane';
import { RelayError } from '@relay/protocol';
import { HandshakeError } from '@relay/socket';
import { type TestRelay, startRelay } from '@relay/testing';
import { toRelayError } from '../../src/http/errors.ts';
import { expectLimitHeaders, expectRefusal } from '../answers.ts';
import { type LosableDatabase, lostConnection, openLosableDatabase } from '../lost-database.ts';

describe('an exception becomes an answer:', () => {
  const answered = (error: unknown) => {
    const { code, status, retryAfter, headers } = toRelayError(error);
    return { code, status, retryAfter, challenge: headers['WWW-Authenticate'] };
  };

  it('an error of the catalogue passes through', () => {
    const error = new RelayError('QUEUE_FULL', 'full');
    expect(toRelayError(error)).toBe(error);
  });

  it.each(['INVALID_TOKEN', 'TOKEN_EXPIRED', 'TOKEN_REVOKED'] as const)('%s is 401 with a challenge', (code) => {
    expect(answered(new AuthError(code, 'no'))).toMatchObject({
      code,
      status: 401,
      challenge: 'Bearer error="invalid_token"',
    });
  });

  it("unreachable keys are 503, with the verifier's retry time and no challenge", () => {
    const error = new AuthError('SERVICE_UNAVAILABLE', 'later', { retryAfterSeconds: 17 });
    expect(answered(error)).toEqual({ code: 'SERVICE_UNAVAILABLE', status: 503, retryAfter: 17, challenge: undefined });
    expect(answered(new AuthError('SERVICE_UNAVAILABLE', 'later')).retryAfter).toBeGreaterThan(0);
  });

  it.each([
    ['a lost database', lostConnection()],
    ['a lost backplane', new BackplaneError('UNAVAILABLE', 'redis://user:secret@host is gone')],
    ['a closed backplane', new BackplaneError('CLOSED', 'closed')],
    ['an overloaded backplane', new BackplaneError('OVERLOADED', 'too many')],
  ])('%s is 503 without details', (_what, error) => {
    expect(answered(error)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503, retryAfter: expect.any(Number) });
    expect(toRelayError(error).message).not.toContain(error.message);
    expect(toRelayError(error).cause).toBe(error);
  });

  it('a failed handshake is 400', () => {
    expect(answered(new HandshakeError(400, 'no key'))).toMatchObject({ code: 'INVALID_REQUEST', status: 400 });
  });

  it.each([
    [new Error('secret')],
    [new TypeError('secret')],
    ['secret'],
    [undefined],
    [null],
    [{ code: 'P2002', message: 'secret' }],
  ])('anything else is 500 without details: %p', (error) => {
    expect(answered(error)).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 });
    expect(toRelayError(error).message).not.toContain('secret');
  });
});

describe('an internal error', () => {
  let relay: TestRelay;
  let database: LosableDatabase;
  beforeAll(async () => {
    database = await openLosableDatabase();
    relay = await startRelay({ database });
  });
  afterAll(async () => {
    database.find();
    await relay.stop();
    await database.close();
  });

  it('shows strangers only an id to report', async () => {
    database.lose(new TypeError("Cannot read properties of undefined (reading 'password=hunter2')"));
    const answer = await relay.call('listSessions');
    database.find();
    expectRefusal(answer, 'INTERNAL_ERROR');
    expectLimitHeaders(answer);
    expect(JSON.stringify(answer)).not.toMatch(/hunter2|TypeError|at .*\.js/);
    expect((await relay.call('listSessions')).status).toBe(200);
  });
});
