/**
 * Promise: one command shows an operator the facts about a complaint, without any text of a conversation, and the relay
 * records each action of an operator.
 */
import { execFile } from 'node:child_process';
import { hostname, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '@relay/database';
import {
  Browser,
  type Cluster,
  type PushReceiver,
  type TestDaemon,
  connectDaemon,
  password,
  signedInWeb,
  startCluster,
  startPushReceiver,
} from '@relay/testing';
import { describeWith } from '@relay/testing/needs';

const program = fileURLToPath(new URL('../apps/standalone/dist/admin.js', import.meta.url));
const email = 'ada@example.com';
const secretWords = 'the merger is called bluebird';

interface Row extends Record<string, string | number | boolean | null | undefined> {
  at?: string;
}
type Found = Record<'devices' | 'connections' | 'queue' | 'outcomes' | 'deliveries' | 'audit', Row[]> & {
  kind: string;
  person?: Row;
  session?: Row;
  queries: { what: string; query: string }[];
};

describeWith(['postgresql', 'redis-server'], 'relay-admin find', () => {
  let cluster: Cluster;
  let receiver: PushReceiver;
  let database: Database;
  let token: string;
  let daemon: TestDaemon;
  let signIn: Record<string, string>;
  let printed = '';

  const admin = (...args: string[]) =>
    new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      const addresses = { DATABASE_URL: cluster.databaseUrl, REDIS_URL: cluster.redis.url };
      const env = { PATH: process.env.PATH, ...signIn, ...addresses };
      execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) => {
        printed += stdout + stderr;
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  const find = async (word: string) => {
    const { status, stdout, stderr } = await admin('find', word, '--json');
    expect([status, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Found;
  };
  const headers = () => ({ Authorization: `Bearer ${token}` });
  const send = (message: string) =>
    cluster.call('createSession', { user: null, headers: headers(), body: { deviceId: daemon.deviceId, message } });

  beforeAll(async () => {
    receiver = await startPushReceiver();
    signIn = {
      ...{ AUTH_BUILTIN: 'on', AUTH_SECRET: 'a secret of this test that is long enough' },
      ...{ PUBLIC_URL: 'https://relay.test', PUSH_ALLOWED_HOSTS: receiver.host },
    };
    cluster = await startCluster({ apis: 1, gateways: 1, env: signIn });
    database = await openDatabase({ url: cluster.databaseUrl });
    const relay = { ...cluster, config: { publicUrl: 'https://relay.test' }, database };
    const browser = new Browser(relay);
    const { url = '' } = JSON.parse((await admin('setup-link', '--json', '--as', 'grace')).stdout) as { url?: string };
    const invitation = new URL(url).hash.slice('#token='.length);
    const account = { email, password, name: 'Ada', invitation };
    expect((await browser.send('POST', '/auth/sign-up/email', { body: account })).status).toBe(200);
    ({ access_token: token } = await signedInWeb(browser));
    const asked = (
      await cluster.call('requestCode', { user: null, body: { hostname: 'desk', agent_type: 'scripted' } })
    ).body;
    await cluster.call('approveCode', { params: { userCode: asked.user_code }, user: null, headers: headers() });
    const polled = await cluster.call('pollCode', { user: null, body: { device_code: asked.device_code } });
    const { deviceId, refreshToken } = polled.body as { deviceId: string; refreshToken: string };
    daemon = await connectDaemon(cluster, {
      registration: { deviceId, refreshToken, agentType: 'scripted', user: 'ada' },
    });
  }, 120_000);
  afterAll(async () => {
    await database?.close();
    await cluster?.stop();
    await receiver?.close();
  });

  it('finds by e-mail and by task why a message does not arrive: its machine is offline', async () => {
    await send(secretWords);
    const start = await daemon.next('task_start');
    daemon.event(start.task_id as string, 'SESSION_STARTED', { session_id: 'native' });
    daemon.event(start.task_id as string, 'TASK_COMPLETE', { result: secretWords });
    await daemon.close();
    const { body } = await send(secretWords);
    let found = await find('Ada@Example.com');
    while (found.devices[0]?.status !== 'offline') found = await find('Ada@Example.com');
    expect(found).toMatchObject({ kind: 'person', person: { email } });
    expect(found.devices).toMatchObject([{ id: daemon.deviceId, status: 'offline' }]);
    expect(found.connections).toMatchObject([{ deviceId: daemon.deviceId, closeCode: 1000 }]);
    expect(found.queue).toMatchObject([{ state: 'queued', sessionId: body.id }]);
    expect(found.outcomes).toMatchObject([{ state: 'completed', errorCode: null }]);
    const task = found.queue[0]!.id as string;
    expect((await find(task)).queue).toEqual(found.queue);
    expect((await find(body.id)).session).toMatchObject({ id: body.id });
    expect((await find(daemon.deviceId)).connections).toEqual(found.connections);
    const { stdout } = await admin('find', email);
    expect(stdout).toMatch(new RegExp(`^queue:\\n {2}id=${task} .*state=queued`, 'm'));
  }, 60_000);

  it('finds by e-mail why no notification arrives: the service refuses it', async () => {
    receiver.answer = (response) => void response.writeHead(410).end();
    const address = { kind: 'ntfy', topic: 'a-topic', url: receiver.url } as const;
    const { subscription } = (await cluster.call('addSubscription', { user: null, headers: headers(), body: address }))
      .body;
    await cluster.call('testSubscription', { params: { id: subscription.id }, user: null, headers: headers() });
    let deliveries: Row[] = [];
    while (deliveries[0]?.state === undefined || deliveries[0].state === 'pending')
      ({ deliveries } = await find(email));
    expect(deliveries[0]).toMatchObject({ kind: 'ntfy', httpStatus: 410 });
  }, 60_000);

  it('finds by the id of a request who sent it, and prints queries for its log lines', async () => {
    const requestId = `complaint-${process.pid}`;
    const asked = { ...headers(), 'X-Request-Id': requestId };
    const { id } = (await find(daemon.deviceId)).devices[0] as { id: string };
    const params = { id };
    await cluster.call('updateDevice', { params, user: null, headers: asked, body: { name: 'my desk' } });
    const found = await find(requestId);
    expect(found.audit).toMatchObject([{ action: 'updateDevice', outcome: 'done', target: id }]);
    expect(found.queries.map(({ what }) => what)).toEqual(['logs', 'Loki']);
    const { stdout } = await admin('find', requestId);
    expect(stdout).toContain(`--prefix --since=24h --tail=-1 | grep -F '${requestId}'`);
    expect(await admin('find', 'nobody@example.com')).toMatchObject({ status: 2, stdout: '' });
    const unknown = await admin('find', 'no-such-id');
    expect(unknown).toMatchObject({ status: 0, stdout: expect.stringMatching(/^No person.*\nIts path/) });
  }, 60_000);

  it('N10: records operator, action, target and time, and shows no text of a conversation', async () => {
    await admin('disable', email, '--as', 'grace');
    await admin('enable', email);
    await admin('remove-device', 'no-such-device', '--yes', '--as', 'grace');
    const { stdout } = await admin('audit', '--json');
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
    const [{ id: ada } = { id: undefined }] = await database.sql.query<{ id: string }>`SELECT id FROM users`;
    const here = `${userInfo().username}@${hostname()}`;
    expect(entries.slice(0, 3)).toMatchObject([
      { by: 'grace', action: 'remove-device', target: 'no-such-device', outcome: 'refused' },
      { by: here, action: 'enable', target: ada, outcome: 'done' },
      { by: 'grace', action: 'disable', target: ada, outcome: 'done' },
    ]);
    expect(entries.at(-1)).toMatchObject({ by: 'grace', action: 'setup-link', target: null, outcome: 'done' });
    expect(entries.filter(({ action }) => action === 'find').length).toBeGreaterThan(5);
    expect(Date.parse(entries[0]!.at ?? '')).toBeGreaterThan(Date.now() - 60_000);
    expect((await find(email)).audit).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ action: 'disable', address: 'grace' })]),
    );
    await admin('remove', email, '--yes', '--as', 'grace');
    expect((await admin('audit')).stdout).toMatch(new RegExp(`^\\S+ {2}grace {2}remove {2}${ada}\n`));
    expect(printed).not.toContain('bluebird');
    expect((await admin('audit')).stdout).not.toContain(email);
  }, 60_000);
});
