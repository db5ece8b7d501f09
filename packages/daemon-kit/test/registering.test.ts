import { afterEach, describe, expect, it } from '@jest/globals';
import { createApi } from '../src/api.ts';
import { register } from '../src/register.ts';
import { impatientClock } from './clocks.ts';
import { house } from './house.ts';
import type { Answer, RelayDouble } from '../src/conformance/relay-double.ts';

const home = house();
afterEach(() => home.clear());

const snake = {
  device_code: 'dc',
  user_code: 'BCDF-GHJK',
  verification_uri: 'http://x/device',
  expires_in: 900,
  interval: 5,
};
const credential: Answer = { status: 200, body: { device_id: 'd1', refresh_token: 'rly_drt_x' } };
const refusal = (error: string): Answer => ({ status: 400, body: { error, code: error.toUpperCase(), status: 400 } });

async function relayWith(code: Answer, ...polls: Answer[]) {
  const relay = await home.relay();
  relay.answers.set('POST /api/devices/code', [code]);
  relay.answers.set('POST /api/devices/token', polls);
  return relay;
}
async function go(relay: RelayDouble) {
  const clock = impatientClock();
  const problems: string[] = [];
  const codes: { link: string; userCode: string }[] = [];
  const result = await register({
    api: createApi(relay.url),
    device: { hostname: 'my-host', agentType: 'claude_code', name: 'My laptop' },
    clock,
    onCode: (code) => codes.push(code),
    onWait: (_left, problem) => {
      if (problem) problems.push(problem);
    },
  }).then(
    (registration) => ({ registration, failure: undefined }),
    (failure: unknown) => ({
      registration: undefined,
      failure: failure as { code: string; exitCode: number; message: string },
    }),
  );
  return { ...result, delays: clock.delays, problems, codes };
}

describe('the registration of a device (rules, chapter 7; RFC 8628)', () => {
  it('asks for a code with hostname and agent_type, polls every interval, and gets the credential', async () => {
    const relay = await relayWith(
      { status: 200, body: snake },
      refusal('authorization_pending'),
      refusal('authorization_pending'),
      credential,
    );
    const { registration, delays, codes } = await go(relay);
    expect(registration).toEqual({ deviceId: 'd1', refreshToken: 'rly_drt_x' });
    expect(delays).toEqual([5000, 5000, 5000]);
    expect(codes).toMatchObject([{ userCode: 'BCDF-GHJK', link: 'http://x/device' }]);
    expect(relay.calls[0]).toMatchObject({
      path: '/api/devices/code',
      body: { hostname: 'my-host', agent_type: 'claude_code', device_name: 'My laptop' },
    });
    expect(relay.calls[0]?.headers['content-type']).toBe('application/json');
    expect(relay.calls[0]?.headers.authorization).toBeUndefined();
    expect(relay.calls[1]?.body).toEqual({ device_code: 'dc' });
  });

  it('prefers the link with the code, and understands camelCase', async () => {
    const withLink = { ...snake, verification_uri_complete: 'http://x/device?user_code=BCDF-GHJK' };
    expect((await go(await relayWith({ status: 200, body: withLink }, credential))).codes[0]?.link).toBe(
      withLink.verification_uri_complete,
    );
    const camel = {
      deviceCode: 'dc',
      userCode: 'BCDF-GHJK',
      verificationUrl: 'http://x/d',
      expiresIn: 60,
      interval: 1,
    };
    const relay = await relayWith(
      { status: 200, body: camel },
      { status: 200, body: { deviceId: 'd2', refreshToken: 't2' } },
    );
    expect((await go(relay)).registration).toEqual({ deviceId: 'd2', refreshToken: 't2' });
  });

  it('polls five seconds slower after slow_down, for good', async () => {
    const relay = await relayWith(
      { status: 200, body: snake },
      refusal('slow_down'),
      refusal('authorization_pending'),
      refusal('slow_down'),
      credential,
    );
    const { delays, registration } = await go(relay);
    expect(registration).toBeDefined();
    expect(delays).toEqual([5000, 10_000, 10_000, 15_000]);
  });

  it.each([
    ['expired_token', 'CODE_EXPIRED', 77],
    ['access_denied', 'DENIED', 77],
    ['invalid_grant', 'CODE_UNKNOWN', 77],
    ['something_new', 'REGISTRATION_FAILED', 1],
  ])('fails clearly with %s', async (error, code, exitCode) => {
    const { failure } = await go(
      await relayWith({ status: 200, body: snake }, refusal('authorization_pending'), refusal(error)),
    );
    expect(failure).toMatchObject({ code, exitCode, message: expect.stringMatching(/^[A-Z].*\.$/) });
  });

  it('fails after the code has expired, even if the relay never reports it', async () => {
    const { failure, delays } = await go(
      await relayWith({ status: 200, body: { ...snake, expires_in: 12 } }, refusal('authorization_pending')),
    );
    expect(failure).toMatchObject({ code: 'CODE_EXPIRED' });
    expect(delays).toEqual([5000, 5000, 2000]);
  });

  it('continues during failures of the relay, more and more slowly, and reports them', async () => {
    const relay = await relayWith(
      { status: 200, body: snake },
      { status: 503 },
      { status: 500 },
      { status: 429, headers: { 'Retry-After': '40' } },
      refusal('authorization_pending'),
      credential,
    );
    const { registration, delays, problems } = await go(relay);
    expect(registration).toBeDefined();
    expect(delays).toEqual([5000, 10_000, 20_000, 40_000, 5000]);
    expect(problems).toEqual(['the relay answered 503', 'the relay answered 500', 'the relay answered 429']);
  });

  it('never polls without a pause, for any interval of the relay', async () => {
    const { delays } = await go(await relayWith({ status: 200, body: { ...snake, interval: 0 } }, credential));
    expect(delays).toEqual([200]);
  });

  it.each<[string, Answer, string, string]>([
    ['refuses', { status: 400, body: { error: '"hostname" is required' } }, 'REFUSED', '"hostname" is required'],
    ['limits', { status: 429, headers: { 'Retry-After': '30' } }, 'UNAVAILABLE', 'in 30 s'],
    ['is broken', { status: 500 }, 'UNAVAILABLE', 'later'],
    ['redirects', { status: 301, headers: { Location: 'https://elsewhere' } }, 'REDIRECTED', 'https://elsewhere'],
    ['is something else', { status: 200, body: { hello: 'world' } }, 'NOT_A_RELAY', '--server'],
  ])('explains the remedy when the server %s', async (_name, answer, code, words) => {
    const { failure } = await go(await relayWith(answer));
    expect(failure).toMatchObject({ code, message: expect.stringContaining(words) });
  });

  it('reports that the server cannot be reached', async () => {
    const relay = await home.relay();
    await relay.close();
    const { failure } = await go(relay);
    expect(failure).toMatchObject({
      code: 'UNREACHABLE',
      exitCode: 69,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
