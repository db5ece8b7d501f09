import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, startRelay } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { bearer, itAsksForCredentials } from '../credentials.ts';

/** Reading, approving and denying a pending user code; and guessing one. */
describe('/api/devices/code/:userCode', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    // Uses a proxy, so that each test has a separate address.
    relay = await startRelay({ config: { trustProxy: 1 } });
  });
  afterAll(() => relay.stop());

  itAsksForCredentials(() => relay, 'readCode');
  itAsksForCredentials(() => relay, 'approveCode');
  itAsksForCredentials(() => relay, 'denyCode');

  interface Codes {
    device_code: string;
    user_code: string;
  }
  let addresses = 0;
  const freshAddress = () => `192.0.2.${(addresses += 1)}`;
  const ask = async (headers: Record<string, string> = {}) => {
    const body = { hostname: 'laptop', agent_type: 'scripted', device_name: 'My box' };
    return (await relay.call('requestCode', { user: null, body, headers })).body as Codes;
  };
  const by = (user: string, address = freshAddress()) => {
    const headers = { 'X-Forwarded-For': address };
    return {
      read: (code: string) => relay.call('readCode', { params: { userCode: code }, user, headers }),
      approve: (code: string) => relay.call('approveCode', { params: { userCode: code }, user, headers }),
      deny: (code: string) => relay.call('denyCode', { params: { userCode: code }, user, headers }),
    };
  };
  const poll = (codes: Codes) => relay.call('pollCode', { user: null, body: { device_code: codes.device_code } });

  it('shows the requesting machine, its address, and the start and expiry of the code', async () => {
    const codes = await ask({ 'X-Forwarded-For': '198.51.100.7' });
    const detail = expectSuccess('readCode', 200, await by('alice').read(codes.user_code)) as Record<string, string>;
    expect(detail).toEqual({
      userCode: codes.user_code,
      hostname: 'laptop',
      agentType: 'scripted',
      deviceName: 'My box',
      requestedFrom: '198.51.100.7',
      requestedAt: expect.any(String),
      expiresAt: expect.any(String),
    });
    expect(Math.round((Date.parse(detail.expiresAt!) - Date.parse(detail.requestedAt!)) / 1000)).toBe(900);
  });

  it('accepts the code in any typed form', async () => {
    const alice = by('alice');
    const { user_code } = await ask();
    for (const typed of [
      user_code,
      user_code.toLowerCase(),
      user_code.replace('-', ''),
      ` ${user_code.replace('-', ' – ')} `,
    ])
      expect((await alice.read(typed)).body).toMatchObject({ userCode: user_code });
  });

  it('approves once', async () => {
    const codes = await ask();
    const alice = by('alice');
    const approved = expectSuccess('approveCode', 200, await alice.approve(codes.user_code)) as { deviceId: string };
    expect(approved).toEqual({ deviceId: expect.stringMatching(/^[0-9A-Z]{26}$/), approved: true });
    for (const again of [
      await alice.approve(codes.user_code),
      await alice.deny(codes.user_code),
      await alice.read(codes.user_code),
    ])
      expectRefusal(again, 'CODE_ALREADY_USED');
    expect((await poll(codes)).body.deviceId).toBe(approved.deviceId);
    expectRefusal(await alice.approve(codes.user_code), 'CODE_ALREADY_USED');
  });

  it('denies once', async () => {
    const codes = await ask();
    const alice = by('alice');
    expect(expectSuccess('denyCode', 200, await alice.deny(codes.user_code))).toEqual({ approved: false });
    for (const again of [
      await alice.approve(codes.user_code),
      await alice.deny(codes.user_code),
      await alice.read(codes.user_code),
    ])
      expectRefusal(again, 'CODE_ALREADY_USED');
    expect((await poll(codes)).body.error).toBe('access_denied');
  });

  it('gives the device to one of two people who approve at the same time', async () => {
    const codes = await ask();
    const answers = await Promise.all([by('bob').approve(codes.user_code), by('carol').approve(codes.user_code)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const winner = answers[0].status === 200 ? 'bob' : 'carol';
    const { body } = await poll(codes);
    for (const user of ['bob', 'carol']) {
      const { devices } = (await relay.call('listDevices', { user })).body as { devices: { id: string }[] };
      expect(devices.map(({ id }) => id)).toEqual(user === winner ? [body.deviceId] : []);
    }
  });

  it('of a code that is bound to a user hides it from other users', async () => {
    const codes = await ask(bearer(relay.token('dave')));
    const stranger = by('mallory');
    for (const answer of [
      await stranger.read(codes.user_code),
      await stranger.approve(codes.user_code),
      await stranger.deny(codes.user_code),
    ])
      expectRefusal(answer, 'CODE_NOT_FOUND');
    expectSuccess('approveCode', 200, await by('dave').approve(codes.user_code));
    expectRefusal(await stranger.approve(codes.user_code), 'CODE_NOT_FOUND');
  });

  it('returns 404 for an expired code', async () => {
    const codes = await ask();
    await relay.database.sql.execute`
      UPDATE device_codes SET expires_at = now() - interval '1 second' WHERE user_code = ${codes.user_code}`;
    const erin = by('erin');
    for (const answer of [
      await erin.read(codes.user_code),
      await erin.approve(codes.user_code),
      await erin.deny(codes.user_code),
    ])
      expectRefusal(answer, 'CODE_NOT_FOUND');
  });

  describe('prevents guessing:', () => {
    const wrong = ['BBBB-BBBB', 'AEIO-UAEI', 'short', 'x'.repeat(500), 'bbbb-bbbc', 'BBBB-BBBD'];

    it('after five wrong codes a user gets no answer, not even for a correct one', async () => {
      const codes = await ask();
      const kinds = ['read', 'approve', 'deny'] as const;
      for (const [n, code] of wrong.slice(0, 5).entries())
        expectRefusal(await by('guesser')[kinds[n % 3]!](code), 'CODE_NOT_FOUND');
      const answer = await by('guesser').approve(codes.user_code);
      expectRefusal(answer, 'RATE_LIMITED');
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(60);
      expect(answer.body.retryAfter).toBe(Number(answer.headers['retry-after']));
      expectSuccess('approveCode', 200, await by('mallory').approve(codes.user_code));
    });

    it('correct codes cost nothing', async () => {
      const frank = by('frank');
      for (let n = 0; n < 8; n += 1) {
        const { user_code } = await ask();
        expect((await frank.read(user_code)).status).toBe(200);
        expect((await frank.approve(user_code)).status).toBe(200);
        expect((await frank.approve(user_code)).status).toBe(409);
      }
    });

    it('many correct codes at the same time cost nothing: thirty users of one address, one user eight times', async () => {
      const address = freshAddress();
      const neighbours = Array.from({ length: 30 }, (_, n) => by(`neighbour ${n}`, address));
      const devices = Array.from({ length: 8 }, () => by('gina'));
      // One group after the other: a code over a limit waits most of a second for those before it, and no longer.
      for (const people of [neighbours, devices]) {
        const codes = await Promise.all(people.map(async () => (await ask()).user_code));
        const answers = await Promise.all(people.map((one, n) => one.approve(codes[n]!)));
        expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      }
    });

    it('simultaneous guesses count like sequential ones', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => by('hasty').read('BBBB-BBBB')));
      expect(answers.filter(({ status }) => status === 404)).toHaveLength(5);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
    });

    it('after twenty wrong codes an address gets no answer, for any user', async () => {
      const address = freshAddress();
      for (let n = 0; n < 20; n += 1)
        expectRefusal(await by(`crowd ${n % 10}`, address).read(wrong[n % wrong.length]!), 'CODE_NOT_FOUND');
      const { user_code } = await ask();
      expectRefusal(await by('newcomer', address).read(user_code), 'RATE_LIMITED');
      expectSuccess('readCode', 200, await by('newcomer').read(user_code));
    });
  });
});
