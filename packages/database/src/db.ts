/** The handles that the nouns of this package get: the database, or a running transaction. Types only. */
import type { PrismaClient } from './generated/prisma/client.ts';
import type { Sql } from './sql.ts';

/** Sends a hand-written statement. Starts when it is called. Throws SqlError for a statement that the database refuses. */
export interface Statements {
  /** Returns the rows: `bigint` as a BigInt, times as Dates, `jsonb` parsed. */
  query<Row = unknown>(statement: TemplateStringsArray | Sql, ...values: unknown[]): Promise<Row[]>;
  /** Returns the number of changed rows. */
  execute(statement: TemplateStringsArray | Sql, ...values: unknown[]): Promise<number>;
}

/** The database, or a running transaction. */
export interface Db {
  readonly sql: Statements;
}

/** The database, which begins transactions. */
export interface Transactions {
  readonly sql: Statements & {
    /**
     * Runs `work` in its own transaction (READ COMMITTED); rolls back if `work` throws or exceeds its time. `work` must
     * send everything through the given client. Throws the error of `work`, and TransactionError.
     *
     * `opening`: statements sent together with BEGIN, in one round trip; `work` gets the rows of each. If BEGIN alone
     * fails, they ran without a transaction and `work` does not run: so they must only read and take locks.
     *
     * `alone`: the one statement of `opening` is the transaction, without BEGIN and COMMIT. `work` reads its rows and
     * sends nothing.
     */
    transaction<T>(
      work: (tx: Db, opened: unknown[][]) => Promise<T>,
      opening?: readonly Sql[],
      alone?: 'alone',
    ): Promise<T>;
  };
}

/** Prisma's models, without its raw statements: `sql` is for those. */
type Models = Omit<PrismaClient, '$queryRaw' | '$queryRawUnsafe' | '$executeRaw' | '$executeRawUnsafe'>;

/**
 * The database with models, for work that is neither hot nor set-based. A transaction of `sql` lacks them: in
 * `withDevice` a model does not compile.
 */
export interface WithModels {
  readonly models: Models;
}

export type Whole = Transactions & WithModels;
