/**
 * `DATABASE_URL=… node packages/database/dist/migrate-cli.js`: migrates a PostgreSQL to the schema of this code and exits. For a
 * deployment that migrates before it starts new instances. Exit code 0 when the schema is up to date, 1 when it is not.
 */
import { DatabaseError } from './database-error.ts';
import { migratePostgres } from './open.ts';

async function main(): Promise<void> {
  const url = process.env.DATABASE_URL;
  if (!url) throw new Error('DATABASE_URL is not set: the address of the PostgreSQL to migrate');
  const { applied } = await migratePostgres(url, { onWarning: (message) => process.stderr.write(`${message}\n`) });
  for (const name of applied) process.stdout.write(`applied ${name}\n`);
  if (applied.length === 0) process.stdout.write('nothing to apply\n');
}

try {
  await main();
} catch (error) {
  const { message } = error as Error;
  process.stderr.write(`${error instanceof DatabaseError ? `${error.code}: ` : ''}${message}\n`);
  process.exitCode = 1;
}
