/** Device registration from both sides (specification §4.1; rules, chapter 7). */
import { type Check, rule, specification } from '../check.ts';
import { matches, must, oneOf, same } from '../expect.ts';
import { agentType } from '../register.ts';
import type { Rest } from '../rest.ts';

const hostname = 'conformance-registration';
const ask = async (rest: Rest) => (await rest.ok('requestCode', { body: { hostname, agent_type: agentType } })).body;

/** A poll that is refused with one of RFC 8628's strings. */
async function polled(rest: Rest, body: Record<string, string>, expected: readonly string[]): Promise<void> {
  const answer = await rest.call('pollCode', { body });
  const { error, code } = answer.body as { error?: string; code?: string };
  same(answer.status, 400, 'status of the poll');
  oneOf(error, expected, 'error of the poll');
  same(code, error?.toUpperCase(), 'code of the poll');
}

export const registration: readonly Check[] = [
  specification(
    '§4.1',
    'POST /api/devices/code',
    'takes hostname and agent_type, and answers a verification URL and a code',
    async ({ rest }) => {
      const { status, body } = await rest.ok('requestCode', { body: { hostname, agent_type: agentType } });
      same(status, 200, 'status');
      matches(body.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/, 'user_code');
      matches(body.verification_uri, /^https?:\/\/.+\/device$/, 'verification_uri');
    },
  ),
  rule(
    '7.2',
    'a request for a code is answered in both spellings, and every verification URL carries the code',
    async ({ rest }) => {
      const body = await ask(rest);
      same([body.expires_in, body.interval], [900, 5], 'expires_in and interval');
      same(
        [body.deviceCode, body.userCode, body.verificationUri, body.verificationUrl, body.expiresIn],
        [body.device_code, body.user_code, body.verification_uri, body.verification_url, body.expires_in],
        'the camelCase fields',
      );
      const complete = `${body.verification_uri}?user_code=${body.user_code}`;
      same([body.verification_url, body.verification_uri_complete], [complete, complete], 'the URLs with the code');
    },
  ),
  rule(
    '1.3',
    'a daemon in the field registers in camelCase: deviceName, hostname, agentType, then deviceCode',
    async ({ rest }) => {
      const { body } = await rest.ok('requestCode', { body: { deviceName: 'At the desk', hostname, agentType } });
      await polled(rest, { deviceCode: body.deviceCode }, ['authorization_pending']);
      const detail = await rest.ok('readCode', { params: { userCode: body.userCode } });
      same([detail.body.deviceName, detail.body.agentType], ['At the desk', agentType], 'what the user is shown');
    },
  ),
  rule('7.3', 'slow_down is never said to a caller that spells deviceCode', async ({ rest }) => {
    const { deviceCode } = await ask(rest);
    for (let poll = 0; poll < 3; poll += 1) await polled(rest, { deviceCode }, ['authorization_pending']);
  }),
  rule(
    '7.3',
    'a caller that spells device_code and polls too fast gets slow_down or authorization_pending',
    async ({ rest }) => {
      const { device_code } = await ask(rest);
      await polled(rest, { device_code }, ['authorization_pending']);
      await polled(rest, { device_code }, ['slow_down', 'authorization_pending']);
    },
  ),
  rule('7.2', 'an unknown device code is invalid_grant, a poll without one is 400', async ({ rest }) => {
    await polled(rest, { device_code: 'nobody-asked-for-this' }, ['invalid_grant']);
    const { status } = await rest.call('pollCode', { body: {} });
    same(status, 400, 'status of a poll without a code');
  }),
  specification(
    '§5',
    'point 7 credential from registration',
    'after the user approves, the poll answers device_id and refresh_token, in both spellings, and again within 60 s',
    async ({ rest }) => {
      const { device_code, user_code } = await ask(rest);
      const approved = await rest.ok('approveCode', { params: { userCode: user_code } });
      const { body } = await rest.ok('pollCode', { body: { device_code } });
      matches(body.refresh_token, /^rly_drt_.{40,}/, 'refresh_token');
      same(
        [body.device_id, body.deviceId, body.refreshToken],
        [approved.body.deviceId, body.device_id, body.refresh_token],
        'device_id, deviceId, refreshToken',
      );
      same(
        [body.expires_in, body.expiresIn, body.access_token, body.accessToken],
        [7_776_000, 7_776_000, body.refresh_token, body.refresh_token],
        'expires_in and expiresIn (90 days), access_token and accessToken',
      );
      const again = await rest.ok('pollCode', { body: { deviceCode: device_code } });
      same(again.body, body, 'the answer to a poll whose first answer was lost');
      await rest.ok('deleteDevice', { params: { id: body.device_id }, as: body.refresh_token });
    },
  ),
  rule('7.4', 'the user is shown who asks; case and dash of the code do not matter', async ({ rest }) => {
    const { user_code } = await ask(rest);
    const { body } = await rest.ok('readCode', { params: { userCode: user_code.replace('-', '').toLowerCase() } });
    same(
      [body.userCode, body.hostname, body.agentType, body.deviceName],
      [user_code, hostname, agentType, hostname],
      'userCode, hostname, agentType, deviceName',
    );
    must(body.requestedFrom !== '', 'expected the address that asked, came an empty text');
    must(Date.parse(body.expiresAt) > Date.parse(body.requestedAt), 'expected expiresAt after requestedAt');
  }),
  rule('7.4', 'after the user denies, the poll answers access_denied and the code is used', async ({ rest }) => {
    const { device_code, user_code } = await ask(rest);
    const { body } = await rest.ok('denyCode', { params: { userCode: user_code } });
    same(body.approved, false, 'approved');
    await polled(rest, { device_code }, ['access_denied']);
    await rest.refused('approveCode', 'CODE_ALREADY_USED', { params: { userCode: user_code } });
  }),
  rule(
    '7.8',
    'a request without hostname, without or with a malformed agent type is 400 INVALID_REQUEST',
    async ({ rest }) => {
      for (const body of [{ agent_type: agentType }, { hostname }, { hostname, agentType: 'No Type!' }])
        await rest.refused('requestCode', 'INVALID_REQUEST', { body });
    },
  ),
  rule(
    '7.13',
    'a registration key registers as many machines as it says without a person, and no more; a revoked one none',
    async ({ rest }) => {
      const body = { hostname, agent_type: agentType };
      const { body: key } = await rest.ok('createDeviceKey', { body: { ttlSeconds: 60, uses: 1 } });
      const asked = await rest.ok('requestCode', { body: { ...body, key: key.key } });
      same(asked.body.approved, true, 'approved');
      const { body: granted } = await rest.ok('pollCode', { body: { device_code: asked.body.device_code } });
      await rest.ok('deleteDevice', { params: { id: granted.device_id }, as: granted.refresh_token });
      await rest.refused('requestCode', 'KEY_NOT_VALID', { body: { ...body, key: key.key } });
      const { body: list } = await rest.ok('listDeviceKeys');
      same(list.keys.find(({ id }) => id === key.id)?.used, 1, 'used');
      await rest.ok('revokeDeviceKey', { params: { id: key.id } });
      const { body: other } = await rest.ok('createDeviceKey', { body: { ttlSeconds: 60, uses: 1 } });
      await rest.ok('revokeDeviceKey', { params: { id: other.id } });
      await rest.refused('requestCode', 'KEY_NOT_VALID', { body: { ...body, key: other.key } });
    },
  ),
  rule('7.1', 'a bearer that is sent along with a request for a code must be valid', async ({ rest }) => {
    await rest.refused('requestCode', 'INVALID_TOKEN', {
      as: 'not-a-token',
      body: { hostname, agent_type: agentType },
    });
  }),
  rule(
    '7.1',
    'a code that was asked for with a bearer is bound to that user: for another it is 404 CODE_NOT_FOUND',
    async ({ rest, token, otherToken = '' }) => {
      const { body } = await rest.ok('requestCode', { as: token, body: { hostname, agent_type: agentType } });
      const params = { userCode: body.user_code };
      // After five wrong codes in ten minutes the answer is 429, which happens after several runs of this suite.
      const answer = await rest.call('readCode', { params, as: otherToken, untilLimit: true });
      oneOf(answer.status, [404, 429], 'status for the other user');
      if (answer.status === 404) same((answer.body as { code?: unknown }).code, 'CODE_NOT_FOUND', 'code');
      await rest.ok('denyCode', { params });
    },
    'other-token',
  ),
];
