/**
 * Promise: the next release can replace a single process on its data folder, and nothing is lost; the way back works
 * too, unless a migration forbids it (docs/releases.md, "Upgrade").
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Browser,
  type Registration,
  type RelayAddress,
  type RelayProcess,
  type TestRelay,
  callerOf,
  cliRedirect,
  connectDaemon,
  password,
  pkce,
  registerDevice,
  send,
  setupLinkOf,
  startRelayProcess,
  token,
} from '@relay/testing';
import { type Release, buildRelease, migrationsOf, previousCommit } from './previous-release.ts';
import { until } from './until.ts';

const thisRelease = fileURLToPath(new URL('../..', import.meta.url));
const publicUrl = 'http://localhost:4000';
const email = 'ada@example.com';
const patienceMs = 600_000;

/** `1.10.0` is newer than `1.9.0`. */
const isNewer = (version: string, than: string) => version.localeCompare(than, 'en', { numeric: true }) > 0;

describe('the previous release and this one, one after the other on one data folder', () => {
  let before: Release;
  /** Migrations that the previous release does not know. */
  let added: string[];
  let dataDir: string;
  let relay: RelayProcess | undefined;
  /** From the first start: a browser and a program that stay signed in, a machine, and its session. */
  let cookies: ReadonlyMap<string, string>;
  let bearer: string;
  let machine: Registration;
  let session: string;
  /** Completed tasks with their answers, and the message that has been queued since the last stop. */
  const answers = new Map<string, string>();
  let waiting: string | undefined;

  beforeAll(async () => {
    before = await buildRelease(await previousCommit(['prisma/migrations']));
    const known = new Set(before.migrations);
    added = (await migrationsOf(thisRelease)).filter((name) => !known.has(name));
    dataDir = await mkdtemp(join(tmpdir(), 'relay-one-process-'));
    process.stdout.write(`before: ${before.commit}; migrations since: ${added.join(', ') || 'none'}\n`);
  }, patienceMs);
  afterAll(async () => {
    await relay?.end('SIGKILL');
    await before?.remove();
    if (dataDir) await rm(dataDir, { recursive: true, force: true });
  });

  const start = async (release: string): Promise<RelayProcess> => {
    await relay?.end('SIGTERM');
    relay = undefined;
    return (relay = await startRelayProcess({
      dataDir,
      release,
      env: { AUTH_BUILTIN: 'on', AUTH_DEV_ISSUER: 'off', PUBLIC_URL: publicUrl, SIGN_IN_PER_MINUTE: '1000' },
    }));
  };

  const browserOf = ({ apis }: RelayProcess) =>
    // A browser needs nothing else of a relay.
    new Browser({ apis, config: { publicUrl } } as unknown as TestRelay);

  /** The relay as seen by a program of the person with this access token. */
  const seenBy = (at: RelayProcess, access: string): RelayAddress => ({
    ...at,
    token: () => access,
    call: callerOf([at.url], () => access),
  });

  /** Signs in with the password; resolves with the access token of a program. */
  async function signIn(at: RelayProcess): Promise<string> {
    const browser = browserOf(at);
    expect((await browser.signIn(email)).status).toBe(200);
    cookies ??= new Map(browser.cookies);
    const { verifier, challenge } = pkce();
    const answer = await token(browser.relay, {
      grant_type: 'authorization_code',
      client_id: 'relay-cli',
      code: await browser.code('relay-cli', challenge),
      code_verifier: verifier,
      redirect_uri: cliRedirect,
    });
    expect(answer.status).toBe(200);
    return (answer.body as { access_token: string }).access_token;
  }

  /** Connects the machine, answers the queued message, and leaves another one for the next release. */
  async function turn(at: RelayAddress): Promise<void> {
    const daemon = await connectDaemon(at, { registration: machine });
    const given = await daemon.next(answers.size === 0 ? 'task_start' : 'task_resume');
    expect(given.instruction ?? given.message).toBe(waiting);
    const taskId = String(given.task_id);
    if (answers.size === 0) daemon.event(taskId, 'SESSION_STARTED', { session_id: 'native' });
    answers.set(taskId, `answer to ${waiting}`);
    daemon.event(taskId, 'TASK_COMPLETE', { result: answers.get(taskId) });
    const state = async () => (await at.call('readTask', { params: { id: taskId } })).body.state;
    await until(`"${waiting}" is answered`, async () => (await state()) === 'completed');
    await daemon.close();
    session = (await at.call('listSessions')).body.sessions[0]!.id;
    waiting = `message ${answers.size + 1}`;
    const sent = await at.call('sendMessage', { params: { id: session }, body: { content: waiting } });
    expect(sent.status).toBeLessThan(300);
  }

  /** Checks that all data of the earlier releases exists and works. */
  async function holds(at: RelayProcess): Promise<void> {
    const browser = browserOf(at);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect((await browser.send('GET', '/auth/get-session')).body).toMatchObject({ user: { email } });
    const earlier = seenBy(at, bearer);
    const { devices } = (await earlier.call('listDevices')).body;
    expect(devices.map(({ id }) => id)).toEqual([machine.deviceId]);
    const { sessions } = (await earlier.call('listSessions')).body;
    expect(sessions.map(({ id, title }) => ({ id, title }))).toEqual([{ id: session, title: 'message 1' }]);
    for (const [id, result] of answers)
      expect((await earlier.call('readTask', { params: { id } })).body).toMatchObject({ state: 'completed', result });
    await turn(seenBy(at, await signIn(at)));
  }

  it(
    'the previous release has a person, a machine, and a session with messages',
    async () => {
      const at = await start(before.folder);
      const invitation = new URL(await setupLinkOf(at)).hash.slice('#token='.length);
      const headers = { Origin: publicUrl };
      const person = { email, password, name: 'Ada', invitation };
      expect((await send('POST', `${at.url}/auth/sign-up/email`, { body: person, headers })).status).toBe(200);
      bearer = await signIn(at);
      machine = await registerDevice(seenBy(at, bearer));
      waiting = 'message 1';
      const body = { deviceId: machine.deviceId, message: waiting };
      expect((await seenBy(at, bearer).call('createSession', { body })).status).toBe(201);
      await turn(seenBy(at, bearer));
    },
    patienceMs,
  );

  it('this release has all of that, and sign-in, machine and session work', async () => {
    await holds(await start(thisRelease));
  }, 120_000);

  it('the previous release continues with the data of this one, or refuses if a migration requires that', async () => {
    const read = (folder: string, path: string) => readFile(join(folder, path), 'utf8');
    const { version } = JSON.parse(await read(before.folder, 'package.json')) as { version: string };
    const floors = added.map(async (name) =>
      /^-- compatible-with: (\S+)$/m.exec(await read(thisRelease, `prisma/migrations/${name}/migration.sql`)),
    );
    const isAllowed = (await Promise.all(floors)).every((floor) => floor !== null && !isNewer(floor[1]!, version));
    if (isAllowed) await holds(await start(before.folder));
    else await expect(start(before.folder)).rejects.toThrow(/newer release/);
  }, 120_000);

  it('this release continues again', async () => {
    await holds(await start(thisRelease));
  }, 120_000);
});
