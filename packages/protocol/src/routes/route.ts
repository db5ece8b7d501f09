/** The form of one row of `routes`. */
import type { ErrorCode } from '../errors.ts';
import type { TSchema } from '../schema.ts';
import type { Body } from './body.ts';

/** The part of a row that a client needs to call the route. */
export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /**
   * none: needs no credential. user: an access token. user-or-device: also the device's own refresh token. optional:
   * the caller can send one. answer: only the one-use token of a notification.
   */
  credential: 'none' | 'optional' | 'user' | 'user-or-device' | 'answer';
  /** Accepts Idempotency-Key. */
  idempotent?: true;
}

export type Scope = 'sessions:read' | 'sessions:write' | 'devices:read' | 'devices:write';

export interface Route extends Endpoint {
  summary: string;
  /** All of them are needed. */
  scope?: Scope | readonly Scope[];
  query?: TSchema;
  body?: Body;
  /** This field raises the body limit to `imageRequestBytes`; the rest of the body keeps `requestBodyBytes`. */
  largeField?: 'images';
  success: Readonly<Record<number, Body | undefined>>;
  /** The errors particular to the route; `errorsOf` adds the errors from its credential and inputs. */
  errors: readonly ErrorCode[];
  /** Refusals with a body of their own, by status; every other one is an `ErrorResponse`. */
  refusals?: Readonly<Record<number, Body>>;
  /** The query can carry the fields of the body instead. */
  bodyInQuery?: true;
  /**
   * How a call counts against the rate limit (rules, 6.10). Absent: as one request. `none`: not at all. `creation`:
   * also against the limit of new sessions. `export`, `pushTest`, `files`: also against the limit of exports, of
   * address tests, of files. `pieces`: only against the limit of pieces of files. `misuse`: only if it turns out to be a misuse, per address.
   */
  limit?: 'none' | 'creation' | 'export' | 'pushTest' | 'files' | 'pieces' | 'misuse';
  /** The body is bytes (`application/octet-stream`), at most `fileLimits.pieceBytes`. */
  binary?: true;
  /** The answer is written part by part. */
  streamed?: true;
}

/** The table of a subject. A row does not compile if one of its bodies lacks an example. */
export type Rows = Readonly<Record<string, Route>>;

export type EndpointsOf<T> = { readonly [N in keyof T]: Pick<T[N], keyof Endpoint & keyof T[N]> };

/** Returns the part of each row that a client needs: plain data. */
export const endpointsOf = <T extends Readonly<Record<string, Endpoint>>>(rows: T): EndpointsOf<T> =>
  Object.fromEntries(
    Object.entries(rows).map(([name, { method, path, credential, idempotent }]) => [
      name,
      { method, path, credential, ...(idempotent && { idempotent }) },
    ]),
  ) as EndpointsOf<T>;
