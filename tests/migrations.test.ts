/** Promise: a migration that the release before could not live with does not pass the check, unless a comment says why it may. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { migrationProblems } from '../scripts/check-migrations.mjs';

const folder = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

const floor = '-- compatible-with: 1.0.0\n';

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
    ['a backfill', "UPDATE tasks SET images = 'DROP TABLE tasks;' WHERE images IS NULL;"],
    ['words in a comment', '-- DROP TABLE would be wrong\nSELECT 1; /* RENAME */'],
    ['what is no longer used', '-- contract: not read since 1.4.0\nALTER TABLE "devices" DROP COLUMN "old";'],
  ])('lets %s pass', (_, sql) => {
    expect(migrationProblems(`${floor}${sql}`)).toEqual([]);
  });

  it('finds nothing in the migrations of this repository', async () => {
    const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
    expect(names.length).toBeGreaterThan(1);
    for (const { name } of names)
      expect(migrationProblems(await readFile(join(folder, name, 'migration.sql'), 'utf8'), name)).toEqual([]);
  });
});
