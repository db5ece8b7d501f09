/** The audit of a user has every change and sign-in, without their texts (rules, 8.20). */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuditEntry } from '@relay/protocol';
import { purge } from '@relay/database';
import {
  Browser,
  type TestRelay,
  connectDaemon,
  registerDevice,
  send,
  signedInCli,
  signedInWeb,
  startRelay,
} from '@relay/testing';
import { WebSocket } from 'ws';
import { expectRefusal } from './answers.ts';
import { until } from './until.ts';

const secretWords = 'words that no entry may hold';

describe('the audit', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ identity: true });
  });
  afterAll(() => relay.stop());

  const auditOf = async (user: string) => (await relay.call('listAudit', { user })).body.entries;
  const actions = (entries: readonly AuditEntry[]) => entries.map(({ action }) => action);
  /** The answer of a refused sign-in does not wait for its entry. */
  const untilRefusalIsWritten = (email: string, times = 1) =>
    until(
      'it is written',
      async () =>
        (
          await relay.database.sql
            .query`SELECT 1 FROM audit_entries WHERE outcome = 'INVALID_EMAIL_OR_PASSWORD' AND times >= ${times}
            AND user_id = (SELECT id FROM users WHERE email = ${email})`
        ).length > 0,
    );

  it('W24: names the session that was started or watched, by its present id', async () => {
    const daemon = await connectDaemon(relay, { user: 'gwen' });
    const { id } = (
      await relay.call('createSession', { user: 'gwen', body: { deviceId: daemon.deviceId, message: 'go' } })
    ).body;
    await relay.call('watch', { user: 'gwen', body: { sessionId: id } });
    const { task_id: taskId } = await daemon.next('task_start');
    daemon.event(String(taskId), 'SESSION_STARTED', { session_id: 'native' });
    const target = id.replace(/PENDING-.*/, 'native');
    await until(
      'the session is named',
      async () => (await auditOf('gwen')).filter((entry) => entry.target === target).length === 2,
    );
    expect(actions((await auditOf('gwen')).filter((entry) => entry.target === target))).toEqual([
      'watch',
      'createSession',
    ]);
  });

  it('records every change with user, program, address, target and outcome, and without any text', async () => {
    const daemon = await connectDaemon(relay, { user: 'ada' });
    const created = await relay.call('createSession', {
      user: 'ada',
      headers: { 'X-Request-Id': 'request-of-the-test' },
      body: { deviceId: daemon.deviceId, message: secretWords, title: secretWords },
    });
    expect(created.status).toBe(201);
    expectRefusal(await relay.call('deleteDevice', { user: 'ada', params: { id: 'none' } }), 'DEVICE_NOT_FOUND');
    const [refused, started, approved] = await auditOf('ada');
    expect(started).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      action: 'createSession',
      outcome: 'done',
      address: '127.0.0.1',
      target: created.body.id,
      requestId: 'request-of-the-test',
    });
    expect(refused).toMatchObject({ action: 'deleteDevice', outcome: 'DEVICE_NOT_FOUND' });
    expect(refused!.target).toBeUndefined();
    expect(approved).toMatchObject({ action: 'approveCode', outcome: 'done', target: daemon.deviceId });
    const rows = await relay.database.sql.query<{ row: string }>`SELECT a::text AS row FROM audit_entries a`;
    expect(rows.map(({ row }) => row).join('\n')).not.toContain(secretWords);
    await daemon.close();
  });

  it('records the answered question, with its id and the digest that was shown', async () => {
    const daemon = await connectDaemon(relay, { user: 'bea', headers: { 'X-Daemon-Capabilities': 'prompts' } });
    const body = { deviceId: daemon.deviceId, message: 'hello' };
    const { taskId } = (await relay.call('createSession', { user: 'bea', body })).body;
    await daemon.next('task_start');
    const question = { uuid: 'question-1', title: 'May I?', kind: 'permission', options: [{ id: 'y', label: 'Yes' }] };
    daemon.event(taskId, 'WAIT_FOR_USER', { session_id: 'asks', prompt: 'May I?', question });
    const asking = async () =>
      (await relay.call('listSessions', { user: 'bea' })).body.sessions.find(({ status }) => status === 'waiting')?.id;
    await until('it is asked', async () => (await asking()) !== undefined);
    const params = { id: (await asking())!, uuid: 'question-1' };
    const digest = '5f2c1d9e0b7a4c3e8d6f1a2b3c4d5e6f';
    await relay.call('answerPrompt', { user: 'bea', params, body: { text: secretWords, digest } });
    expect((await auditOf('bea'))[0]).toMatchObject({
      ...{ action: 'answerPrompt', outcome: 'PROMPT_SUPERSEDED', target: params.id, question: 'question-1', digest },
    });
    await daemon.close();
  });

  it('records devices that register with a key, and devices that remove themselves', async () => {
    const { key, id } = (await relay.call('createDeviceKey', { user: 'cem', body: {} })).body;
    await relay.call('requestCode', { user: null, body: { hostname: 'h', agent_type: 'scripted', key } });
    const device = await registerDevice(relay, { user: 'cem' });
    const headers = { Authorization: `Bearer ${device.refreshToken}` };
    await relay.call('deleteDevice', { user: null, headers, params: { id: device.deviceId } });
    expect(await auditOf('cem')).toMatchObject([
      { action: 'deleteDevice', program: 'device', target: device.deviceId },
      { action: 'approveCode' },
      { action: 'requestCode', program: 'registration key' },
      { action: 'createDeviceKey', target: id },
    ]);
  });

  it('records sign-ins, including refused ones, and account changes in the sign-in', async () => {
    const browser = new Browser(relay);
    await browser.signUp('dan@example.com');
    const other = new Browser(relay);
    expect((await other.signIn('dan@example.com', 'not the password')).status).toBe(401);
    await untilRefusalIsWritten('dan@example.com');
    expect((await other.signIn('dan@example.com')).status).toBe(200);
    expect((await other.send('POST', '/auth/sign-out', { body: {} })).status).toBe(200);
    await browser.send('POST', '/auth/relay/invitations', { body: {} });
    await browser.send('POST', '/auth/relay/confirm', { body: { password: 'wrong again' } });
    await signedInCli(browser);
    const { access_token: token } = await signedInWeb(browser);
    const answer = await send('GET', `${relay.url}/api/me/audit`, { headers: { Authorization: `Bearer ${token}` } });
    const { entries } = answer.body as { entries: AuditEntry[] };
    expect(actions(entries)).toEqual([
      'allowProgram',
      'confirmPassword',
      'invite',
      'signOut',
      'signIn',
      'signIn',
      'signIn',
    ]);
    expect(entries[0]).toMatchObject({ target: 'relay-cli', outcome: 'done' });
    expect(entries[1]).toMatchObject({ outcome: 'INVALID_PASSWORD' });
    expect(entries[5]).toMatchObject({
      outcome: 'INVALID_EMAIL_OR_PASSWORD',
      address: expect.stringMatching(/127|::/),
    });
    for (const { requestId } of entries) expect(requestId).toMatch(/./);
  });

  it('counts repeated refusals in one entry, so that a flood of them pushes nothing out', async () => {
    const browser = new Browser(relay);
    await browser.signUp('ida@example.com');
    const stranger = new Browser(relay);
    const fail = async () => {
      for (let n = 0; n < 4; n += 1) {
        expect((await stranger.signIn('ida@example.com', 'not the password')).status).toBe(401);
        await untilRefusalIsWritten('ida@example.com', n + 1);
      }
    };
    await fail();
    await stranger.signIn('ida@example.com');
    await stranger.signIn('ida@example.com', 'not the password');
    const { access_token: token } = await signedInWeb(browser);
    const read = async () => {
      const answer = await send('GET', `${relay.url}/api/me/audit`, { headers: { Authorization: `Bearer ${token}` } });
      return (answer.body as { entries: AuditEntry[] }).entries.map(({ outcome, times }) => [outcome, times]);
    };
    await until('the last one is written', async () => (await read()).length === 4);
    expect(await read()).toEqual([
      ['INVALID_EMAIL_OR_PASSWORD', undefined],
      ['done', undefined],
      ['INVALID_EMAIL_OR_PASSWORD', 4],
      ['done', undefined],
    ]);
  });

  it("records requests that exceed a program's scopes, including reads", async () => {
    const headers = { Authorization: `Bearer ${relay.token('jo', { scopes: ['sessions:read'] })}` };
    for (let n = 0; n < 3; n += 1) {
      expectRefusal(await relay.call('listDevices', { user: null, headers }), 'INSUFFICIENT_SCOPE');
      expectRefusal(
        await relay.call('deleteDevice', { user: null, headers, params: { id: `device-${n}` } }),
        'INSUFFICIENT_SCOPE',
      );
    }
    const found = (await auditOf('jo')).map(({ action, outcome, times, target }) => [action, outcome, times, target]);
    expect(found).toEqual([
      ['deleteDevice', 'INSUFFICIENT_SCOPE', 3, undefined],
      ['listDevices', 'INSUFFICIENT_SCOPE', 3, undefined],
    ]);
  });

  it('D9: records tokens that /mcp, /acp and /ws/attention refuse for their scope', async () => {
    const headers = { Authorization: `Bearer ${relay.token('kit', { scopes: ['devices:read'] })}` };
    const mcp = await relay.call('POST', '/mcp', { user: null, headers, body: {} });
    expect(mcp).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } });
    for (const path of ['/acp/device', '/ws/attention']) {
      const socket = new WebSocket(new URL(path, relay.url.replace('http', 'ws')), { headers });
      socket.on('error', () => undefined);
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      expect(response.statusCode).toBe(403);
      socket.terminate();
    }
    expect((await auditOf('kit')).map(({ action, outcome }) => [action, outcome])).toEqual([
      ['attention', 'INSUFFICIENT_SCOPE'],
      ['acp', 'INSUFFICIENT_SCOPE'],
      ['mcp', 'INSUFFICIENT_SCOPE'],
    ]);
  });

  it('returns pages, newest first, to its user only', async () => {
    for (let n = 0; n < 5; n += 1)
      await relay.call('saveNotificationSettings', {
        ...{ user: 'eve', body: {}, headers: { 'X-Request-Id': `request-${n}` } },
      });
    const first = (await relay.call('listAudit', { user: 'eve', query: { limit: 3 } })).body;
    const rest = (await relay.call('listAudit', { user: 'eve', query: { limit: 3, cursor: first.nextCursor! } })).body;
    expect([...first.entries, ...rest.entries].map(({ requestId }) => requestId)).toEqual(
      [4, 3, 2, 1, 0].map((n) => `request-${n}`),
    );
    expect(rest.nextCursor).toBeUndefined();
    expect(await auditOf('fay')).toEqual([]);
  });

  it('has one entry for refusals whose sessions and questions do not exist', async () => {
    for (const n of [1, 2, 3]) {
      const params = { id: `d:scripted:none-${n}`, uuid: `question-${n}` };
      await relay.call('answerPrompt', { user: 'ivy', params, body: { text: 'yes' } });
      await relay.call('POST', `/api/sessions/${params.id}/messages`, { user: 'ivy', body: { content: 1 } });
    }
    const { entries } = (await relay.call('listAudit', { user: 'ivy' })).body;
    expect(entries.map(({ outcome, times, target, question }) => [outcome, times, target, question])).toEqual([
      ['INVALID_REQUEST', 3, undefined, undefined],
      ['SESSION_NOT_FOUND', 3, undefined, undefined],
    ]);
  });

  it('names no session that the api did not look up', async () => {
    for (const n of [1, 2]) {
      const id = `d:scripted:perhaps-deleted-${n}`;
      const headers = { 'Content-Type': 'text/plain' };
      const sent = await relay.call('POST', `/api/sessions/${id}/messages`, { user: 'kim', raw: 'hello', headers });
      expect(sent.body).toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' });
      const body = { content: 'x'.repeat(256 * 1024 + 1) };
      expect((await relay.call('sendMessage', { user: 'kim', params: { id }, body })).status).toBe(413);
    }
    expect((await auditOf('kim')).map(({ outcome, target, times }) => [outcome, target, times])).toEqual([
      ['PAYLOAD_TOO_LARGE', undefined, 2],
      ['UNSUPPORTED_MEDIA_TYPE', undefined, 2],
    ]);
  });

  it("keeps a user's newest 10,000 entries, for 90 days", async () => {
    await relay.database.sql.query`
      INSERT INTO audit_entries (id, user_id, action, outcome, at)
      SELECT 'gus-' || lpad(n::text, 5, '0'), 'gus', 'a', 'done', now() FROM generate_series(0, 10004) AS n`;
    const old = new Date(Date.now() - 91 * 86_400_000);
    await relay.database.models.auditEntry.create({
      data: { id: 'hal-1', userId: 'hal', action: 'a', outcome: 'done', at: old },
    });
    await purge(relay.database, 60);
    expect(await relay.database.models.auditEntry.count({ where: { userId: 'gus' } })).toBe(10_000);
    expect(await relay.database.models.auditEntry.count({ where: { id: 'gus-00004' } })).toBe(0);
    expect(await relay.database.models.auditEntry.count({ where: { userId: 'hal' } })).toBe(0);
  });
});
