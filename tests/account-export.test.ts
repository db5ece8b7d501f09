/**
 * The export has everything that the relay keeps of a person in one document (rules, 8.16), no data of other people,
 * and no secret.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { get } from 'node:http';
import { AccountExport, validator } from '@relay/protocol';
import {
  Authenticator,
  Browser,
  type TestRelay,
  setUpSecondFactor,
  signedInCli,
  signedInWeb,
  startRelay,
} from '@relay/testing';
import { found, personWith } from './erasure-scene.ts';

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';

describe('GET /api/me/export', () => {
  let relay: TestRelay;

  beforeAll(async () => {
    relay = await startRelay({ identity: true });
  });
  afterAll(() => relay.stop());

  it('S4: has every marker of the person, no data of other people, and no secret', async () => {
    const browser = new Browser(relay);
    await browser.signUp('mailibex@example.com');
    await browser.send('POST', '/auth/update-user', { body: { name: 'nameibex' } });
    const factor = await setUpSecondFactor(browser);
    expect((await new Authenticator().register(browser, 'passkeyibex')).status).toBe(200);
    const cli = await signedInCli(browser);
    const invited = await browser.send('POST', '/auth/relay/invitations', { body: {} });
    const ibex = await personWith(relay, 'ibex', (await signedInWeb(browser)).access_token);
    const gnu = await personWith(relay, 'gnu', relay.token('gnu', { email: 'mailgnu@example.com', name: 'namegnu' }));
    const waiting = await ibex.relay.call('requestCode', { body: { hostname: 'waitingibex', agent_type: 'scripted' } });
    await ibex.relay.call('createSession', {
      body: { deviceId: ibex.daemon.deviceId, message: 'queuedibex', title: 'deletedibex' },
    });
    const last = await ibex.daemon.next('task_start', ({ instruction }) => instruction === 'queuedibex');
    ibex.daemon.send({ type: 'status', running_tasks: [last.task_id] });

    const answer = await ibex.relay.call('GET', '/api/me/export');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(answer.headers['content-disposition']).toContain('relay-account.json');
    expect(validator(AccountExport)(answer.body)).toMatchObject({ ok: true });
    // The relay discards a first message once its task has completed.
    const words = [
      ...ibex.words.filter((word) => word !== 'firstibex'),
      'mailibex',
      'nameibex',
      'passkeyibex',
      'waitingibex',
      'queuedibex',
    ];
    expect(words.filter((word) => !answer.text.includes(word))).toEqual([]);
    expect(found(answer.text, [...gnu.words, 'mailgnu', 'namegnu', 'gnu'])).toEqual([]);
    const body = answer.body as Record<string, unknown[]>;
    expect(body).toMatchObject({ signInMethods: ['credential'], watchedSessions: [expect.any(String)] });
    expect(body.account).toMatchObject({ secondFactor: true });
    expect(body.invitations).toHaveLength(1);
    expect(body.sessions).toHaveLength(2);
    expect(body.tasks).toHaveLength(3);
    expect(body.questions).toMatchObject([{ state: 'open', sessionId: expect.any(String) }]);
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    const invitation = (invited.body.url as string).split('=')[1]!;
    const rows = [
      ...(await relay.database.models.device.findMany()).map(({ tokenHash }) => tokenHash),
      ...(await relay.database.models.credential.findMany()).map(({ password }) => password!),
      ...(await relay.database.models.login.findMany()).map(({ token }) => token),
      ...(await relay.database.models.oauthRefreshToken.findMany()).map(({ token }) => token),
      ...(await relay.database.models.passkey.findMany()).flatMap((row) => [row.publicKey, row.credentialID]),
      ...(await relay.database.models.secondFactor.findMany()).flatMap((row) => [row.secret, row.backupCodes]),
      ...(await relay.database.models.deviceCode.findMany()).flatMap(({ codeHash, userCode, tokenSalt }) => [
        codeHash,
        userCode,
        tokenSalt,
      ]),
    ];
    const secrets = [
      ...[ibex.daemon.registration.refreshToken, invitation, cli.access_token, cli.refresh_token!, ibex.token],
      ...[hash(invitation), waiting.body.device_code, ...rows],
      ...[new URL(factor.uri).searchParams.get('secret')!, ...factor.recoveryCodes],
    ];
    expect(secrets.length).toBeGreaterThan(12);
    expect(found(answer.text, secrets)).toEqual([]);

    const theirs = await gnu.relay.call('exportMe');
    expect(validator(AccountExport)(theirs.body)).toMatchObject({ ok: true });
    expect(theirs.body).toMatchObject({ account: { id: gnu.userId, email: 'mailgnu@example.com', name: 'namegnu' } });
    expect(found(theirs.text, [...ibex.words, 'mailibex'])).toEqual([]);
  });

  it('S4: has the images of queued messages, but no deleted session', async () => {
    const oryx = await personWith(relay, 'oryx', relay.token('oryx'));
    const [session] = (await oryx.relay.call('listSessions')).body.sessions as { id: string }[];
    await oryx.relay.call('deleteSession', { params: { id: session!.id } });
    await oryx.daemon.close();
    const { body } = await oryx.relay.call('createSession', {
      body: { deviceId: oryx.daemon.deviceId, message: 'look', images: [pixel] },
    });
    const { text, body: document } = await oryx.relay.call('exportMe');
    if (body.code === 'NOT_SUPPORTED_BY_DEVICE') throw new Error('the scripted daemon rules images out');
    expect((document as { tasks: unknown[] }).tasks).toMatchObject([{ instruction: 'look', images: [pixel] }]);
    expect(found(text, ['renamedoryx', 'titleoryx', 'resultoryx'])).toEqual([]);
  });

  it('S4: streams in chunks, so that a large account takes bounded memory', async () => {
    const eland = await personWith(relay, 'eland', relay.token('eland'));
    const database = relay.database;
    const [session] = await database.models.session.findMany({ where: { ownerId: eland.userId } });
    const many = 100;
    await database.sql.execute`
      INSERT INTO tasks (id, session_key, device_id, owner_id, kind, state, instruction, result, expires_at, finished_at)
      SELECT 'many-' || n, ${session!.key}, ${session!.deviceId}, ${eland.userId}, 'resume', 'completed', '', n || repeat(repeat('r', 1000), 200), now(), now()
      FROM generate_series(1, ${many}::int) n`;
    const chunks = await new Promise<number[]>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${eland.token}` };
      get(`${relay.url}/api/me/export`, { headers }, (response) => {
        expect(response.headers['transfer-encoding']).toBe('chunked');
        const sizes: number[] = [];
        response.on('data', (chunk: Buffer) => sizes.push(chunk.length));
        response.on('end', () => resolve(sizes));
        response.on('error', reject);
      }).on('error', reject);
    });
    expect(chunks.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(many * 200_000);
    expect(chunks.length).toBeGreaterThan(many);
  });

  it('S4: needs both scopes, and refuses the seventh export within ten minutes', async () => {
    const call = (scopes?: string[]) =>
      relay.call('exportMe', {
        user: null,
        headers: { Authorization: `Bearer ${relay.token('kudu', scopes ? { scopes } : {})}` },
      });
    for (const scope of ['sessions:read', 'devices:read'])
      expect((await call([scope])).body).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    for (let n = 0; n < 6; n += 1) expect((await call()).status).toBe(200);
    const refused = await call();
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });
});
