import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TestPostgres, startPostgres } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';
import pg from 'pg';

const cli = fileURLToPath(new URL('../dist/migrate-cli.js', import.meta.url));

describeWith(['postgresql', 'openssl'], 'a PostgreSQL whose certificate a private authority signed', () => {
  let folder: string;
  let authority: string;
  let postgres: TestPostgres;
  let database: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'relay-tls-'));
    const file = (name: string) => path.join(folder, name);
    authority = file('ca.crt');
    const openssl = (...args: string[]) => expect(spawnSync('openssl', args, { cwd: folder }).status).toBe(0);
    const key = ['-newkey', 'rsa:2048', '-nodes'];
    openssl(
      'req',
      '-x509',
      ...key,
      '-days',
      '2',
      '-subj',
      '/CN=private authority',
      '-keyout',
      'ca.key',
      '-out',
      'ca.crt',
    );
    openssl(
      'req',
      ...key,
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
      '-keyout',
      'own.key',
      '-out',
      'own.csr',
    );
    openssl(
      'x509',
      '-req',
      '-in',
      'own.csr',
      '-CA',
      'ca.crt',
      '-CAkey',
      'ca.key',
      '-days',
      '2',
      '-copy_extensions',
      'copy',
      '-out',
      'own.crt',
    );
    postgres = await startPostgres();
    database = await postgres.createDatabase();
    const admin = new pg.Client({ connectionString: database });
    await admin.connect();
    // The server wants to own its key.
    for (const [name, from] of [
      ['server.key', 'own.key'],
      ['server.crt', 'own.crt'],
    ] as const) {
      const lines = readFileSync(file(from), 'utf8').trim().split('\n');
      const rows = lines.map((line) => `('${line}')`).join(',');
      await admin.query(`COPY (VALUES ${rows}) TO PROGRAM 'umask 077; cat > ${name}'`);
    }
    await admin.query('ALTER SYSTEM SET ssl = on');
    await admin.query('SELECT pg_reload_conf()');
    while ((await admin.query<{ ssl: string }>('SHOW ssl')).rows[0]?.ssl !== 'on');
    await admin.end();
  }, 60_000);
  afterAll(async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const migrate = (host: string, trusted: Record<string, string>) => {
    const url = `${database.replace('127.0.0.1', host)}?sslmode=verify-full`;
    const { status, stderr } = spawnSync(process.execPath, [cli], {
      env: { ...process.env, ...trusted, DATABASE_URL: url },
      encoding: 'utf8',
    });
    return { status, stderr };
  };

  it('is used when NODE_EXTRA_CA_CERTS names that authority', () => {
    expect(migrate('localhost', { NODE_EXTRA_CA_CERTS: authority })).toMatchObject({ status: 0 });
  });

  it('is not used without it, nor under another name than its own', () => {
    expect(migrate('localhost', {})).toEqual({ status: 1, stderr: expect.stringMatching(/certificate/) });
    expect(migrate('127.0.0.1', { NODE_EXTRA_CA_CERTS: authority })).toEqual({
      status: 1,
      stderr: expect.stringMatching(/altnames|certificate/),
    });
  });
});
