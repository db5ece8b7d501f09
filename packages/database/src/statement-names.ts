/**
 * Names for statements, so that PostgreSQL parses and plans each text once and not at every call: in the embedded engine
 * planning costs more than running. A kept plan is made again when the statistics of its tables are, see upkeep.ts.
 */

/**
 * Returns a function that names a statement: the same text always gets the same name. After `limit` texts, new ones get
 * the empty name, which PostgreSQL plans at every call: named statements stay in its memory until the connection
 * closes.
 */
export function statementNames(limit = 500): (statement: { sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const cached = names.get(sql);
    if (cached !== undefined) return cached;
    if (names.size >= limit) return '';
    const name = `statement-${names.size + 1}`;
    names.set(sql, name);
    return name;
  };
}
