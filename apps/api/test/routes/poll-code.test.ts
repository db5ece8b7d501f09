import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type PollError, PollErrorResponse, validator } from '@relay/protocol';
import { pollDeviceCode, readCredentials } from '@relay/database';
import { type Answer, type TestRelay, connectDaemon, openTestDatabase, startRelay } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { bearer } from '../credentials.ts';

const isPollError = validator(PollErrorResponse);

describe('POST /api/devices/token', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    // Two polls in succession are too fast also after a pause of the process.
    relay = await startRelay({ config: { devicePollIntervalSeconds: 60 } });
  });
  afterAll(() => relay.stop());

  interface Codes {
    device_code: string;
    user_code: string;
  }
  const ask = async (body = { hostname: 'laptop', agent_type: 'scripted' }) =>
    (await relay.call('requestCode', { user: null, body })).body as Codes;
  const poll = (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    relay.call('pollCode', { user: null, body, headers });
  const decide = (codes: Codes, verdict: 'approve' | 'deny' = 'approve', user = 'alice') =>
    relay.call('POST', `/api/devices/code/${codes.user_code}/${verdict}`, { user });
  const expectPollError = (answer: Answer, error: PollError) => {
    expect(answer.body).toMatchObject({ error, code: error.toUpperCase(), status: 400 });
    expect(answer.status).toBe(400);
    expect(isPollError(answer.body)).toMatchObject({ ok: true });
    expect(answer.headers['x-request-id']).toBeDefined();
  };
  const devicesOf = async (user: string) =>
    (await relay.call('listDevices', { user })).body.devices as { id: string }[];

  it('returns the credential in both spellings after the approval, and the daemon can connect with it', async () => {
    const codes = await ask();
    expectPollError(await poll({ device_code: codes.device_code }), 'authorization_pending');
    const { body } = await decide(codes);
    const credential = expectSuccess('pollCode', 200, await poll({ device_code: codes.device_code })) as Record<
      string,
      string
    >;
    expect(credential).toEqual({
      device_id: body.deviceId,
      refresh_token: expect.stringMatching(/^rly_drt_[\w-]{43}[0-9A-Za-z]{6}$/),
      deviceId: body.deviceId,
      refreshToken: credential.refresh_token,
      access_token: credential.refresh_token,
      accessToken: credential.refresh_token,
      expires_in: 7_776_000,
      expiresIn: 7_776_000,
      token_type: 'Bearer',
    });
    const daemon = await connectDaemon(relay, {
      registration: {
        deviceId: credential.device_id!,
        refreshToken: credential.refresh_token!,
        agentType: 'scripted',
        user: 'alice',
      },
    });
    await daemon.close();
  });

  it('returns the same to the spelling of daemons in the field', async () => {
    const codes = await ask();
    expectPollError(await poll({ deviceCode: codes.device_code }), 'authorization_pending');
    await decide(codes);
    expectSuccess('pollCode', 200, await poll({ deviceCode: codes.device_code }));
  });

  it('F9: returns the earliest expiry of the credential, in the field that daemons in the field store', async () => {
    const codes = await ask();
    await decide(codes);
    const { body } = await poll({ deviceCode: codes.device_code });
    expect([body.expiresIn, body.expires_in]).toEqual([7_776_000, 7_776_000]);
    expect([body.accessToken, body.access_token]).toEqual([body.refreshToken, body.refreshToken]);
    const [row] = await readCredentials(relay.database, [body.deviceId]).then((all) => [...all.values()]);
    expect(row!.expiresAt.getTime()).toBeGreaterThan(Date.now() + (body.expiresIn - 60) * 1000);
  });

  it('creates the device with its first success and not before', async () => {
    const codes = await ask();
    await decide(codes, 'approve', 'bob');
    expect(await devicesOf('bob')).toEqual([]);
    const { body } = await poll({ device_code: codes.device_code });
    expect(await devicesOf('bob')).toEqual([expect.objectContaining({ id: body.deviceId })]);
  });

  it('returns slow_down below half the interval, and continues at the interval', async () => {
    const codes = await ask();
    expectPollError(await poll({ device_code: codes.device_code }), 'authorization_pending');
    expectPollError(await poll({ device_code: codes.device_code }), 'slow_down');
    await relay.database.sql.execute`
      UPDATE device_codes SET polled_at = polled_at - interval '31 seconds' WHERE user_code = ${codes.user_code}`;
    expectPollError(await poll({ device_code: codes.device_code }), 'authorization_pending');
  });

  it('never returns slow_down to the spelling of daemons in the field, which would give up', async () => {
    const codes = await ask();
    for (let n = 0; n < 5; n += 1)
      expectPollError(await poll({ deviceCode: codes.device_code }), 'authorization_pending');
    await decide(codes);
    expectSuccess('pollCode', 200, await poll({ deviceCode: codes.device_code }));
  });

  it('returns the same credential to simultaneous polls', async () => {
    const codes = await ask();
    await decide(codes, 'approve', 'carol');
    const answers = await Promise.all([1, 2, 3].map(() => poll({ device_code: codes.device_code })));
    for (const answer of answers) {
      expectSuccess('pollCode', 200, answer);
      expect(answer.body).toEqual(answers[0]!.body);
    }
    expect(await devicesOf('carol')).toHaveLength(1);
  });

  it('repeats a credential for 60 s, in case its answer was lost, and then never again', async () => {
    const codes = await ask();
    await decide(codes, 'approve', 'dave');
    const first = await poll({ device_code: codes.device_code });
    const pass = (seconds: number) => relay.database.sql.execute`
      UPDATE device_codes SET redeemed_at = redeemed_at - ${seconds}::double precision * interval '1 second' WHERE user_code = ${codes.user_code}`;
    await pass(50);
    expect((await poll({ device_code: codes.device_code })).body).toEqual(first.body);
    await pass(11);
    expectPollError(await poll({ device_code: codes.device_code }), 'invalid_grant');
    expect(await devicesOf('dave')).toHaveLength(1);
  });

  it('returns access_denied after a denial, on every poll', async () => {
    const codes = await ask();
    await decide(codes, 'deny');
    for (let n = 0; n < 2; n += 1) expectPollError(await poll({ device_code: codes.device_code }), 'access_denied');
  });

  it('returns expired_token after the expiry, approved or not', async () => {
    const [undecided, approved] = [await ask(), await ask()];
    await decide(approved);
    for (const codes of [undecided, approved]) {
      await relay.database.sql.execute`
        UPDATE device_codes SET expires_at = now() - interval '1 second' WHERE user_code = ${codes.user_code}`;
      expectPollError(await poll({ device_code: codes.device_code }), 'expired_token');
    }
  });

  it('looks an unknown code up without a transaction', async () => {
    const database = await openTestDatabase();
    const transaction = jest.spyOn(database.sql, 'transaction');
    const options = { intervalSeconds: 5, repeatMs: 60_000, tokenHashOf: () => '' };
    expect(await pollDeviceCode(database, 'made up', options)).toEqual({ kind: 'unknown' });
    expect(transaction).not.toHaveBeenCalled();
    await database.close();
  });

  it('returns invalid_grant for an unknown code, and for the user code', async () => {
    const codes = await ask();
    for (const device_code of ['garbage', 'x'.repeat(43), codes.user_code, 'x'.repeat(1024)])
      expectPollError(await poll({ device_code }), 'invalid_grant');
  });

  it.each([[{}], [{ device_code: 7 }], [{ deviceCode: null }], [{ code: 'x' }]])('refuses %j', async (body) => {
    expectRefusal(await poll(body), 'INVALID_REQUEST', /device_?[cC]ode/);
  });

  it('refuses an invalid credential in the request', async () => {
    const codes = await ask();
    expectRefusal(await poll({ device_code: codes.device_code }, bearer('garbage')), 'INVALID_TOKEN');
    expectPollError(
      await poll({ device_code: codes.device_code }, bearer(relay.token('bob'))),
      'authorization_pending',
    );
  });
});
