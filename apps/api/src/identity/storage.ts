/**
 * The database as seen by the sign-in library. The library does not know that a list in PostgreSQL is never null, that an
 * unreachable database proves nothing about a password, that a sign-in can be revoked while its token is being written, and that
 * a person can have several chains of refresh tokens with a program (rules, 8.26).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Database, forgetOrphan, isUnavailable, modelRefusal, modelsThrough } from '@relay/database';
import { APIError } from 'better-auth/api';
import { agentClientId } from './clients.ts';

interface WatchOptions {
  hearsConsent: boolean;
  /** Headers of the request, for the audit. */
  headers?: Headers;
  /** An address that counts as one of the client of agents: it has any port and path of the computer of the person. */
  agentRedirect?: string | undefined;
}

export interface LibraryStorage {
  /** The client for the library's Prisma adapter. */
  readonly client: object;
  /**
   * Runs `work`, and also reports errors that it swallowed. Never rejects. Only work with `hearsConsent`, the person's answer to
   * the consent question, finds earlier consents: any program on a machine can ask in the name of a native program (RFC 8252
   * §8.6), so a code never follows from an earlier answer.
   */
  watch<T>(work: () => Promise<T>, options?: WatchOptions): Promise<StorageOutcome<T>>;
  /** An error that the work met elsewhere than at `client`. True: the database was away, and the caller that watches reports it. */
  noteFailure(error: unknown): boolean;
  /** The refresh token, used or not, that the work was asked about. */
  presented(): RefreshToken | undefined;
  /** The chain of the tokens that the work gives out. */
  chain(): string | undefined;
  /** The work redeems a code: it begins this chain. */
  begins(chain: string): void;
  /** Registers an undo for the work that runs now. The caller that watches decides whether it failed. */
  onFailure(undo: () => Promise<void>): void;
}

/** A link of a chain. */
interface RefreshToken {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  /** The chain, by the hash of the code that it began with; null in rows of other releases. */
  readonly authorizationCodeId: string | null;
  readonly revoked: Date | null;
  readonly rotatedAt: Date | null;
  readonly rotationReplayExpiresAt: Date | null;
  readonly rotationReplayResponse: string | null;
}

interface Watched {
  readonly since: Date;
  readonly headers: Headers | undefined;
  presented: RefreshToken | undefined;
  chain: string | undefined;
  /** The database was away. */
  unavailable: boolean;
  /** The refusal of the database. */
  failure: unknown;
  /** Undo steps if the work fails, in order of execution. */
  undo: (() => Promise<void>)[];
  /** The refresh token, by id, that is being replaced. */
  replaced: string | undefined;
  readonly hearsConsent: boolean;
  readonly agentRedirect: string | undefined;
}

export type StorageOutcome<T> = ({ result: T } | { result: undefined; error: unknown }) & Watched;

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

function withRedirect(found: unknown, redirect: string): unknown {
  const client = found as { clientId?: string; redirectUris?: string[] } | null;
  if (client?.clientId !== agentClientId || !client.redirectUris) return found;
  return { ...client, redirectUris: [...client.redirectUris, redirect] };
}

/** The longest wait for a renewal that is under way elsewhere, and between two looks. */
const renewalMs = 3000;
const lookMs = 50;

/** A renewal writes its answer last, for the same request again. */
const isUnderWay = (token: RefreshToken | null) =>
  token?.rotatedAt && !token.rotationReplayResponse && token.rotatedAt.getTime() > Date.now() - renewalMs;

/** All instances of a process share this store: each promise visits every store of the process. */
const watched = new AsyncLocalStorage<Watched>();

/** `endChain` runs before the library forgets the tokens of a chain, because a used one of it came again. */
export function createLibraryStorage(
  database: Database,
  endChain: (of: { chain: string; userId: string; clientId: string; headers: Headers | undefined }) => Promise<void>,
): LibraryStorage {
  /** The library marks a token as used, then writes the next one; in between the sign-in might have been forgotten. */
  async function endedMeanwhile(operation: string, args: unknown, result: unknown, current: Watched): Promise<void> {
    const token = result as (RefreshToken & { sessionId: string | null }) | null;
    if (!token) return;
    if (operation === 'update' && 'rotatedAt' in ((args as { data?: object }).data ?? {})) current.replaced = token.id;
    if (operation !== 'create') return;
    if (await forgetOrphan(database, token, { replaces: current.replaced, since: current.since }))
      throw new APIError('BAD_REQUEST', { error: 'invalid_grant', error_description: 'this sign-in has ended' });
  }

  /** Where the library would revoke all tokens of a person for a program, this revokes the chain. */
  async function withinChain(operation: string, args: unknown, { presented, headers }: Watched): Promise<unknown> {
    const chain = presented?.authorizationCodeId;
    if (!presented || !chain || !['findMany', 'deleteMany'].includes(operation)) return args;
    if (operation === 'deleteMany') await endChain({ ...presented, chain, headers });
    const { where, ...rest } = args as { where?: object };
    return { ...rest, where: { AND: [where ?? {}, { authorizationCodeId: chain }] } };
  }

  async function found(result: unknown, current: Watched, again: () => Promise<unknown>): Promise<unknown> {
    let token = result as RefreshToken | null;
    for (let looks = 0; looks < renewalMs / lookMs && isUnderWay(token); looks += 1) {
      await new Promise((resolve) => setTimeout(resolve, lookMs));
      token = (await again()) as RefreshToken | null;
    }
    current.presented ??= token ?? undefined;
    // Regardless of other fields in the request: new tokens belong to the chain of the presented token.
    if (token) current.chain = token.authorizationCodeId ?? undefined;
    return token;
  }

  const client = modelsThrough(database, async ({ model, operation, args }, run) => {
    const current = watched.getStore();
    if (model === 'OauthConsent' && operation === 'findFirst' && !current?.hearsConsent) return null;
    try {
      if (model === 'OauthClient' && current?.agentRedirect !== undefined)
        return withRedirect(await run(args), current.agentRedirect);
      if (model !== 'OauthRefreshToken' || !current) return await run(withoutNullLists(model, args));
      const result = await run(await withinChain(operation, args, current));
      await endedMeanwhile(operation, args, result, current);
      return operation === 'findFirst' ? await found(result, current, () => run(args)) : result;
    } catch (error) {
      const refusal = modelRefusal(error);
      // The library passed on the caller's value, and the message quotes it.
      if (current && refusal === 'invalid')
        throw new APIError('BAD_REQUEST', { code: 'INVALID_REQUEST', message: 'A field of the body is wrong.' });
      // The library handles a row that is missing or already exists.
      if (!current || error instanceof APIError || refusal !== undefined) throw error;
      current.unavailable ||= isUnavailable(error);
      current.failure ??= error;
      // Any other error would be written to the console, by a library of the library.
      throw new APIError('INTERNAL_SERVER_ERROR');
    }
  });
  return {
    client,
    watch: (work, { hearsConsent, headers, agentRedirect } = { hearsConsent: false }) => {
      const current: Watched = {
        ...{ since: new Date(), presented: undefined, chain: undefined, replaced: undefined, hearsConsent, headers },
        agentRedirect,
        ...{ unavailable: false, failure: undefined, undo: [] },
      };
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
    presented: () => watched.getStore()?.presented,
    chain: () => watched.getStore()?.chain,
    begins: (chain) => {
      const current = watched.getStore();
      if (current) current.chain = chain;
    },
    onFailure: (undo) => void watched.getStore()?.undo.push(undo),
  };
}
