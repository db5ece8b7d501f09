import { beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../src/open.ts';
import { onPostgres, temporaryFolders } from './databases.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = temporaryFolders();

/** `npm run db -- …`: exit code and all output. */
function prisma(args: string[], env: Record<string, string> = {}): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(root, 'scripts/prisma.mjs'), ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    child.stdout.on('data', (part: Buffer) => (said += part.toString('utf8')));
    child.stderr.on('data', (part: Buffer) => (said += part.toString('utf8')));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said }));
  });
}

describe('prisma/schema.prisma', () => {
  const compare = (schema: string) =>
    prisma(['migrate', 'diff', '--from-migrations', 'prisma/migrations', '--to-schema', schema, '--exit-code']);

  it('matches the result of the migrations', async () => {
    expect(await compare('prisma/schema.prisma')).toEqual({ code: 0, said: expect.stringContaining('No difference') });
  });

  it('differs from the migrations after a change', async () => {
    const changed = path.join(folder(), 'schema.prisma');
    const text = readFileSync(path.join(root, 'prisma/schema.prisma'), 'utf8');
    writeFileSync(changed, text.replace(/^model Device \{$/m, 'model Device {\n  colour String?'));
    expect(await compare(changed)).toEqual({ code: 2, said: expect.stringContaining('Added column `colour`') });
  });
});

describe('npm run db, on an embedded folder', () => {
  it('applies the migrations as the server does, and not while the server has the folder', async () => {
    const PGLITE_DIR = folder();
    expect(await prisma(['migrate', 'deploy'], { PGLITE_DIR })).toMatchObject({ code: 0 });
    const database = await openDatabase({ dataDir: PGLITE_DIR });
    try {
      expect(await database.models.device.count()).toBe(0);
      const refused = await prisma(['migrate', 'status'], { PGLITE_DIR });
      expect(refused).toEqual({
        code: 1,
        said: expect.stringContaining(`in use by another process (pid ${process.pid})`),
      });
    } finally {
      await database.close();
    }
  });
});

onPostgres('npm run db', (postgres) => {
  let DATABASE_URL: string;
  beforeAll(async () => {
    DATABASE_URL = await postgres().createDatabase();
  });

  it('shows the migrations applied by the server', async () => {
    expect(await prisma(['migrate', 'status'], { DATABASE_URL })).toMatchObject({ code: 1 });
    await (await openDatabase({ url: DATABASE_URL })).close();
    const status = await prisma(['migrate', 'status'], { DATABASE_URL });
    expect(status).toEqual({ code: 0, said: expect.stringContaining('Database schema is up to date') });
  });
});
