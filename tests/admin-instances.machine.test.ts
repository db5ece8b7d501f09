/** Promise: a change by relay-admin takes effect on every instance at once, and appears in the audit of the person. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Database, openDatabase } from '@relay/database';
import {
  Browser,
  type Cluster,
  type SignInRelay,
  callWith,
  connectApp,
  connectDaemon,
  password,
  signedInWeb,
  startCluster,
} from '@relay/testing';
import { describeWith } from '@relay/testing/needs';

const program = fileURLToPath(new URL('../apps/standalone/dist/admin.js', import.meta.url));
const signIn = {
  AUTH_BUILTIN: 'on',
  AUTH_SECRET: 'a secret of this test that is long enough',
  PUBLIC_URL: 'https://relay.test',
};
const email = 'ada@example.com';

describeWith(['postgresql', 'redis-server'], 'relay-admin, beside two apis and a gateway', () => {
  let cluster: Cluster;
  let database: Database;
  let relay: SignInRelay;
  let browser: Browser;

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 1, env: signIn });
    database = await openDatabase({ url: cluster.databaseUrl });
    relay = { ...cluster, config: { publicUrl: signIn.PUBLIC_URL }, database };
    browser = new Browser(relay);
  }, 120_000);
  afterAll(async () => {
    await database.close();
    await cluster.stop();
  });

  const admin = (...args: string[]) =>
    new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      const addresses = { DATABASE_URL: cluster.databaseUrl, REDIS_URL: cluster.redis.url };
      const env = { PATH: process.env.PATH, ...signIn, ...addresses };
      execFile(process.execPath, [program, ...args], { env }, (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  const json = async (...args: string[]) => {
    const { status, stdout, stderr } = await admin(...args, '--json');
    expect([status, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const codeOf = async (from: Browser, secret: string) => {
    const { status, body } = await from.signIn(email, secret);
    return [status, body.code as string | undefined];
  };
  /** A token from the second in which all tokens were revoked counts as revoked, so this signs in again. */
  const signedIn = async (): Promise<string> => {
    const { access_token: token } = await signedInWeb(browser);
    return (await callWith(relay, token, '/api/me')).status === 200 ? token : signedIn();
  };
  /** A connected machine of the owner of this token. */
  const machine = async (accessToken: string) => {
    const body = { hostname: 'desk', agent_type: 'scripted' };
    const asked = (await relay.call('requestCode', { user: null, body })).body;
    const headers = { Authorization: `Bearer ${accessToken}` };
    const params = { userCode: asked.user_code };
    expect((await relay.call('approveCode', { params, user: null, headers })).status).toBe(200);
    const polled = await relay.call('pollCode', { user: null, body: { device_code: asked.device_code } });
    const { deviceId, refreshToken } = polled.body as { deviceId: string; refreshToken: string };
    const registration = { deviceId, refreshToken, agentType: 'scripted', user: 'ada' };
    return connectDaemon(cluster, { registration });
  };
  const byTheOperator = async (accessToken: string) => {
    const { entries } = (await callWith(relay, accessToken, '/api/me/audit')).body as {
      entries: { action: string; program?: string; target?: string }[];
    };
    return entries
      .filter(({ program: by }) => by === 'relay-admin')
      .map(({ action, target }) => [action, ...(target === undefined ? [] : [target])]);
  };

  it('setup-link creates the first account on any of them, and no link afterwards', async () => {
    const { url = '' } = await json('setup-link');
    const invitation = new URL(url).hash.slice('#token='.length);
    browser.api = 1;
    const made = await browser.send('POST', '/auth/sign-up/email', {
      body: { email, password, name: 'Ada', invitation },
    });
    expect(made.status).toBe(200);
    expect(await json('setup-link')).toEqual({ url: null });
    expect(await json('people')).toMatchObject({ email, hasPassword: true, disabledAt: null });
  });

  it('disable closes sockets and revokes sign-ins on each of them, and leaves the machine connected', async () => {
    const token = await signedIn();
    const daemon = await machine(token);
    const apps = [await connectApp(relay, { token, api: 0 }), await connectApp(relay, { token, api: 1 })];
    expect((await admin('disable', email)).status).toBe(0);
    for (const app of apps) expect((await app.closed).code).toBe(4401);
    for (const api of [0, 1]) {
      expect((await callWith(relay, token, '/api/sessions', api)).body.code).toBe('TOKEN_REVOKED');
      const other = new Browser(relay);
      other.api = api;
      expect(await codeOf(other, password)).toEqual([403, 'ACCOUNT_DISABLED']);
    }
    expect(daemon.socket.readyState).toBe(daemon.socket.OPEN);
    await daemon.close();
    expect((await admin('enable', email)).status).toBe(0);
    expect(await codeOf(browser, password)).toEqual([200, undefined]);
  });

  let secret = password;
  it('reset-password closes sockets and replaces the password on each of them', async () => {
    const token = await signedIn();
    const app = await connectApp(relay, { token, api: 0 });
    secret = (await json('reset-password', email)).password ?? '';
    expect((await app.closed).code).toBe(4401);
    for (const api of [0, 1]) {
      browser.api = api;
      expect((await codeOf(browser, password))[0]).toBe(401);
      expect((await codeOf(browser, secret))[0]).toBe(200);
    }
  });

  it('remove-device closes the socket of a machine, revokes its credential, and publishes the removal to the apps of its owner', async () => {
    const token = await signedIn();
    const daemon = await machine(token);
    const { deviceId, registration } = daemon;
    const app = await connectApp(relay, { token, api: 1, since: '' });
    expect(await admin('remove-device', deviceId)).toMatchObject({ status: 2, stdout: '' });
    expect(await json('remove-device', deviceId, '--yes')).toEqual({ deviceId, removed: true });
    expect((await daemon.closed).code).toBe(4404);
    expect(await app.next('device_removed')).toMatchObject({ deviceId });
    await expect(connectDaemon(cluster, { registration })).rejects.toMatchObject({ status: 401 });
    expect(await admin('remove-device', deviceId, '--yes')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/No device has the id/),
    });
    expect(await byTheOperator(token)).toEqual([
      ['deleteDevice', deviceId],
      ['resetPassword'],
      ['enableAccount'],
      ['disableAccount'],
    ]);
    await app.close();
  });

  it('remove closes all sockets of the person and deletes the account', async () => {
    const token = await signedIn();
    const daemon = await machine(token);
    const app = await connectApp(relay, { token, api: 0 });
    expect((await admin('remove', email, '--yes')).status).toBe(0);
    expect((await app.closed).code).toBe(4401);
    expect((await daemon.closed).code).toBe(4404);
    expect((await codeOf(browser, secret))[0]).toBe(401);
    expect((await admin('people')).stdout).toMatch(/^No accounts yet\./);
  });
});
