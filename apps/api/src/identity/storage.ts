/**
 * The database as the sign-in library may use it. Three things it does not know: a list in PostgreSQL is never null, a database
 * that is away is no answer about anybody's password, and a sign-in may end while a token of it is being written.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Database, forgetOrphan, isUnavailable, modelRefusal, modelsThrough } from '@relay/database';
import { APIError } from 'better-auth/api';

export interface LibraryStorage {
  /** For the library's Prisma adapter. */
  readonly client: object;
  /**
   * Runs `work`, and also reports what it may have swallowed. Never rejects. Only work that `hearsConsent`, the answer of a person to
   * the question, finds what a person allowed: anybody on a machine can ask in the name of a native program (RFC 8252 §8.6), so a code
   * never follows from an earlier answer.
   */
  watch<T>(work: () => Promise<T>, options?: { hearsConsent: boolean }): Promise<Outcome<T>>;
  /** An error that the work met elsewhere than at `client`. True: the database was away, and the caller that watches reports it. */
  noteFailure(error: unknown): boolean;
  /** Registers an undo for the work that runs now. The caller that watches decides whether it failed. */
  onFailure(undo: () => Promise<void>): void;
}

interface Watched {
  /** The database was away. */
  unavailable: boolean;
  /** The refusal of the database. */
  failure: unknown;
  /** Undo steps if the work fails, in the order in which it was done. */
  undo: (() => Promise<void>)[];
  /** The refresh token, by id, that is being replaced. */
  replaced: string | undefined;
  readonly hearsConsent: boolean;
}

export type Outcome<T> = ({ result: T } | { result: undefined; error: unknown }) & Watched;

/** The library writes null where the column is a list. */
const lists: Readonly<Record<string, readonly string[]>> = { OauthResource: ['allowedScopes'] };

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

export function createLibraryStorage(database: Database): LibraryStorage {
  const watched = new AsyncLocalStorage<Watched>();

  /** The library marks a token as used, then writes the next one; in between everything may have been forgotten. */
  async function endedMeanwhile(operation: string, args: unknown, result: unknown, current: Watched): Promise<void> {
    const { id, sessionId } = (result ?? {}) as { id?: string; sessionId?: string | null };
    if (id === undefined) return;
    if (operation === 'update' && 'rotatedAt' in ((args as { data?: object }).data ?? {})) current.replaced = id;
    if (operation !== 'create') return;
    if (await forgetOrphan(database, { id, sessionId: sessionId ?? null }, current.replaced))
      throw new APIError('BAD_REQUEST', { error: 'invalid_grant', error_description: 'this sign-in has ended' });
  }

  const client = modelsThrough(database, async ({ model, operation, args }, run) => {
    const current = watched.getStore();
    if (model === 'OauthConsent' && operation === 'findFirst' && !current?.hearsConsent) return null;
    try {
      const result = await run(withoutNullLists(model, args));
      if (model === 'OauthRefreshToken' && current) await endedMeanwhile(operation, args, result, current);
      return result;
    } catch (error) {
      const refusal = modelRefusal(error);
      // The library passed on the caller's value, and the message quotes it.
      if (current && refusal === 'invalid')
        throw new APIError('BAD_REQUEST', { code: 'INVALID_REQUEST', message: 'A field of the body is wrong.' });
      // The library knows what to do with a row that is missing or there already.
      if (!current || error instanceof APIError || refusal !== undefined) throw error;
      current.unavailable ||= isUnavailable(error);
      current.failure ??= error;
      // Any other error would be written to the console, by a library of the library.
      throw new APIError('INTERNAL_SERVER_ERROR');
    }
  });
  return {
    client,
    watch: (work, { hearsConsent } = { hearsConsent: false }) => {
      const current: Watched = { unavailable: false, failure: undefined, undo: [], replaced: undefined, hearsConsent };
      return watched.run(current, async () => {
        try {
          return { result: await work(), ...current };
        } catch (error) {
          return { result: undefined, error, ...current };
        }
      });
    },
    noteFailure: (error) => {
      const current = watched.getStore();
      if (!current) return false;
      current.unavailable ||= isUnavailable(error);
      current.failure ??= error;
      return current.unavailable;
    },
    onFailure: (undo) => void watched.getStore()?.undo.push(undo),
  };
}
