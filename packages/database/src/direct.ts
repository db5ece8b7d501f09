/**
 * Raw statements, straight to the driver: Prisma's client takes several times as long to pass a statement
 * on as the driver takes to send it and to read the rows (docs/adr/0023). Values, rows and errors are those of Prisma.
 */
import pg from 'pg';
import type { Db, Transactions } from './db.ts';
import { Prisma } from './generated/prisma/client.ts';
import type { OnStatement } from './observed-adapter.ts';

/** A statement that the database refused, as Prisma tells it; `cause` is the error of the driver. */
class StatementError extends Error {
  readonly code = 'P2010';

  constructor(cause: pg.DatabaseError) {
    super(`Raw query failed. Code: \`${cause.code}\`. Message: \`${cause.message}\``, { cause });
  }
}

const oids = { bytea: 17, int8: 20, numeric: 1700, timestamptz: 1184 };
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
  [oids.numeric]: (text) => new Prisma.Decimal(text),
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
  /** Hears what the driver said of a statement that failed. Must not throw. */
  onError: (error: unknown) => void;
}

/** Sends over `line` and tells the observers; errors are those that Prisma would throw. */
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
      throw error instanceof pg.DatabaseError ? new StatementError(error) : error;
    } finally {
      onStatement?.(kind, (performance.now() - startedAt) / 1000, ok);
    }
  };
}

export type StatementOf = (query: TemplateStringsArray | Prisma.Sql, values: unknown[]) => pg.QueryConfig;

/** `nameOf` names a text, so that it is parsed and planned once per connection; '' for one that is not to be kept. */
export function statements(nameOf: (statement: { sql: string }) => string): StatementOf {
  const plain = new WeakMap<TemplateStringsArray, { text: string; name: string }>();
  return (query, values) => {
    if (!(query instanceof Prisma.Sql) && !values.some((value) => value instanceof Prisma.Sql)) {
      let known = plain.get(query);
      if (known === undefined) {
        const text = query.reduce((before, part, n) => `${before}$${n}${part}`);
        plain.set(query, (known = { text, name: nameOf({ sql: text }) }));
      }
      return { text: known.text, name: known.name, values, types };
    }
    const whole = query instanceof Prisma.Sql ? query : Prisma.sql(query, ...values);
    const { text } = whole;
    return { text, name: nameOf({ sql: text }), values: whole.values, types };
  };
}

export function directly(send: Send, statementOf: StatementOf): Db {
  return {
    $queryRaw: async <T>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) =>
      (await send('query', statementOf(query, values))).rows as T,
    $executeRaw: async (query, ...values) => (await send('execute', statementOf(query, values))).rowCount ?? 0,
  };
}

/** The same client; its raw statements that belong to no transaction, and its direct transactions, take the short way. */
export function withDirect<T extends object>(prisma: T, direct: Db & Transactions): T & Transactions {
  const own = new Set<string | symbol>(Object.keys(direct));
  return new Proxy(prisma, {
    get: (target, property) => {
      if (own.has(property)) return Reflect.get(direct, property) as unknown;
      const value: unknown = Reflect.get(target, property, target);
      // A transaction of Prisma begins at its own client, so that its statements stay in it.
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
    },
  }) as T & Transactions;
}
