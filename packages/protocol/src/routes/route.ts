/** The form of one row of `routes`. */
import type { Endpoint } from '../endpoints.ts';
import type { ErrorCode } from '../errors.ts';
import type { TSchema } from '../schema.ts';

export type Scope = 'sessions:read' | 'sessions:write' | 'devices:read' | 'devices:write';

export interface Route extends Endpoint {
  summary: string;
  /** All of them are needed. */
  scope?: Scope | readonly Scope[];
  query?: TSchema;
  body?: TSchema;
  /** This field raises the body limit to `imageRequestBytes`; the rest of the body keeps `requestBodyBytes`. */
  largeField?: 'images';
  success: Readonly<Record<number, TSchema | undefined>>;
  /** The errors particular to the route; `errorsOf` adds the errors from its credential and inputs. */
  errors: readonly ErrorCode[];
  /** Refusals with a body of their own, by status; every other one is an `ErrorResponse`. */
  refusals?: Readonly<Record<number, TSchema>>;
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
