/** Reads a dump of the database, and the table of docs/runbooks/leaked-dump.md that classifies its secrets. */

/** The values of a row by column; NULL is absent. */
export type Row = Partial<Record<string, string>>;

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v' };
const unescaped = (text: string) => text.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);

/** The rows of each table in the plain output of pg_dump. */
export function readCopy(text: string): Map<string, Row[]> {
  const tables = new Map<string, Row[]>();
  for (const [, table = '', names = '', body = ''] of text.matchAll(
    /^COPY public\.(\w+) \((.*?)\) FROM stdin;\n([^]*?)^\\\.$/gm,
  )) {
    const columns = names.split(', ').map((name) => name.replaceAll('"', ''));
    const lines = body.split('\n').slice(0, -1);
    const rows = lines.map((line) => {
      const values = line.split('\t').map((value) => (value === '\\N' ? undefined : unescaped(value)));
      return Object.fromEntries(columns.map((column, n) => [column, values[n]]));
    });
    tables.set(table, rows);
  }
  return tables;
}

/** The class of each column in the table of the runbook. */
export function classesIn(runbook: string): Map<string, string> {
  const classes = new Map<string, string>();
  for (const [, kind = '', columns = ''] of runbook.matchAll(/^\| ([^|]+?) \| ((?:`\w+\.\w+`(?:, )?)+) \|/gm))
    for (const [, name = ''] of columns.matchAll(/`(\w+\.\w+)`/g)) classes.set(name, kind);
  return classes;
}

const secretName =
  /token|secret|hash|key|password|code|salt|seal|digest|private|challenge|assertion|response|jwk|credential|nonce|signature|confirmation/;
/** References to rows, and codes of errors. */
const harmlessName = /^(?:session_key|close_code|error_code|recovery_key_id)$/;
/** A token of 240 bits or more, a JSON Web Token or a key in PEM. */
const secretContent = /(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{40,}(?![\w-])|rly_\w+_|-----BEGIN|\beyJ/;

/** Columns without a class whose name or content looks like a secret. */
export function unclassified(
  columns: readonly { name: string; type: string }[],
  dump: ReadonlyMap<string, readonly Row[]>,
  classes: ReadonlyMap<string, string>,
): string[] {
  const looksSecret = ({ name, type }: { name: string; type: string }) => {
    const [table = '', column = ''] = name.split('.');
    if (!['text', 'jsonb', 'bytea', 'ARRAY'].includes(type)) return false;
    if (secretName.test(column) && !harmlessName.test(column)) return true;
    return (dump.get(table) ?? []).some((row) => secretContent.test(row[column] ?? ''));
  };
  return columns
    .filter((column) => !classes.has(column.name) && looksSecret(column))
    .map(({ name }) => name)
    .sort();
}
