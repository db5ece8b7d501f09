/**
 * Drill: a dump of the database leaks, together with the secrets of its time (docs/runbooks/leaked-dump.md). The test signs in with
 * each usable part of the dump, runs the steps of the runbook, and tries again. It prints the time and the loss.
 */
import { execFile } from 'node:child_process';
import { type JsonWebKey, createHmac, createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '@relay/database';
import {
  Authenticator,
  Browser,
  type Registration,
  type TestIssuer,
  type TestPostgres,
  type TestRelay,
  callWith,
  connectApp,
  connectDaemon,
  giveRecoveryCode,
  openPushKeys,
  password,
  refresh,
  registerDevice,
  setUpSecondFactor,
  signedInCli,
  signedInWeb,
  startIssuer,
  startPostgres,
  startRelay,
} from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import { symmetricDecrypt, verifyPassword } from 'better-auth/crypto';
import jwt from 'jsonwebtoken';
import { createAnswerTokens } from '../src/push/answer-tokens.ts';
import { createSeal } from '../src/push/sealed.ts';
import { type Row, classesIn, readCopy, unclassified } from './dump.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);
const secretsOf = (letter: string) => ({ authSecret: [letter.repeat(40)], pushSecret: [letter.repeat(41)] });
const [leaked, fresh] = [secretsOf('l'), secretsOf('f')];
const people = ['ada@example.com', 'bob@example.com', 'cem@example.com'];

describeWith('postgresql', 'a leaked dump', () => {
  let postgres: TestPostgres;
  let url: string;
  let database: Database;
  let issuer: TestIssuer;
  let relay: TestRelay;
  let machine: Registration;
  let runbook: string;
  let dump: Map<string, Row[]>;

  const start = (secrets: typeof leaked) =>
    startRelay({
      identity: true,
      dearPasswords: true,
      database,
      issuer,
      config: { ...secrets, sweepIntervalMs: 60_000 },
    });
  const program = (name: string, ...args: string[]) =>
    run(join(postgres.address.bin, name), [...args, url], { maxBuffer: 2 ** 26 });
  const takeDump = async () => readCopy((await program('pg_dump', '--data-only', '--no-owner')).stdout);
  const rows = (table: string) => dump.get(table) ?? [];
  const open = (sealed: string) =>
    symmetricDecrypt({ key: leaked.authSecret[0]!, data: sealed.replace(/^\$ba\$\d+\$/, '') });
  const admin = (...args: string[]) => {
    const env = {
      ...{ PATH: process.env.PATH, DATABASE_URL: url, PUBLIC_URL: relay.config.publicUrl, AUTH_BUILTIN: 'on' },
      ...{ AUTH_SECRET: fresh.authSecret[0], PUSH_SECRET: fresh.pushSecret[0] },
    };
    return run(process.execPath, [join(root, 'apps/standalone/dist/admin.js'), ...args, '--json'], { env });
  };

  /** A question of an agent on the machine, which waits for its person. */
  const ask = async (uuid: string) => {
    const daemon = await connectDaemon(relay, { registration: machine, capabilities: ['prompts'] });
    const app = await connectApp(relay);
    const body = { deviceId: machine.deviceId, message: 'Water the garden' };
    const { taskId } = (await relay.call('createSession', { body })).body;
    await daemon.next('task_start', (frame) => frame.task_id === taskId);
    daemon.event(taskId, 'SESSION_STARTED', { session_id: uuid });
    const options = [{ id: 'yes', label: 'Allow', kind: 'allow_once' }];
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt: '?', question: { uuid, title: '?', kind: 'permission', options } });
    await app.next('session_update', ({ session }) => JSON.stringify(session).includes(`"id":"${uuid}"`));
    await app.close();
    await daemon.close();
  };

  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase();
    database = await openDatabase({ url });
    runbook = await readFile(join(root, 'docs/runbooks/leaked-dump.md'), 'utf8');
    issuer = await startIssuer('http://localhost:4000/api');
    relay = await start(leaked);
    machine = await registerDevice(relay);
    for (const uuid of ['first-question', 'second-question']) await ask(uuid);
    for (const email of people) {
      const browser = new Browser(relay);
      await browser.signUp(email);
      const as = { user: null, headers: { Authorization: `Bearer ${(await signedInWeb(browser)).access_token}` } };
      // Renewed: the database keeps the answer with the next refresh token for a while.
      expect((await refresh(relay, (await signedInCli(browser)).refresh_token!)).status).toBe(200);
      await relay.call('createDeviceKey', { ...as, body: {} });
      expect((await browser.send('POST', '/auth/relay/invitations', { body: {} })).status).toBe(201);
      if (email === people[0]) {
        await setUpSecondFactor(browser);
        expect((await new Authenticator().register(browser)).status).toBe(200);
      }
    }
    await relay.call('createAcpToken', { body: { deviceId: machine.deviceId } });
    for (const hostname of ['one', 'other'])
      await relay.call('requestCode', { user: null, body: { hostname, agent_type: 'scripted' } });
    const endpoint = 'https://push.example.com/alice';
    await relay.call('addSubscription', { body: { kind: 'webpush', endpoint, keys: openPushKeys().keys } });
    // As a notification with a button does.
    const answers = createAnswerTokens({ database, seal: createSeal(leaked.pushSecret), ...relay.config });
    expect(await answers.sign([], Date.now())).toEqual([]);
    dump = await takeDump();
  }, 240_000);
  afterAll(async () => {
    await relay?.stop();
    await issuer?.close();
    await database?.close();
    await postgres?.stop();
  });

  const me = async (token: string) => (await callWith(relay, token)).status === 200;
  const signIn = async (email: string, secret: string) => {
    const browser = new Browser(relay);
    return { browser, ...(await browser.signIn(email, secret)) };
  };

  /** Ways from the dump and its secrets to something of a person; `n` selects a row that no earlier try has used up. */
  const ways: Record<string, (n: 0 | 1) => Promise<boolean>> = {
    'a waiting machine': async (n) => {
      const code = rows('device_codes').filter(({ state }) => state === 'pending')[n]!;
      return (await relay.call('readCode', { user: 'mallory', params: { userCode: code.user_code! } })).status === 200;
    },
    'a guessed password': async () => {
      const hash = rows('credentials').at(-1)!.password!;
      return (await verifyPassword({ hash, password })) && (await signIn(people[2]!, password)).status === 200;
    },
    'a signed cookie': async (n) => {
      const { token } = rows('logins')[n] as { token: string };
      const browser = new Browser(relay);
      const signature = createHmac('sha256', leaked.authSecret[0]!).update(token).digest('base64');
      browser.cookies.set('relay.session_token', encodeURIComponent(`${token}.${signature}`));
      return (await browser.send('GET', '/auth/relay/me')).status === 200;
    },
    'a minted token': async () => {
      const { id: kid, private_key: sealed } = rows('signing_keys')[0] as { id: string; private_key: string };
      const key = JSON.parse(await open(JSON.parse(sealed) as string)) as JsonWebKey;
      const { publicUrl: iss } = relay.config;
      const claims = {
        iss,
        aud: `${iss}/api`,
        sub: rows('users')[0]!.id,
        scope: 'sessions:read devices:read',
        azp: 'relay-web',
      };
      const options = { algorithm: 'ES256', expiresIn: 600, header: { alg: 'ES256', kid } } as const;
      return me(jwt.sign(claims, createPrivateKey({ key, format: 'jwk' }), options));
    },
    'the answer of a renewal': async (n) => {
      const kept = rows('oauth_refresh_tokens').flatMap((row) => row.rotation_replay_response ?? [])[n]!;
      const { response } = JSON.parse(await open(kept)) as { response: { refresh_token: string } };
      return (await refresh(relay, response.refresh_token)).status === 200;
    },
    'a recovery code': async (n) => {
      const codes = JSON.parse(await open(rows('second_factors')[0]!.recovery_codes!)) as string[];
      const { browser } = await signIn(people[0]!, password);
      return (await giveRecoveryCode(browser, codes[n]!)).status === 200;
    },
    'an answer to a question': async (n) => {
      const key = rows('server_keys').find(({ purpose }) => purpose!.startsWith('answers:'))!;
      const { uuid: prompt, session_key: of } = rows('prompts')[n] as { uuid: string; session_key: string };
      const session = rows('sessions').find((row) => row.key === of)!;
      const { id: address, user_id: sub, login: sid } = rows('subscriptions')[0] as Record<string, string>;
      const id = [session.device_id, session.agent_type, session.native_id].join(':');
      const claims = { sub, ...(sid ? { sid } : {}), address, jti: `forged-${n}`, session: id, prompt, option: 'yes' };
      const token = jwt.sign(
        { ...claims, aud: `${relay.config.publicUrl}/api/answers` },
        createSeal(leaked.pushSecret).open(key.sealed!) as string,
        {
          ...{ algorithm: 'ES256', expiresIn: 600, header: { alg: 'ES256', typ: 'answer+jwt', kid: key.purpose! } },
        },
      );
      const { status } = await relay.call('giveAnswer', {
        user: null,
        headers: { Authorization: `Bearer ${token}` },
        body: {},
      });
      return status === 202;
    },
  };
  const tryAll = async (n: 0 | 1) => {
    const result: Record<string, boolean> = {};
    for (const [name, way] of Object.entries(ways)) result[name] = await way(n);
    return result;
  };
  const all = (value: boolean) => Object.fromEntries(Object.keys(ways).map((name) => [name, value]));

  it('has every column with a credential or a hash in the table of the runbook', async () => {
    const classes = classesIn(runbook);
    const columns = await database.sql.query<{ name: string; type: string }>`
      SELECT table_name || '.' || column_name AS name, data_type AS type FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name NOT LIKE '%migrations'`;
    expect(unclassified(columns, dump, classes)).toEqual([]);
    const names = new Set(columns.map(({ name }) => name));
    expect([...classes.keys()].filter((name) => !names.has(name))).toEqual([]);
    const written = (name: string) => {
      const [table = '', column = ''] = name.split('.');
      return rows(table).some((row) => !['', '{}', undefined].includes(row[column]));
    };
    const inClass = (kind: string) => [...classes].filter(([, one]) => one === kind).map(([name]) => name);
    expect(inClass('never written').filter(written)).toEqual([]);
    for (const kind of ['plain', 'slow hash', 'under `AUTH_SECRET`', 'under `PUSH_SECRET`'])
      expect(inClass(kind).filter((name) => !written(name))).toEqual([]);
    // A migration that adds columns without a class fails above.
    const more = [
      { name: 'devices.wake_secret', type: 'text' },
      { name: 'devices.remark', type: 'text' },
    ];
    const odd = new Map([['devices', [{ remark: 'k2Jd8_wq3Lx0Zr5Tn7Vb1Ym4Qc6Hs9Gf2Pd8Wk3Xj5A' }]]]);
    expect(unclassified([...columns, ...more], odd, classes)).toEqual(['devices.remark', 'devices.wake_secret']);
  });

  it('opens nothing after the steps of the runbook', async () => {
    expect(await tryAll(0)).toEqual(all(true));
    const count = async (table: 'logins' | 'oauth_refresh_tokens' | 'subscriptions' | 'passkeys' | 'second_factors') =>
      (await takeDump()).get(table)?.length ?? 0;
    const lostTables = ['logins', 'oauth_refresh_tokens', 'subscriptions', 'passkeys', 'second_factors'] as const;
    const before = await Promise.all(lostTables.map(count));
    const sessions = (await relay.call('listSessions')).body.sessions.length;

    const began = Date.now();
    await relay.stop();
    const shut = Date.now();
    for (const [, statements = ''] of runbook.matchAll(/```sql\n([^]*?)```/g))
      await program('psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--command', statements, '--dbname');
    relay = await start(fresh);
    const back = Date.now();
    const passwords = new Map<string, string>();
    const commands = [...runbook.matchAll(/-- relay admin ([a-z-]+)(?: (\S+@\S+))?$/gm)].map(([, ...words]) => words);
    expect(commands.map(([command]) => command)).toEqual(['rotate-push-key', 'reset-password', 'reset-second-factor']);
    for (const [command = '', email] of commands)
      for (const person of email === undefined ? [undefined] : people) {
        if (command === 'reset-second-factor' && person !== people[0]) continue;
        const { stdout } = await admin(command, ...(person === undefined ? [] : [person]));
        const { password: secret } = JSON.parse(stdout) as { password?: string };
        if (person !== undefined && secret !== undefined) passwords.set(person, secret);
      }
    const done = Date.now();
    const after = await Promise.all(lostTables.map(count));
    const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
    process.stdout.write(
      `a leaked dump: apis down ${seconds(began, back)} s (shut ${seconds(began, shut)} s), passwords of ${people.length} people ${seconds(back, done)} s; ` +
        `lost: ${lostTables.map((table, n) => `${table} ${before[n]! - after[n]!} of ${before[n]}`).join(', ')}\n`,
    );

    expect(await tryAll(1)).toEqual(all(false));
    expect(await accepted()).toEqual([]);
    // The owners continue.
    for (const [email, secret] of passwords) expect((await signIn(email, secret)).status).toBe(200);
    const daemon = await connectDaemon(relay, { registration: machine });
    await daemon.close();
    expect((await relay.call('listSessions')).body.sessions).toHaveLength(sessions);
  }, 240_000);

  /** Values in classified columns that some door accepts as a credential. */
  const accepted = async () => {
    const values = new Set<string>();
    for (const name of classesIn(runbook).keys()) {
      const [table = '', column = ''] = name.split('.');
      for (const { [column]: value = '' } of rows(table)) if (/^\S{8,400}$/.test(value)) values.add(value);
    }
    const doors: ((value: string) => Promise<boolean>)[] = [
      me,
      async (value) => (await refresh(relay, value)).status === 200,
      async (value) => (await relay.call('pollCode', { user: null, body: { device_code: value } })).status === 200,
      async (key) =>
        (await relay.call('requestCode', { user: null, body: { hostname: 'x', agent_type: 'x', key } })).status === 200,
      async (token) =>
        (await new Browser(relay).send('POST', '/auth/relay/invitations/check', { body: { token } })).status === 200,
      async (value) => {
        const browser = new Browser(relay);
        browser.cookies.set('relay.session_token', encodeURIComponent(value));
        return (await browser.send('GET', '/auth/relay/me')).status === 200;
      },
      async (refreshToken) =>
        connectDaemon(relay, { registration: { ...machine, refreshToken } }).then(
          async (daemon) => daemon.close().then(() => true),
          () => false,
        ),
    ];
    const found: string[] = [];
    for (const value of values) for (const door of doors) if (await door(value)) found.push(value);
    expect(values.size).toBeGreaterThan(30);
    return found;
  };
});
