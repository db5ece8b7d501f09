/** Promise: the check rejects a migration that breaks the previous release, unless a comment justifies it. */
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
/** A condition for a batch of tasks. */
const some = `"id" IN (SELECT "id" FROM "tasks" WHERE "images" IS NULL LIMIT 5000)`;

describe('the check of migrations', () => {
  it.each([
    ['a dropped table', 'DROP TABLE "notes";'],
    ['a dropped column', 'ALTER TABLE "devices" DROP COLUMN "name";'],
    ['a dropped column without the keyword COLUMN', 'ALTER TABLE devices DROP name'],
    ['a dropped column after a harmless change', 'ALTER TABLE "devices" ADD COLUMN "a" TEXT, DROP COLUMN "name";'],
    ['a renamed column', 'ALTER TABLE "devices" RENAME COLUMN "name" TO "title";'],
    ['a renamed table', 'ALTER TABLE "devices" RENAME TO "machines";'],
    ['another type', 'ALTER TABLE "tasks" ALTER COLUMN "seq" SET DATA TYPE TEXT;'],
    ['a value that becomes mandatory', 'ALTER TABLE "tasks" ALTER COLUMN "images" SET NOT NULL;'],
    ['a mandatory new column', 'ALTER TABLE "tasks" ADD COLUMN "kind" VARCHAR(3) NOT NULL;'],
    ['a removed default', 'ALTER TABLE "tasks" ALTER COLUMN "state" DROP DEFAULT;'],
    ['a new constraint', 'ALTER TABLE "tasks" ADD CONSTRAINT "few" CHECK (seq < 10);'],
    ['a new unique index', 'CREATE UNIQUE INDEX "devices_name_key" ON "devices"("name");'],
    ['deleted rows', 'DELETE FROM "devices" WHERE name = \';\';'],
    ['an empty justification', '-- contract:\nDROP TABLE "notes";'],
    ['a justification of the previous statement', '-- contract: unused since 1.4\nDROP TABLE "a";\nDROP TABLE "b";'],
  ])('rejects %s', (_, sql) => {
    expect(migrationProblems(`${floor}${sql}`)).toHaveLength(1);
  });

  it.each([
    ['an index that blocks writers', `${floor}CREATE INDEX "i" ON "tasks"("seq");`],
    [
      'an online index together with another statement',
      `${floor}CREATE INDEX CONCURRENTLY "i" ON "tasks"("seq");\nSELECT 1;`,
    ],
    ['a migration without the oldest compatible release', 'ALTER TABLE "tasks" ADD COLUMN "a" TEXT;'],
    ['a change of all rows', `${floor}UPDATE "tasks" SET "images" = NULL;`],
    [
      'a change of all rows after a common table expression',
      `${floor}WITH old AS (SELECT 1) UPDATE tasks SET seq = 1 FROM old;`,
    ],
    ['a deletion without batches', `${floor}${unused}DELETE FROM "tasks" WHERE "seq" < 5;`],
    ['a batched change without a limit', `${floor}${batched}UPDATE tasks SET seq = 1 WHERE seq IS NULL;`],
    [
      'a column with a computed default for each row',
      `${floor}ALTER TABLE tasks ADD COLUMN a UUID DEFAULT gen_random_uuid();`,
    ],
    ['a serial column', `${floor}ALTER TABLE tasks ADD COLUMN a BIGSERIAL;`],
    ['a generated column', `${floor}ALTER TABLE tasks ADD COLUMN a INT GENERATED ALWAYS AS (seq + 1) STORED;`],
    [
      'a new NOT NULL without a checked constraint',
      `${floor}${given}ALTER TABLE "tasks" ALTER COLUMN "images" SET NOT NULL;`,
    ],
    [
      'a new NOT NULL with a checked constraint on another table',
      `${floor}${given}ALTER TABLE "tasks" ALTER COLUMN "images" SET NOT NULL;\nALTER TABLE "users" DROP CONSTRAINT "c";`,
    ],
    [
      'a compatible release that is not a version',
      '-- compatible-with: the last one\nALTER TABLE "tasks" ADD COLUMN "a" TEXT;',
    ],
  ])('rejects %s, except in released migrations', (_, sql) => {
    expect(migrationProblems(sql)).toHaveLength(1);
    if (!sql.includes('CONCURRENTLY')) expect(migrationProblems(sql, '20261124073000_x')).toEqual([]);
  });

  it.each([
    [
      'a new table with its constraints and indexes',
      'CREATE TABLE "n" ("a" INT NOT NULL);\nCREATE UNIQUE INDEX "n_a" ON "n"("a");',
    ],
    ['a constraint on a new table', 'CREATE TABLE "n" ("a" INT);\nALTER TABLE "n" ADD CONSTRAINT "c" CHECK (a > 0);'],
    ['an optional column', 'ALTER TABLE "tasks" ADD COLUMN "images" TEXT;'],
    ['a column with a default', 'ALTER TABLE "tasks" ADD COLUMN "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];'],
    ['a value that becomes optional', 'ALTER TABLE "tasks" ALTER COLUMN "seq" DROP NOT NULL;'],
    ['an index that is built online', 'CREATE INDEX CONCURRENTLY "i" ON "tasks"("seq");'],
    ['a dropped index', 'DROP INDEX "j";'],
    ['an index of a new table', 'CREATE TABLE "n" ("a" INT);\nCREATE INDEX "n_a" ON "n"("a");'],
    ['a dropped constraint', 'ALTER TABLE "tasks" DROP CONSTRAINT "few";'],
    ['a backfill in batches', `${batched}UPDATE "tasks" SET "images" = 'DROP TABLE tasks;' WHERE ${some};`],
    ['a deletion in batches', `${batched}${unused}DELETE FROM "tasks" WHERE ${some};`],
    ['a change of a small table', 'UPDATE "server_keys" SET "rotated_at" = now();'],
    ['a change of a new table', 'CREATE TABLE "n" ("a" INT);\nUPDATE "n" SET "a" = 1;'],
    [
      'a column with the time of the migration',
      'ALTER TABLE "tasks" ADD COLUMN "at" TIMESTAMPTZ(3) NOT NULL DEFAULT now();',
    ],
    [
      'a column with a typed default',
      `ALTER TABLE "tasks" ADD COLUMN "a" TEXT DEFAULT 'x'::VARCHAR(3) CHECK (a > '');`,
    ],
    [
      'a value with a checked constraint',
      `${given}ALTER TABLE "tasks" ALTER COLUMN "images" SET NOT NULL;\nALTER TABLE "tasks" DROP CONSTRAINT "given";`,
    ],
    ['a trigger', 'CREATE TRIGGER t AFTER UPDATE OF state ON "tasks" FOR EACH ROW EXECUTE FUNCTION f();'],
    ['keywords in a comment', '-- DROP TABLE would be wrong\nSELECT 1; /* RENAME */'],
    ['a justified removal', '-- contract: not read since 1.4.0\nALTER TABLE "devices" DROP COLUMN "old";'],
  ])('accepts %s', (_, sql) => {
    expect(migrationProblems(`${floor}${sql}`)).toEqual([]);
  });

  it('rejects a batched migration that is not one UPDATE or DELETE', () => {
    expect(migrationProblems(`${floor}${batched}ALTER TABLE "tasks" ADD COLUMN "a" TEXT;`)).toHaveLength(1);
    const two = `${floor}${batched}UPDATE "tasks" SET "seq" = 1 WHERE ${some};\nUPDATE "tasks" SET "seq" = 2 WHERE ${some};`;
    expect(migrationProblems(two)).toEqual(['is marked as batched and is not one UPDATE or DELETE']);
  });

  it('accepts all migrations of this repository', async () => {
    const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
    expect(names.length).toBeGreaterThan(1);
    for (const { name } of names)
      expect(migrationProblems(await readFile(join(folder, name, 'migration.sql'), 'utf8'), name)).toEqual([]);
  });
});
