/** Promise: a migration that the release before could not live with does not pass the check, unless a comment says why it may. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { migrationProblems } from '../scripts/check-migrations.mjs';

const folder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

const floor = '-- compatible-with: 1.0.0\n';
const batched = '-- batched\n';
const unused = '-- contract: not read since 1.4.0\n';
const given = '-- contract: always given since 1.4.0\n';
/** A few of the rows of tasks. */
const some = `"id" IN (SELECT "id" FROM "tasks" WHERE "images" IS NULL LIMIT 5000)`;

describe('the check of migrations', () => {
  it.each([
    ['a dropped table', 'DROP TABLE "notes";'],
    ['a dropped column', 'ALTER TABLE "devices" DROP COLUMN "name";'],
    ['a dropped column without the word', 'ALTER TABLE devices DROP name'],
    ['a dropped column behind something harmless', 'ALTER TABLE "devices" ADD COLUMN "a" TEXT, DROP COLUMN "name";'],
    ['a renamed column', 'ALTER TABLE "devices" RENAME COLUMN "name" TO "title";'],
    ['a renamed table', 'ALTER TABLE "devices" RENAME TO "machines";'],
    ['another type', 'ALTER TABLE "tasks" ALTER COLUMN "seq" SET DATA TYPE TEXT;'],
    ['a value that must be given', 'ALTER TABLE "tasks" ALTER COLUMN "images" SET NOT NULL;'],
    ['a column that must be given', 'ALTER TABLE "tasks" ADD COLUMN "kind" VARCHAR(3) NOT NULL;'],
    ['a default that is gone', 'ALTER TABLE "tasks" ALTER COLUMN "state" DROP DEFAULT;'],
    ['a new condition', 'ALTER TABLE "tasks" ADD CONSTRAINT "few" CHECK (seq < 10);'],
    ['a new uniqueness', 'CREATE UNIQUE INDEX "devices_name_key" ON "devices"("name");'],
    ['deleted rows', 'DELETE FROM "devices" WHERE name = \';\';'],
    ['a reason that gives none', '-- contract:\nDROP TABLE "notes";'],
    [
      'a reason that belongs to the statement before',
      '-- contract: unused since 1.4\nDROP TABLE "a";\nDROP TABLE "b";',
    ],
  ])('finds %s', (_, sql) => {
    expect(migrationProblems(`${floor}${sql}`)).toHaveLength(1);
  });

  it.each([
    ['an index that holds up writers', `${floor}CREATE INDEX "i" ON "tasks"("seq");`],
    ['an online index beside something else', `${floor}CREATE INDEX CONCURRENTLY "i" ON "tasks"("seq");\nSELECT 1;`],
    ['a migration that does not say with which release it runs', 'ALTER TABLE "tasks" ADD COLUMN "a" TEXT;'],
    ['a change of all rows', `${floor}UPDATE "tasks" SET "images" = NULL;`],
    ['one behind a list of its rows', `${floor}WITH old AS (SELECT 1) UPDATE tasks SET seq = 1 FROM old;`],
    ['rows that all go at once', `${floor}${unused}DELETE FROM "tasks" WHERE "seq" < 5;`],
    ['a batched change without a limit', `${floor}${batched}UPDATE tasks SET seq = 1 WHERE seq IS NULL;`],
    [
      'a column that is worked out for each row',
      `${floor}ALTER TABLE tasks ADD COLUMN a UUID DEFAULT gen_random_uuid();`,
    ],
    ['a counted column', `${floor}ALTER TABLE tasks ADD COLUMN a BIGSERIAL;`],
    ['a column made of others', `${floor}ALTER TABLE tasks ADD COLUMN a INT GENERATED ALWAYS AS (seq + 1) STORED;`],
    ['a search for rows without a value', `${floor}${given}ALTER TABLE "tasks" ALTER COLUMN "images" SET NOT NULL;`],
    [
      'one that is said to be checked on another table',
      `${floor}${given}ALTER TABLE "tasks" ALTER COLUMN "images" SET NOT NULL;\nALTER TABLE "users" DROP CONSTRAINT "c";`,
    ],
    [
      'one that does not say it as a number',
      '-- compatible-with: the last one\nALTER TABLE "tasks" ADD COLUMN "a" TEXT;',
    ],
  ])('finds %s, but not in what was released before', (_, sql) => {
    expect(migrationProblems(sql)).toHaveLength(1);
    if (!sql.includes('CONCURRENTLY')) expect(migrationProblems(sql, '20261124073000_x')).toEqual([]);
  });

  it.each([
    ['a new table with all it wants', 'CREATE TABLE "n" ("a" INT NOT NULL);\nCREATE UNIQUE INDEX "n_a" ON "n"("a");'],
    ['a condition of a new table', 'CREATE TABLE "n" ("a" INT);\nALTER TABLE "n" ADD CONSTRAINT "c" CHECK (a > 0);'],
    ['a column that may be absent', 'ALTER TABLE "tasks" ADD COLUMN "images" TEXT;'],
    ['a column with a default', 'ALTER TABLE "tasks" ADD COLUMN "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];'],
    ['a value that may be absent from now on', 'ALTER TABLE "tasks" ALTER COLUMN "seq" DROP NOT NULL;'],
    ['an index made online', 'CREATE INDEX CONCURRENTLY "i" ON "tasks"("seq");'],
    ['an index that is gone', 'DROP INDEX "j";'],
    ['an index of a new table', 'CREATE TABLE "n" ("a" INT);\nCREATE INDEX "n_a" ON "n"("a");'],
    ['a condition that is gone', 'ALTER TABLE "tasks" DROP CONSTRAINT "few";'],
    ['a backfill in batches', `${batched}UPDATE "tasks" SET "images" = 'DROP TABLE tasks;' WHERE ${some};`],
    ['rows that go in batches', `${batched}${unused}DELETE FROM "tasks" WHERE ${some};`],
    ['a change of a table with a few rows', 'UPDATE "server_keys" SET "rotated_at" = now();'],
    ['rows of a new table', 'CREATE TABLE "n" ("a" INT);\nUPDATE "n" SET "a" = 1;'],
    [
      'a column with the time of the migration',
      'ALTER TABLE "tasks" ADD COLUMN "at" TIMESTAMPTZ(3) NOT NULL DEFAULT now();',
    ],
    [
      'a column with a default of a type',
      `ALTER TABLE "tasks" ADD COLUMN "a" TEXT DEFAULT 'x'::VARCHAR(3) CHECK (a > '');`,
    ],
    [
      'a value that was checked before',
      `${given}ALTER TABLE "tasks" ALTER COLUMN "images" SET NOT NULL;\nALTER TABLE "tasks" DROP CONSTRAINT "given";`,
    ],
    ['a trigger', 'CREATE TRIGGER t AFTER UPDATE OF state ON "tasks" FOR EACH ROW EXECUTE FUNCTION f();'],
    ['words in a comment', '-- DROP TABLE would be wrong\nSELECT 1; /* RENAME */'],
    ['what is no longer used', '-- contract: not read since 1.4.0\nALTER TABLE "devices" DROP COLUMN "old";'],
  ])('lets %s pass', (_, sql) => {
    expect(migrationProblems(`${floor}${sql}`)).toEqual([]);
  });

  it('finds a batched migration that is not one change of rows', () => {
    expect(migrationProblems(`${floor}${batched}ALTER TABLE "tasks" ADD COLUMN "a" TEXT;`)).toHaveLength(1);
    const two = `${floor}${batched}UPDATE "tasks" SET "seq" = 1 WHERE ${some};\nUPDATE "tasks" SET "seq" = 2 WHERE ${some};`;
    expect(migrationProblems(two)).toEqual(['is marked as batched and is not one UPDATE or DELETE']);
  });

  it('finds nothing in the migrations of this repository', async () => {
    const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
    expect(names.length).toBeGreaterThan(1);
    for (const { name } of names)
      expect(migrationProblems(await readFile(join(folder, name, 'migration.sql'), 'utf8'), name)).toEqual([]);
  });
});
