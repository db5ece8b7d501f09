/**
 * Hand-written statements, straight to the driver: Prisma's client takes several times as long to forward a statement as the driver
 * takes to send it and to read the rows (ADR 23).
 */
import pg from 'pg';
import type { Statements } from './db.ts';
import type { OnStatement } from './observed-adapter.ts';
import { Sql } from './sql.ts';

/** A statement that the database refused. `cause` is the driver's error, whose details can quote values. */
export class SqlError extends Error {
  /** PostgreSQL's SQLSTATE. */
  readonly code: string;

  constructor(cause: pg.DatabaseError) {
    super(cause.message, { cause });
    this.code = cause.code ?? '';
  }
}

const oids = { bytea: 17, int8: 20, timestamptz: 1184 };
const dateOf = pg.types.getTypeParser(oids.timestamptz) as (text: string) => Date;
const bytesOf = pg.types.getTypeParser(oids.bytea) as (text: string) => Buffer;

/** Nearly every session is in UTC and every year has four digits: that is ISO 8601 but for two letters. */
function timeOf(text: string): Date {
  if (text.charCodeAt(10) === 32 && text.endsWith('+00'))
    return new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`);
  return dateOf(text);
}

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  [oids.int8]: BigInt,
  [oids.timestamptz]: timeOf,
  [oids.bytea]: (text) => new Uint8Array(bytesOf(text)),
};

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers[oid]) || (pg.types.getTypeParser(oid, format ?? 'text') as unknown),
};

/** Sends one statement over a connection, or over the pool. */
export type Send = (kind: 'query' | 'execute', statement: pg.QueryConfig) => Promise<pg.QueryResult>;

export interface Observers {
  onStatement: OnStatement | undefined;
  /** Called with the driver's error of a statement that failed. Must not throw. */
  onError: (error: unknown) => void;
}

/** Sends over `line` and calls the observers. Rejects with SqlError for a statement that the database refused. */
export function sendOver(line: Pick<pg.ClientBase, 'query'>, { onStatement, onError }: Observers): Send {
  return async (kind, statement) => {
    const startedAt = onStatement ? performance.now() : 0;
    let ok = false;
    try {
      const result = await line.query(statement);
      ok = true;
      return result;
    } catch (error) {
      onError(error);
      throw error instanceof pg.DatabaseError ? new SqlError(error) : error;
    } finally {
      onStatement?.(kind, (performance.now() - startedAt) / 1000, ok);
    }
  };
}

export type StatementOf = (statement: TemplateStringsArray | Sql, values: unknown[]) => pg.QueryConfig;

/**
 * `nameOf` names a text, so that PostgreSQL parses and plans it once per connection; '' for a text that is not kept.
 */
export function statementsNamedBy(nameOf: (statement: { sql: string }) => string): StatementOf {
  /** A template without pieces always has the same text. */
  const plain = new WeakMap<TemplateStringsArray, { text: string; name: string }>();
  return (statement, values) => {
    if (statement instanceof Sql || values.some((value) => value instanceof Sql)) {
      const whole = statement instanceof Sql ? statement : new Sql(statement, values);
      return { text: whole.text, name: nameOf({ sql: whole.text }), values: [...whole.values], types };
    }
    let cached = plain.get(statement);
    if (cached === undefined) {
      const { text } = new Sql(statement, values);
      plain.set(statement, (cached = { text, name: nameOf({ sql: text }) }));
    }
    return { ...cached, values, types };
  };
}

export function statements(send: Send, statementOf: StatementOf): Statements {
  return {
    query: async <Row>(statement: TemplateStringsArray | Sql, ...values: unknown[]) =>
      (await send('query', statementOf(statement, values))).rows as Row[],
    execute: async (statement, ...values) => (await send('execute', statementOf(statement, values))).rowCount ?? 0,
  };
}
