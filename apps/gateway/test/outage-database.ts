/** A real database that can be out of reach for a while: then every question fails the way a refused connection does. */
import type { Database } from '@relay/database';
import { openTestDatabase } from '@relay/testing';

export interface OutageDatabase extends Database {
  /** Stops answering, or resumes. Statements fail like a refused connection, unless given. */
  setDown(down: boolean, how?: () => Error): void;
  /** Refuses transactions and answers reads, as a server does during a fail-over. */
  setReadOnly(readOnly: boolean): void;
  /**
   * Goes down once a transaction with a matching result has committed. `answered`: whether its caller still gets the
   * result.
   */
  breakAfter(fits: (result: unknown) => boolean, answered: boolean): void;
  /** The number of failed queries. */
  readonly failures: number;
}

const refused = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'P1001' });

export async function openOutageDatabase(): Promise<OutageDatabase> {
  const real = await openTestDatabase();
  let down = false;
  let readOnly = false;
  let failures = 0;
  let failure: () => Error = refused;
  let breaking: { fits: (result: unknown) => boolean; answered: boolean } | undefined;
  const refuse = () => {
    failures += 1;
    return Promise.reject(failure());
  };
  const transaction: Database['sql']['transaction'] = async (...given) => {
    if (readOnly) return refuse();
    const result = await real.sql.transaction(...given);
    if (!breaking?.fits(result)) return result;
    const { answered } = breaking;
    breaking = undefined;
    down = true;
    return answered ? result : refuse();
  };
  /** Methods differ from models by being functions; methods of models fail all the same. */
  const failing = (target: object): object =>
    new Proxy(target, {
      get: (of, name) => {
        const value = Reflect.get(of, name) as unknown;
        if (!down && name === 'transaction') return transaction;
        if (!down) return typeof value === 'function' ? (value.bind(of) as unknown) : wrapped(value);
        return typeof value === 'function' ? refuse : wrapped(value);
      },
    });
  const wrapped = (value: unknown) => (typeof value === 'object' && value !== null ? failing(value) : value);
  return {
    ...real,
    sql: failing(real.sql) as Database['sql'],
    models: failing(real.models) as Database['models'],
    health: () => (down ? Promise.resolve({ ok: false, probeMs: 0 }) : real.health()),
    setDown: (value, how = refused) => {
      down = value;
      failure = how;
    },
    setReadOnly: (value) => {
      readOnly = value;
    },
    breakAfter: (fits, answered) => {
      breaking = { fits, answered };
    },
    get failures() {
      return failures;
    },
  };
}
