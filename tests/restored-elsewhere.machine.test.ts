/**
 * Drill: the operator restores a backup into a new namespace, with another database and an empty Redis (docs/operations.md, "Back up
 * and restore"), and erases the people again who deleted their accounts since. It prints its time and the loss.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '@relay/database';
import {
  Browser,
  type TestIssuer,
  type TestPostgres,
  type TestRelay,
  callerOf,
  connectDaemon,
  refresh,
  signedInCli,
  signedInWeb,
  startIssuer,
  startPostgres,
  startRelay,
} from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import { dumpDatabase, found, personWith } from './erasure-scene.ts';

const run = promisify(execFile);
const adminProgram = fileURLToPath(new URL('../apps/standalone/dist/admin.js', import.meta.url));
const secrets = { authSecret: ['a'.repeat(40)], pushSecret: ['p'.repeat(40)] };
const confirm = 'delete my account';

describeWith('postgresql', 'a backup restored into a new namespace', () => {
  let postgres: TestPostgres;
  let issuer: TestIssuer;
  let folder: string;
  let database: Database;
  let relay: TestRelay;
  let restoredUrl: string;
  let restored: TestRelay | undefined;
  let restoredDatabase: Database | undefined;
  const log: string[] = [];

  const program = (name: string, ...args: string[]) => run(join(postgres.address.bin, name), args);
  const start = (on: Database) =>
    startRelay({ identity: true, database: on, issuer, config: { ...secrets, logLevel: 'info' }, log: { write: (line) => void log.push(line) } }); // prettier-ignore

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-backups-'));
    postgres = await startPostgres();
    issuer = await startIssuer('http://localhost:4000/api');
    database = await openDatabase({ url: await postgres.createDatabase({ name: 'relay' }) });
    relay = await start(database);
  }, 120_000);
  afterAll(async () => {
    await restored?.stop();
    await restoredDatabase?.close();
    await relay?.stop();
    await database?.close();
    await issuer?.close();
    await postgres?.stop();
    await rm(folder, { recursive: true });
  });

  const admin = (...args: string[]) => {
    const env = { PATH: process.env.PATH, DATABASE_URL: restoredUrl, PUBLIC_URL: relay.config.publicUrl };
    const own = { AUTH_BUILTIN: 'on', AUTH_SECRET: secrets.authSecret[0], PUSH_SECRET: secrets.pushSecret[0] };
    return run(process.execPath, [adminProgram, ...args], { env: { ...env, ...own } });
  };

  it('keeps sign-ins and machines of others, and holds no erased person', async () => {
    const ada = new Browser(relay);
    await ada.signUp('mailibex@example.com');
    const leaving = [
      await personWith(relay, 'ibex', (await signedInWeb(ada)).access_token),
      // A person of another sign-in service, who lacks an account here.
      await personWith(relay, 'kudu', relay.token('kudu')),
    ];
    const bob = new Browser(relay);
    await bob.signUp('bob@example.com');
    const { refresh_token: token = '' } = await signedInCli(bob);
    const staying = await personWith(relay, 'gnu', relay.token('gnu'));
    const backup = join(folder, 'relay.dump');
    const words = leaving.flatMap((person) => person.words);
    await program('pg_dump', '--format=custom', '--no-owner', '--file', backup, postgres.url('relay'));

    for (const person of leaving) expect((await person.relay.call('deleteMe', { body: { confirm } })).status).toBe(204);
    expect(found(await dumpDatabase(relay), words)).toEqual([]);
    const lateSession = await staying.relay.call('createSession', { body: { deviceId: staying.daemon.deviceId, message: 'after the backup' } }); // prettier-ignore
    expect(lateSession.status).toBe(201);
    await relay.stop();

    const began = Date.now();
    restoredUrl = await postgres.createDatabase({ name: 'restored' });
    await program('pg_restore', '--no-owner', '--dbname', restoredUrl, backup);
    const filled = Date.now();
    restoredDatabase = await openDatabase({ url: restoredUrl });
    restored = await start(restoredDatabase);
    const open = Date.now();
    const back = found(await dumpDatabase(restored), words).length;
    expect(back).toBeGreaterThan(15);
    const ids = log.flatMap((line) => (line.includes('an account was deleted') ? [(JSON.parse(line) as { userId: string }).userId] : [])); // prettier-ignore
    expect(ids).toEqual(leaving.map(({ userId }) => userId));
    await expect(admin('remove', 'no-such-person', '--yes')).rejects.toMatchObject({ code: 2 });
    for (const id of ids)
      expect(JSON.parse((await admin('remove', id, '--yes', '--json')).stdout)).toEqual({ id, removed: true });
    const erased = Date.now();
    const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
    const sessions = (await callerOf([restored.url], () => staying.token)('listSessions')).body.sessions.length;
    process.stdout.write(
      `restored elsewhere: ${((await stat(backup)).size / 1e6).toFixed(1)} MB in ${seconds(began, filled)} s, start ${seconds(filled, open)} s, ` +
        `${ids.length} people erased again in ${seconds(open, erased)} s (${back} of their texts were back); lost: 1 session since the backup\n`,
    );

    expect(found(await dumpDatabase(restored), [...words, 'mailibex'])).toEqual([]);
    expect(sessions).toBe(1);
    const elsewhere = { ...restored, config: relay.config };
    const again = Object.assign(new Browser(elsewhere), { cookies: bob.cookies });
    expect((await again.send('GET', '/auth/relay/me')).status).toBe(200);
    expect((await refresh(elsewhere, token)).status).toBe(200);
    const daemon = await connectDaemon(restored, { registration: staying.daemon.registration });
    await daemon.close();
    await expect(connectDaemon(restored, { registration: leaving[0]!.daemon.registration })).rejects.toThrow(/40[14]/);
  }, 240_000);
});
