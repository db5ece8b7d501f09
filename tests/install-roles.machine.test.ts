/**
 * Promise: a superuser or a managed administrator can run the SQL of docs/operations.md. It creates two roles: one
 * migrates, the other cannot change tables.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type TestPostgres, startPostgres } from '@relay/testing';
import { describeWith } from '@relay/testing/needs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

describeWith('postgresql', 'the roles of an installation', () => {
  let postgres: TestPostgres;
  beforeEach(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterEach(() => postgres.stop());

  const urlOf = (role: string, database: string) => postgres.url(database).replace('postgres@', `${role}@`);
  const sql = async (role: string, database: string, text: string) => {
    const psql = run(join(postgres.address.bin, 'psql'), [
      urlOf(role, database),
      '--no-psqlrc',
      '--set=ON_ERROR_STOP=1',
    ]);
    psql.child.stdin?.end(text);
    return (await psql).stdout;
  };

  it.each([
    ['a superuser', 'postgres', ''],
    ['the administrator of a managed service', 'manager', 'CREATE ROLE manager LOGIN CREATEDB CREATEROLE;'],
  ])(
    'can be created by %s',
    async (_, administrator, before) => {
      const page = await readFile(join(root, 'docs/operations.md'), 'utf8');
      const [, block = ''] = /^2\. Two roles in PostgreSQL[^]*?```sql\n([^]*?)```/m.exec(page) ?? [];
      await sql('postgres', 'postgres', before);
      await sql(administrator, 'postgres', block.replaceAll(/^ +/gm, ''));
      const env = { ...process.env, DATABASE_URL: urlOf('relay_owner', 'relay') };
      await run(process.execPath, [join(root, 'packages/database/dist/migrate-cli.js')], { env });
      expect(await sql('relay', 'relay', 'SELECT count(*) FROM users;')).toMatch(/\b0\b/);
      await sql('relay', 'relay', "INSERT INTO devices (id, owner_id, name, hostname, agent_type, token_hash) VALUES ('d', 'o', '', '', 'claude', ''); DELETE FROM devices;"); // prettier-ignore
      for (const change of ['ALTER TABLE users ADD COLUMN x text;', 'DROP TABLE users;', 'CREATE TABLE mine (x text);'])
        await expect(sql('relay', 'relay', change)).rejects.toThrow(/must be owner|permission denied/);
    },
    120_000,
  );
});
