/** A database whose connection a test can lose: then every query fails as if the server were away. */
import type { Database } from '@relay/database';
import { openTestDatabase } from '@relay/testing';

export interface LosableDatabase extends Database {
  /** `error`: the error of every query; default: a lost connection. */
  lose(error?: Error): void;
  find(): void;
}

/** The error of Prisma and its driver adapter (P1017: server has closed the connection). */
export const lostConnection = () =>
  Object.assign(new Error('Server has closed the connection.'), { code: 'P1017', clientVersion: '7.10.0' });

export async function openLosableDatabase(): Promise<LosableDatabase> {
  const database = await openTestDatabase();
  let lost: Error | undefined;
  const failing = (object: object): object =>
    new Proxy(object, {
      get: (target, name): unknown => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value === 'function') {
          return (...args: unknown[]): unknown => {
            if (lost) return Promise.reject(lost);
            return Reflect.apply(value as (...all: unknown[]) => unknown, target, args);
          };
        }
        return typeof value === 'object' && value !== null ? failing(value) : value;
      },
    });
  return {
    kind: database.kind,
    newerMigrations: database.newerMigrations,
    pool: () => database.pool(),
    watchInboxes: (listener) => database.watchInboxes(listener),
    sql: failing(database.sql) as Database['sql'],
    models: failing(database.models) as Database['models'],
    health: () => (lost ? Promise.resolve({ ok: false, probeMs: 0 }) : database.health()),
    close: () => database.close(),
    lose: (error = lostConnection()) => {
      lost = error;
    },
    find: () => {
      lost = undefined;
    },
  };
}
