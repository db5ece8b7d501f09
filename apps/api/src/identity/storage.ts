/**
 * The database as the sign-in library may use it. Two things it does not know: a list in PostgreSQL is never null, and a
 * database that is away is no answer about anybody's password.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type PrismaClient, isUnavailable } from '@relay/database';
import { APIError } from 'better-auth/api';

export interface LibraryStorage {
  /** For the library's Prisma adapter. */
  readonly client: object;
  /** Runs `work`, and tells besides what it may have swallowed. Never rejects. */
  watch<T>(work: () => Promise<T>): Promise<Outcome<T>>;
  /** Says what has to be taken back if the work that runs now fails. Whoever watches decides whether it failed. */
  onFailure(undo: () => Promise<void>): void;
}

export interface Watched {
  /** The database was away. */
  unavailable: boolean;
  /** What the database refused. */
  failure: unknown;
  /** What has to be taken back if the work failed, in the order in which it was done. */
  undo: (() => Promise<void>)[];
}

export type Outcome<T> = ({ result: T } | { result: undefined; error: unknown }) & Watched;

/** The library writes null where the column is a list. */
const lists: Readonly<Record<string, readonly string[]>> = { OauthResource: ['allowedScopes'] };

/** Not there, and there already: the library knows what to do with these. */
const expected: ReadonlySet<unknown> = new Set(['P2025', 'P2002']);

function withoutNullLists(model: string, args: unknown): unknown {
  const fields = lists[model];
  if (!fields || typeof args !== 'object' || args === null) return args;
  const data = (args as { data?: unknown }).data;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return args;
  const filled = Object.fromEntries(
    Object.entries(data).map(([field, value]) => [field, value === null && fields.includes(field) ? [] : value]),
  );
  return { ...args, data: filled };
}

export function createLibraryStorage(prisma: PrismaClient): LibraryStorage {
  const watched = new AsyncLocalStorage<Watched>();
  const client = prisma.$extends({
    query: {
      $allModels: {
        async $allOperations({ model, args, query }) {
          try {
            return await query(withoutNullLists(model, args) as typeof args);
          } catch (error) {
            const current = watched.getStore();
            if (!current || expected.has((error as { code?: unknown }).code)) throw error;
            current.unavailable ||= isUnavailable(error);
            current.failure ??= error;
            // Any other error would be written to the console, by a library of the library.
            throw new APIError('INTERNAL_SERVER_ERROR');
          }
        },
      },
    },
  });
  return {
    client,
    watch: (work) => {
      const current: Watched = { unavailable: false, failure: undefined, undo: [] };
      return watched.run(current, async () => {
        try {
          return { result: await work(), ...current };
        } catch (error) {
          return { result: undefined, error, ...current };
        }
      });
    },
    onFailure: (undo) => void watched.getStore()?.undo.push(undo),
  };
}
