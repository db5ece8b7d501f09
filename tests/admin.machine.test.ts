/**
 * Promise: a forgotten password does not lose the relay. `relay-admin` works on the data of a relay, whether it runs or
 * not.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RelayProcess, oneTimeCode, setupLinkOf, startRelayProcess } from '@relay/testing';

const program = fileURLToPath(new URL('../apps/standalone/dist/admin.js', import.meta.url));
const publicUrl = 'http://localhost:4000';
const env = { AUTH_BUILTIN: 'on', PUBLIC_URL: publicUrl };
const first = { email: 'ada@example.com', password: 'a first good password', name: 'Ada' };

describe('relay-admin', () => {
  let dataDir: string;
  let relay: RelayProcess | undefined;

  const admin = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...env },
    });
    return { status, stdout, stderr };
  };
  /** The same program, without blocking this process, which must read the relay's output. */
  const adminBeside = (...args: string[]) =>
    new Promise<{ status: number; stdout: string; stderr: string }>((resolve) => {
      const options = { env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...env } };
      execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  const whileItRuns = async <T>(work: (relay: RelayProcess) => Promise<T>): Promise<T> => {
    relay = await startRelayProcess({ dataDir, env });
    try {
      return await work(relay);
    } finally {
      await relay.end('SIGTERM');
    }
  };
  const post = async ({ url }: RelayProcess, path: string, body: object, more: Record<string, string> = {}) => {
    const headers = { 'Content-Type': 'application/json', Origin: publicUrl, ...more };
    return fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const signIn = async (at: RelayProcess, password: string) =>
    (await post(at, '/auth/sign-in/email', { email: first.email, password })).status;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'relay-admin-'));
    await whileItRuns(async (at) => {
      const token = new URL(await setupLinkOf(at)).hash.slice('#token='.length);
      expect((await post(at, '/auth/sign-up/email', { ...first, invitation: token })).status).toBe(200);
    });
  }, 120_000);
  afterAll(async () => {
    await relay?.end('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  });

  it('shows status, devices and queues of a running relay and of a stopped one', async () => {
    const look = async (
      run: (...args: string[]) => Promise<{ status: number | null; stdout: string; stderr: string }>,
    ) => {
      const json = async (command: string) =>
        JSON.parse((await run(command, '--json')).stdout.split('\n')[0]!) as unknown;
      expect(await json('status')).toMatchObject({
        database: true,
        backplane: true,
        schema: 'own',
        people: 1,
        tasks: { queued: 0 },
        outboxSeconds: 0,
      });
      expect(await run('devices')).toEqual({ status: 0, stdout: 'No devices yet.\n', stderr: '' });
      expect((await run('devices', first.email)).stdout).toBe(`${first.email} has no devices.\n`);
      expect((await run('queues')).stdout).toBe('No messages are queued.\n');
      expect((await run('setup-link')).stdout).toContain('There are accounts already.');
      const { status, stdout } = await run('doctor');
      const findings = stdout.split('\n');
      expect(status).toBe(findings.some((line) => line.startsWith('BAD')) ? 1 : 0);
      expect(findings).toEqual(
        expect.arrayContaining([expect.stringMatching(/^ok {3}database: answers/), 'ok   accounts: 1']),
      );
      expect(findings.find((line) => line.includes('PUBLIC_URL'))).toMatch(/PUBLIC_URL: http:\/\/localhost:4000 /);
    };
    await look((...args) => Promise.resolve(admin(...args)));
    await whileItRuns(() => look(adminBeside));
  }, 240_000);

  it('lists the people', () => {
    const { status, stdout } = admin('people', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ email: first.email, name: 'Ada', hasPassword: true });
  });

  it('sets a new password and invalidates the old one', async () => {
    const { status, stdout } = admin('reset-password', 'Ada@example.com', '--json');
    expect(status).toBe(0);
    const { password } = JSON.parse(stdout) as { password: string };
    const statuses = await whileItRuns(async (at) => [await signIn(at, password), await signIn(at, first.password)]);
    expect(statuses).toEqual([200, 401]);
  }, 120_000);

  it('removes a second step that a person lost, while a new password keeps it', async () => {
    const sets = async () =>
      JSON.parse((await adminBeside('reset-password', first.email, '--json')).stdout) as { password: string };
    await whileItRuns(async (at) => {
      let { password } = await sets();
      const cookies = (answer: Response) =>
        answer.headers
          .getSetCookie()
          .map((line) => line.split(';')[0])
          .join('; ');
      const signedIn = await post(at, '/auth/sign-in/email', { email: first.email, password });
      const more = { Cookie: cookies(signedIn) };
      const begun = await post(at, '/auth/two-factor/enable', { password }, more);
      const { totpURI } = (await begun.json()) as { totpURI: string };
      expect((await post(at, '/auth/two-factor/verify-totp', { code: oneTimeCode(totpURI) }, more)).status).toBe(200);

      const { stdout } = await adminBeside('reset-password', first.email);
      expect(stdout).toContain(`"relay-admin reset-second-factor ${first.email}" removes that.`);
      ({ password } = await sets());
      const asks = async () =>
        (await post(at, '/auth/sign-in/email', { email: first.email, password })).json() as Promise<object>;
      expect(await asks()).toMatchObject({ twoFactorRedirect: true });
      expect(await adminBeside('reset-second-factor', first.email)).toMatchObject({ status: 0 });
      expect(await asks()).toHaveProperty('user');
      expect(await adminBeside('reset-second-factor', first.email)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('Nothing was changed'),
      });
      expect(await adminBeside('reset-second-factor', 'eve@example.com')).toMatchObject({ status: 2 });
    });
  }, 120_000);

  it('signs a disabled person out, and refuses their sign-in until an operator enables them', async () => {
    await whileItRuns(async (at) => {
      const { password } = JSON.parse((await adminBeside('reset-password', first.email, '--json')).stdout) as {
        password: string;
      };
      const signedIn = await post(at, '/auth/sign-in/email', { email: first.email, password });
      const cookie = signedIn.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
      const me = async () => (await fetch(`${at.url}/auth/relay/me`, { headers: { Cookie: cookie } })).status;
      expect(await me()).toBe(200);
      expect(await adminBeside('disable', first.email)).toMatchObject({ status: 0 });
      expect(await me()).toBe(401);
      const refused = await post(at, '/auth/sign-in/email', { email: first.email, password });
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({ code: 'ACCOUNT_DISABLED' });
      expect((await adminBeside('people')).stdout).toMatch(/ada@example\.com .*disabled since/);
      expect(await adminBeside('enable', first.email)).toMatchObject({ status: 0 });
      expect(await signIn(at, password)).toBe(200);
      expect(await adminBeside('disable', 'eve@example.com')).toMatchObject({ status: 2 });
    });
  }, 120_000);

  it('prints a link that creates exactly one account', async () => {
    const { stdout } = admin('invite', '--json');
    const token = new URL((JSON.parse(stdout) as { url: string }).url).hash.slice('#token='.length);
    const grace = { email: 'grace@example.com', password: 'another good password', name: 'Grace', invitation: token };
    const statuses = await whileItRuns(async (at) => [
      (await post(at, '/auth/sign-up/email', grace)).status,
      (await post(at, '/auth/sign-up/email', { ...grace, email: 'eve@example.com' })).status,
    ]);
    expect(statuses).toEqual([200, 403]);
  }, 120_000);

  it('removes a person only with --yes', () => {
    expect(admin('remove', 'grace@example.com')).toMatchObject({ status: 2, stdout: '' });
    expect(admin('remove', 'grace@example.com', '--yes').status).toBe(0);
    expect(admin('people', '--json').stdout.trim().split('\n')).toHaveLength(1);
  }, 60_000);

  it.each([
    [
      'an address without an account',
      ['reset-password', 'eve@example.com'],
      /No account has the address eve@example\.com/,
    ],
    ['a command that does not exist', ['promote', first.email], /is not a command/],
    ['an option that does not exist', ['people', '--all'], /--help/],
    ['a command without its address', ['reset-password'], /is not a command/],
    ['to drain the only process', ['drain'], /is a single process/],
    ['to inspect Redis of a relay that does not use it', ['redis'], /has no Redis/],
  ])('refuses %s with advice, and exit code 2', (_, args, why) => {
    const { status, stderr } = admin(...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(why);
  });

  it('refuses a folder without a relay, and does not create it', () => {
    const nowhere = join(dataDir, 'nowhere');
    const { status, stderr } = spawnSync(process.execPath, [program, 'people'], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...env, DATA_DIR: nowhere },
    });
    expect(status).toBe(2);
    expect(stderr).toContain('Set DATA_DIR');
    expect(existsSync(nowhere)).toBe(false);
  });

  it('works while the relay runs, and prints its refusals', async () => {
    await whileItRuns(async () => {
      expect(await adminBeside('people', '--json')).toMatchObject({
        status: 0,
        stdout: expect.stringContaining(first.email),
      });
      const refused = await adminBeside('reset-password', 'eve@example.com');
      expect(refused).toMatchObject({
        status: 2,
        stdout: '',
        stderr: expect.stringContaining('No account has the address'),
      });
    });
  }, 120_000);
});
