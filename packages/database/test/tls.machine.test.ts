import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type TestAuthority, type TestPostgres, makeAuthority, startPostgres } from '@relay/testing/database';
import { describeWith } from '@relay/testing/needs';

const cli = fileURLToPath(new URL('../dist/migrate-cli.js', import.meta.url));

describeWith(['postgresql', 'openssl'], 'a PostgreSQL whose certificate a private authority signed', () => {
  let authority: TestAuthority;
  let postgres: TestPostgres;
  let database: string;

  beforeAll(async () => {
    authority = makeAuthority();
    postgres = await startPostgres({ tls: authority.server });
    database = await postgres.createDatabase();
  }, 60_000);
  afterAll(async () => {
    await postgres.stop();
    authority.remove();
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
    expect(migrate('localhost', { NODE_EXTRA_CA_CERTS: authority.file })).toMatchObject({ status: 0 });
  });

  it('is not used without it, nor under another name than its own', () => {
    expect(migrate('localhost', {})).toEqual({ status: 1, stderr: expect.stringMatching(/certificate/) });
    expect(migrate('127.0.0.1', { NODE_EXTRA_CA_CERTS: authority.file })).toEqual({
      status: 1,
      stderr: expect.stringMatching(/altnames|certificate/),
    });
  });
});
