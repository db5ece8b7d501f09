// Instances of two releases share the database during a rollout, so a migration only adds. This check finds migrations
// that remove something from the previous release, or require something that it does not do. Reads the files of
// prisma/migrations; needs no database.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const migrations = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

const usage = `Usage: node scripts/check-migrations.mjs [folder …]

Searches the migrations (prisma/migrations unless named) for changes that break the release before: dropped, renamed
or changed tables and columns, columns that must be given, new constraints on tables that it writes. And for statements that hold up
others for as long as a table is large, and for migrations that do not say which release is the oldest that runs with them:
  -- compatible-with: 1.4.0
An index on a table that exists is a migration of its own, of one statement: CREATE INDEX CONCURRENTLY "name" ON …
Rows of a table that exists are changed by a migration of its own, of one statement, which is repeated until it changes nothing:
  -- batched
  UPDATE "t" SET "a" = 0 WHERE "id" IN (SELECT "id" FROM "t" WHERE "a" IS NULL LIMIT 5000);
SET NOT NULL reads no row where a CHECK ("a" IS NOT NULL), added NOT VALID and validated by two migrations before, is dropped behind it.
A statement that is safe because the release before no longer uses the column says so in the line above it:
  -- contract: not read or written since 1.4.0
`;

const name = String.raw`(?:"[^"]+"|[\w.]+)`;
const rules = [
  [/\bDROP\s+(TABLE|COLUMN|TYPE|SCHEMA|VIEW|FUNCTION|SEQUENCE)\b/i, 'drops what the release before may use'],
  [
    /\bALTER\s+TABLE\b[^;]*\bDROP\s+(?!CONSTRAINT\b|NOT\b|DEFAULT\b|EXPRESSION\b|IDENTITY\b)/i,
    'drops what the release before may use',
  ],
  [/\bDROP\s+DEFAULT\b/i, 'takes away a default that the release before may rely on'],
  [/\bRENAME\b/i, 'renames what the release before knows by its old name'],
  [
    /\bALTER\s+(?:COLUMN\s+)?"?\w+"?\s+(?:SET\s+DATA\s+)?TYPE\b/i,
    'changes the type of what the release before reads and writes',
  ],
  [/\bSET\s+NOT\s+NULL\b/i, 'requires a value that the release before may not give'],
  [/\bTRUNCATE\b|\bDELETE\s+FROM\b/i, 'deletes rows'],
];
/** These apply only if the table is older than the migration. */
const rulesOfOldTables = [
  [
    /\bADD\s+(?:CONSTRAINT\s+\S+\s+)?(?:CHECK|UNIQUE|PRIMARY\s+KEY|FOREIGN\s+KEY|EXCLUDE)\b/i,
    'adds a constraint to a table that the release before writes',
  ],
  [/\bCREATE\s+UNIQUE\s+INDEX\b/i, 'makes unique what the release before may write twice'],
];

/** Earlier migrations were released without a compatible release, while their tables were small. */
const strictFrom = '20261124110000';
const online = /^CREATE INDEX CONCURRENTLY "\w+" ON /;
const floor = /^--\s*compatible-with:\s*\d+\.\d+\.\d+\s*$/m;
const batched = /^--\s*batched\s*$/m;
/** Tables with a few rows for any number of people and machines. */
const fewRows = new Set(['server_keys', 'signing_keys', 'oauth_resources']);

/** Statements without comments and quoted texts; `agreed`: a comment explains why the statement is safe. */
function statementsOf(sql) {
  const found = [];
  let text = '';
  let agreed = false;
  const piece =
    /--(?<comment>[^\n]*)|\/\*[\s\S]*?\*\/|(?<quoted>'(?:[^']|'')*')|(?<tag>\$\w*\$)[\s\S]*?\k<tag>|(?<end>;)|(?<other>[\s\S])/g;
  const finish = () => {
    if (text.trim() !== '') found.push({ text: text.trim().replace(/\s+/g, ' '), agreed });
    text = '';
    agreed = false;
  };
  for (const { groups } of sql.matchAll(piece)) {
    if (groups.end !== undefined) finish();
    else if (groups.comment !== undefined) agreed ||= /^\s*contract:\s*\S/.test(groups.comment);
    else text += groups.other ?? "''";
  }
  finish();
  return found;
}

/** The parts of an ALTER TABLE that add a column. */
const addedColumns = (text) =>
  text.split(/,(?![^()[\]]*[)\]])/).filter((part) => /\bADD\s+(?:COLUMN\s+)?(?!CONSTRAINT\b)"?\w+"?\s/i.test(part));

/** `ADD COLUMN … NOT NULL` without a default. */
const mustBeGiven = (text) =>
  addedColumns(text).some((part) => /\bNOT\s+NULL\b/i.test(part) && !/\bDEFAULT\b|\bGENERATED\b/i.test(part));

/**
 * `ADD COLUMN` with a value that PostgreSQL computes for each row: anything but a literal or the time of the statement.
 */
const rewrites = (text) =>
  addedColumns(text).some((part) => {
    const [, value = ''] =
      /\bDEFAULT\b(.*?)(?=\b(?:NOT\s+NULL|NULL|CHECK|REFERENCES|UNIQUE|CONSTRAINT)\b|$)/i.exec(part) ?? [];
    const call = /\b\w+\s*\(/.test(
      value.replace(/::\s*"?\w+"?\s*\([\d\s,]*\)|\b(?:now|CURRENT_TIMESTAMP)\s*\(\d*\)/gi, ''),
    );
    return call || /\bGENERATED\b|\b(?:small|big)?serial\b/i.test(part);
  });

/** The table that a statement changes. */
function tableOf(text) {
  const found = changing.map((pattern) => pattern.exec(text)?.[1]).find((table) => table !== undefined);
  return found?.replaceAll('"', '');
}

const changing = [
  `^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(${name})`,
  `^(?:UPDATE|DELETE FROM) (?:ONLY )?(${name})`,
  `^WITH\\b.*?(?<!\\b(?:DO|FOR) )\\b(?:UPDATE|DELETE FROM) (?:ONLY )?(${name})`,
  `\\bON (${name})`,
].map((pattern) => new RegExp(pattern, 'i'));

/** Checks of new migrations: the compatible release, the way to build indexes, and the form of a batched migration. */
function problemsOfToday(sql, statements, isNew) {
  const problems = floor.test(sql)
    ? []
    : ['does not say which release is the oldest that runs with it: -- compatible-with: 1.4.0'];
  for (const { text, agreed } of statements) {
    if (/\bCONCURRENTLY\b/i.test(text) && !(online.test(text) && statements.length === 1))
      problems.push(`is not the one statement of an online migration, CREATE INDEX CONCURRENTLY "name" ON …: ${text}`);
    if (/^CREATE INDEX (?!CONCURRENTLY)/i.test(text) && !agreed && !isNew(text))
      problems.push(`holds up all writers of the table while the index is made: ${text}`);
  }
  if (batched.test(sql) && !(statements.length === 1 && changesRows.test(statements[0].text)))
    problems.push('is marked as batched and is not one UPDATE or DELETE');
  return problems;
}

const changesRows = /^(?:UPDATE|DELETE)\b|^WITH\b.*\b(?:UPDATE|DELETE FROM)\b/i;

/** Why a statement blocks others in proportion to the size of its table; `later` are the statements after it. */
function longHold(text, later, isBatched) {
  const table = tableOf(text);
  if (fewRows.has(table)) return undefined;
  if (changesRows.test(text))
    return isBatched && /\bLIMIT \d+/i.test(text)
      ? undefined
      : 'holds each row that it changes until it has changed all, and is not batched with a LIMIT';
  if (!/^ALTER TABLE\b/i.test(text)) return undefined;
  if (rewrites(text)) return 'writes the whole table again while no other may read it';
  const isChecked = later.some((one) => tableOf(one.text) === table && /\bDROP CONSTRAINT\b/i.test(one.text));
  return /\bSET NOT NULL\b/i.test(text) && !isChecked ? 'reads the whole table while no other may read it' : undefined;
}

/** The problems of one migration, as sentences. Without a name it counts as a new one. */
export function migrationProblems(sql, migration = strictFrom) {
  const statements = statementsOf(sql);
  const created = new Set(
    statements.flatMap(({ text }) => {
      const [, table] = new RegExp(`^CREATE TABLE (?:IF NOT EXISTS )?(${name})`, 'i').exec(text) ?? [];
      return table === undefined ? [] : [table.replaceAll('"', '')];
    }),
  );
  const isNew = (text) => created.has(tableOf(text));
  const isToday = migration >= strictFrom;
  const today = isToday ? problemsOfToday(sql, statements, isNew) : [];
  const others = statements.flatMap(({ text, agreed }, n) => {
    if (isNew(text)) return [];
    const breaks = () =>
      [...rules, ...rulesOfOldTables].find(([pattern]) => pattern.test(text))?.[1] ??
      (/^ALTER TABLE/i.test(text) && mustBeGiven(text)
        ? 'requires a column that the release before does not give'
        : undefined);
    const problem =
      (agreed ? undefined : breaks()) ??
      (isToday ? longHold(text, statements.slice(n + 1), batched.test(sql)) : undefined);
    return problem === undefined ? [] : [`${problem}: ${text}`];
  });
  return [...today, ...others];
}

function main(options) {
  if (options.includes('--help')) return void process.stdout.write(usage);
  const folders = options.length > 0 ? options : [migrations];
  for (const folder of folders)
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const problems = migrationProblems(readFileSync(join(folder, entry.name, 'migration.sql'), 'utf8'), entry.name);
      if (problems.length > 0) process.exitCode = 1;
      console.log(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${entry.name}`);
      for (const problem of problems) console.log(`     ${problem}`);
    }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2));
