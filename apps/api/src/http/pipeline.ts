/**
 * One way for every route of the protocol: credential, scope, limit, body, query — then the handler, then the answer. The
 * table of routes is the protocol's; a route without a handler does not compile.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Express, Request, Response } from 'express';
import { type UserPrincipal, bearerFrom } from '@relay/auth';
import { RelayError, type Route, type RouteName, routes, validator } from '@relay/protocol';
import type { ApiDeps } from '../deps.ts';
import { networkOfRequest } from './address.ts';
import { authenticateUser, requireScope } from './authenticate.ts';
import { jsonReader } from './body.ts';
import { toRelayError } from './errors.ts';
import type { RateLimits } from './rate-limit.ts';

/** What a handler gets: everything was checked before. */
export interface Call<Body = unknown, Query = unknown> {
  request: Request;
  response: Response;
  /** Present on routes whose credential is `user`; on `optional` and `user-or-device` ones perhaps. */
  principal: UserPrincipal | undefined;
  body: Body;
  query: Query;
  limits: RateLimits;
}

/** Status and body; a handler may set further headers on the response itself. */
export interface Answer {
  status: number;
  body?: unknown;
  /** Instead of a body: the text of a JSON document, written as fast as it is read. */
  text?: AsyncIterable<string>;
  /** On a route that is counted afterwards: this was legal use and costs nothing. */
  free?: boolean;
}

export type Handler = (call: Call<never, never>) => Promise<Answer> | Answer;
export type Handlers = Record<RouteName, Handler>;

/** The user of a route whose credential is `user`. */
export function userOf(call: Pick<Call, 'principal'>): UserPrincipal {
  if (!call.principal) throw new TypeError('this route has no user');
  return call.principal;
}

async function principalOf(route: Route, request: Request, deps: ApiDeps): Promise<UserPrincipal | undefined> {
  const hasBearer = request.headers.authorization !== undefined;
  if (route.credential === 'none' || (route.credential === 'optional' && !hasBearer)) return undefined;
  // The handler knows what to do with a device's own token.
  if (route.credential === 'user-or-device' && bearerFrom(request.headers.authorization)?.startsWith('rly_drt_'))
    return undefined;
  return authenticateUser(request, deps.jwtVerifier);
}

/** For a whole document. */
const streamMs = 10 * 60_000;
/** Routes that count against no limit: the two probes (contract §3). */
const unlimited = new Set<RouteName>(['health', 'ready']);
/** Only what turns out not to be legal use counts: a live code is polled for free at its pace (contract §3). */
const countedAfterwards = new Set<RouteName>(['pollCode']);

/** Every route of the table, and 405 for the other methods of its path. */
export function mountRoutes(app: Express, handlers: Handlers, deps: ApiDeps, rateLimits: RateLimits): void {
  const byPath = new Map<string, [RouteName, Route][]>();
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][])
    byPath.set(route.path, [...(byPath.get(route.path) ?? []), [name, route]]);

  // Backwards, because ':' comes before all letters: /api/devices/code is no device of that name.
  const paths = [...byPath.keys()].sort().reverse();
  for (const path of paths) {
    const here = byPath.get(path) ?? [];
    for (const [name, route] of here) {
      const method = route.method.toLowerCase() as 'get' | 'post' | 'patch' | 'delete';
      app[method](path, serve(name, route, handlers[name], deps, rateLimits));
    }
    const allowed = here.map(([, route]) => route.method);
    app.all(path, () => {
      throw new RelayError('METHOD_NOT_ALLOWED', `Use ${allowed.join(' or ')} here.`, {
        headers: { Allow: allowed.join(', ') },
      });
    });
  }
}

function serve(name: RouteName, route: Route, handler: Handler, deps: ApiDeps, rateLimits: RateLimits) {
  const checkBody = route.body && validator(route.body);
  const readJson = jsonReader(route.largeField);
  const checkQuery = route.query && validator(route.query, { coerce: true });

  return async (request: Request, response: Response): Promise<void> => {
    const address = `address:${networkOfRequest(request)}`;
    let principal: UserPrincipal | undefined;
    try {
      principal = await principalOf(route, request, deps);
    } catch (error) {
      await rateLimits.request(response, address);
      throw error;
    }
    if (!unlimited.has(name) && !countedAfterwards.has(name)) {
      const who = principal ? `user:${principal.userId}` : address;
      await rateLimits.request(response, who);
      if (name === 'createSession') await rateLimits.sessionCreation(response, who);
    }
    if (principal) for (const scope of [route.scope ?? []].flat()) requireScope(principal, scope);
    if (name === 'exportMe') await rateLimits.accountExport(response, userOf({ principal }).userId);
    const act = async (): Promise<Answer> => {
      if (request.url.includes('%00'))
        throw new RelayError('INVALID_REQUEST', 'The address may not contain the character U+0000.');
      const query = checkQuery ? checked(checkQuery({ ...request.query }), 'query') : undefined;
      const body = route.body ? await readJson(request, response) : undefined;
      // DELETE /api/watched-sessions may carry its id in the query instead.
      if (checkBody && name !== 'unwatch') checked(checkBody(body), 'body');
      return handler({ request, response, principal, body, query, limits: rateLimits } as Call<never, never>);
    };
    const count = () => rateLimits.request(response, `${name}:${address}`);
    const answer = countedAfterwards.has(name) ? await countedUnlessFree(act, count) : await act();
    if (answer.text) await writeText(response, answer.status, answer.text);
    else if (answer.body === undefined) response.status(answer.status).end();
    else response.status(answer.status).json(answer.body);
  };
}

/** Rejects when the reader leaves or is too slow: `answerError` then cuts the connection, so that half a document is not taken for one. */
async function writeText(response: Response, status: number, text: AsyncIterable<string>): Promise<void> {
  const parts = text[Symbol.asyncIterator]();
  // What fails before anything is written gets an answer of its own.
  const first = await parts.next();
  const all = async function* () {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => parts };
  };
  response.status(status).type('json');
  await pipeline(Readable.from(all()), response, { signal: AbortSignal.timeout(streamMs) });
}

/** Counts what `act` refuses, unless that was the fault of the relay, and what it does not call free. */
async function countedUnlessFree(act: () => Promise<Answer>, count: () => Promise<void>): Promise<Answer> {
  let answer: Answer;
  try {
    answer = await act();
  } catch (error) {
    if (toRelayError(error).status < 500) await count();
    throw error;
  }
  if (!answer.free) await count();
  return answer;
}

function checked(result: { ok: true; value: unknown } | { ok: false; reason: string }, where: string): unknown {
  if (!result.ok) throw new RelayError('INVALID_REQUEST', `In the ${where}, ${result.reason}.`);
  return result.value;
}

/** The answer to an error that was thrown anywhere on the way. */
export function answerError(
  error: unknown,
  request: Request,
  response: Response,
  deps: Pick<ApiDeps, 'logger' | 'metrics'>,
): void {
  const known = toRelayError(error);
  deps.metrics
    .counter('relay_http_errors_total', 'Requests answered with an error, by code', ['code'])
    .inc({ code: known.code });
  if (
    known.status >= 500 &&
    known.code !== 'DEVICE_OFFLINE' &&
    known.code !== 'DEVICE_TIMEOUT' &&
    known.code !== 'DEVICE_ERROR'
  ) {
    deps.logger.error(
      { err: known.cause ?? known, code: known.code, requestId: response.getHeader('X-Request-Id') },
      'a request failed',
    );
  }
  if (response.headersSent) {
    request.socket.destroy();
    return;
  }
  for (const [name, value] of Object.entries(known.headers)) response.setHeader(name, value);
  if (known.retryAfter !== undefined) response.setHeader('Retry-After', String(known.retryAfter));
  response.status(known.status).json(known.body);
}
