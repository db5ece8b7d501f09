/** Explains the statements of a function with the plans that a connection keeps. */
import pg from 'pg';
import { type Db, Sql } from '../src/index.ts';

/** Blocks of all statements, and the tables that a statement read completely. */
export interface Noted {
  blocks: number;
  read: string[];
}

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Node[];
}

const nodesOf = (plan: Node): Node[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

const literal = (value: unknown): string => {
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map((one) => JSON.stringify(one)).join()}}`);
  return pg.escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value));
};

/** The call of a statement that the connection has prepared. */
async function callOf(db: Db, { text, values }: Sql): Promise<Sql> {
  const [known] = await db.sql.query<{
    name: string;
  }>`SELECT name FROM pg_prepared_statements WHERE statement = ${text}`;
  if (!known) throw new Error(`not prepared: ${text}`);
  return new Sql([`EXECUTE "${known.name}"${values.length === 0 ? '' : `(${values.map(literal).join()})`}`]);
}

/**
 * Explains each statement, which carries it out, and answers it only if it is a read. `prepared`: by the plan that the connection has made
 * for it before.
 */
export function explaining(db: Db, noted: Noted, { prepared = false } = {}): Db {
  const explain = async (statement: TemplateStringsArray | Sql, values: readonly unknown[]): Promise<Sql> => {
    const whole = statement instanceof Sql ? statement : new Sql(statement, values);
    const [row] = await db.sql.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      new Sql(['EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ', ''], [prepared ? await callOf(db, whole) : whole]),
    );
    const { Plan: plan } = row!['QUERY PLAN'][0];
    noted.blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    const scans = nodesOf(plan).filter((node) => node['Node Type'] === 'Seq Scan');
    noted.read.push(...scans.map((node) => node['Relation Name'] ?? ''));
    return whole;
  };
  return {
    sql: {
      query: async (statement, ...values) => {
        const whole = await explain(statement, values);
        return /\b(?:UPDATE|INSERT)\b|\brelay_(?:accept|claim|confirm|settle)_/.test(whole.text)
          ? []
          : db.sql.query(whole);
      },
      execute: async (statement, ...values) => {
        await explain(statement, values);
        return 0;
      },
    },
  };
}
