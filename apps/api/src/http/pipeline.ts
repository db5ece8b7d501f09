/**
 * One way for every route of the protocol: credential, scope, limit, body, query — then the handler, then the answer. The
 * table of routes is the protocol's; a route without a handler does not compile.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Express, NextFunction, Request, Response } from 'express';
import { type UserPrincipal, bearerFrom } from '@relay/auth';
import {
  RelayError,
  type Route,
  type RouteBody,
  type RouteName,
  type RouteParams,
  type RouteQuery,
  type RouteRefusal,
  type RouteSuccess,
  fileLimits,
  routes,
  validator,
} from '@relay/protocol';
import type { ApiDeps } from '../deps.ts';
import type { AnswerClaims, AnswerTokens } from '../push/answer-tokens.ts';
import { networkOfRequest } from './address.ts';
import type { Answering, HandlerRequest } from './asking.ts';
import { authenticateAnswer, authenticateUser, requireScope } from './authenticate.ts';
import { bodyReader, jsonReader, linger } from './body.ts';
import { sendJson } from './compress.ts';
import { isRelayFault, toRelayError } from './errors.ts';
import { type AuditNote, audited, isRecorded, noteScopeRefusal } from './audit.ts';
import type { RateLimits } from './rate-limit.ts';

type PrincipalOf<N extends RouteName> = (typeof routes)[N]['credential'] extends 'user'
  ? UserPrincipal
  : UserPrincipal | undefined;

/** A checked request, as the handler of its route gets it. */
export interface HandlerCall<N extends RouteName = RouteName> {
  request: HandlerRequest;
  response: Answering;
  principal: PrincipalOf<N>;
  /** On the route that takes the token of a notification: its claims. */
  claims: (typeof routes)[N]['credential'] extends 'answer' ? AnswerClaims : undefined;
  params: RouteParams<N>;
  body: RouteBody<N>;
  query: RouteQuery<N>;
  limits: RateLimits;
  /** Details for the audit entry, beyond the route. */
  note: AuditNote;
}

/** Status and body; a handler can set further headers on the response itself. */
type HandlerAnswer<N extends RouteName = RouteName> = (
  RouteSuccess<N> | RouteRefusal<N> | Streamed<N> | Forwarded<N>
) & {
  /** On a route that counts misuse: this was legal use and costs nothing. */
  readonly free?: boolean;
};

/** On a streamed route: the text of its JSON document, or the bytes of another one, written as fast as they are read. */
type Streamed<N extends RouteName> = (typeof routes)[N] extends { streamed: true }
  ? { readonly status: 200; readonly text: AsyncIterable<string | Uint8Array> }
  : never;

/** JSON that is not decoded here: of a history with parts, as it came from a daemon; of a list, as it came from the database. */
type Forwarded<N extends RouteName> = N extends
  'readSession' | 'readMessages' | 'listSessions' | 'readChanges' | 'readDiff' | 'listFiles' | 'readFile'
  ? { readonly status: 200; readonly json: string }
  : never;

/** A handler for each of these routes. A status or body that differs from the table does not compile. */
export type Handlers<Names extends RouteName = RouteName> = {
  readonly [N in Names]: (call: HandlerCall<N>) => Promise<HandlerAnswer<N>> | HandlerAnswer<N>;
};

/** A handler of any route, as the pipeline sees it. */
export type AnyHandler = (call: unknown) => Promise<AnyAnswer> | AnyAnswer;
interface AnyAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: AsyncIterable<string | Uint8Array>;
  readonly json?: string;
  readonly free?: boolean;
}

async function principalOf(route: Route, request: Request, deps: ApiDeps): Promise<UserPrincipal | undefined> {
  const hasBearer = request.headers.authorization !== undefined;
  if (route.credential === 'none' || route.credential === 'answer' || (route.credential === 'optional' && !hasBearer))
    return undefined;
  // The handler checks a device's own token.
  if (route.credential === 'user-or-device' && bearerFrom(request.headers.authorization)?.startsWith('rly_drt_'))
    return undefined;
  return authenticateUser(request, deps.jwtVerifier);
}

const readBytes = bodyReader(fileLimits.pieceBytes);

/** @throws RelayError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_REQUEST, REQUEST_TIMEOUT */
async function bytesReader(request: Request, response: Response, payer: string): Promise<Buffer> {
  if (request.headers['content-type'] !== undefined && !request.is('application/octet-stream'))
    throw new RelayError('UNSUPPORTED_MEDIA_TYPE', 'Send the piece with "Content-Type: application/octet-stream".');
  return readBytes(request, response, payer);
}

/** The time limit of a streamed document. */
const streamMs = 10 * 60_000;

interface RoutesDeps extends ApiDeps {
  /** The tokens of notifications. Undefined: this relay makes no such tokens. */
  answers: AnswerTokens | undefined;
}

/** Every route of the table, and 405 for the other methods of its path. */
export function mountRoutes(app: Express, handlers: Handlers, deps: RoutesDeps, rateLimits: RateLimits): void {
  const byPath = new Map<string, [RouteName, Route][]>();
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][])
    byPath.set(route.path, [...(byPath.get(route.path) ?? []), [name, route]]);

  // Edges hide readiness by this path, which they compare exactly; Express takes other spellings of it.
  app.use((request: Request, _response: Response, next: NextFunction) => {
    const { path } = routes.ready;
    if (request.path !== path && request.path.toLowerCase().replace(/\/$/, '') === path)
      throw new RelayError('NOT_FOUND');
    next();
  });

  // Backwards, because ':' comes before all letters: /api/devices/code must not match as a device id.
  const paths = [...byPath.keys()].sort().reverse();
  for (const path of paths) {
    const here = byPath.get(path) ?? [];
    for (const [name, route] of here) {
      const method = route.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
      app[method](path, serve(name, route, handlers[name] as AnyHandler, deps, rateLimits));
    }
    const allowed = here.map(([, route]) => route.method);
    app.all(path, () => {
      throw new RelayError('METHOD_NOT_ALLOWED', `Use ${allowed.join(' or ')} here.`, {
        headers: { Allow: allowed.join(', ') },
      });
    });
  }
}

/** A request whose sender is known. */
export interface RouteRequest {
  request: HandlerRequest;
  response: Answering;
  principal: UserPrincipal | undefined;
  claims?: AnswerClaims | undefined;
  params: Readonly<Record<string, unknown>>;
  query: Readonly<Record<string, unknown>>;
  /** Reads the body. Called after every other check has passed. */
  readonly body: () => Promise<unknown>;
}

/** Limit, scope, query, body, then the handler and the audit: the steps of one route for any request. */
export function createPerformer(
  name: RouteName,
  route: Route,
  handler: AnyHandler,
  deps: Pick<ApiDeps, 'database' | 'logger'>,
  rateLimits: RateLimits,
): (request: RouteRequest) => Promise<AnyAnswer> {
  const checkBody = route.body && validator(route.body);
  const checkQuery = route.query && validator(route.query, { coerce: true });
  return async ({ request, response, principal, claims, params, query: given, body: readBody }) => {
    const who = principal ? `user:${principal.userId}` : `address:${networkOfRequest(request)}`;
    if (route.limit === 'pieces') await rateLimits.pieces(response, who);
    else if (route.limit !== 'none' && route.limit !== 'misuse') {
      await rateLimits.request(response, who);
      if (route.limit === 'creation') await rateLimits.sessionCreation(response, who);
    }
    const actor = { userId: principal?.userId, program: principal?.clientId };
    try {
      if (principal) for (const scope of [route.scope ?? []].flat()) requireScope(principal, scope);
    } catch (error) {
      await noteScopeRefusal(deps, { name, request, response, actor });
      throw error;
    }
    if (principal && route.limit === 'pushTest') await rateLimits.pushTest(response, principal.userId);
    if (principal && route.limit === 'files') await rateLimits.files(response, principal.userId);
    if (principal && route.limit === 'export') await rateLimits.accountExport(response, principal.userId);
    const note: AuditNote = {};
    const perform = async (): Promise<AnyAnswer> => {
      if ([...Object.values(params), ...Object.values(given)].some((value) => String(value).includes('\u0000')))
        throw new RelayError('INVALID_REQUEST', 'The address may not contain the character U+0000.');
      const query = checkQuery ? checked(checkQuery({ ...given }), 'query') : undefined;
      const body = route.body || route.binary ? await readBody() : undefined;
      if (checkBody && !route.bodyInQuery) checked(checkBody(body), 'body');
      return handler({ request, response, principal, claims, params, body, query, note, limits: rateLimits });
    };
    // A piece is in memory from its first byte until its daemon answered.
    const release = route.binary ? rateLimits.holdPiece(who) : undefined;
    const done = { name, request, response, actor, params, note };
    try {
      return await (isRecorded(name, route) ? audited(deps, done, perform) : perform());
    } finally {
      release?.();
    }
  };
}

function serve(name: RouteName, route: Route, handler: AnyHandler, deps: RoutesDeps, rateLimits: RateLimits) {
  const perform = createPerformer(name, route, handler, deps, rateLimits);
  const readBody = route.binary ? bytesReader : jsonReader(route.largeField);

  return async (request: Request, response: Response): Promise<void> => {
    const address = () => `address:${networkOfRequest(request)}`;
    let principal: UserPrincipal | undefined;
    let claims: AnswerClaims | undefined;
    try {
      if (route.credential === 'answer') claims = await authenticateAnswer(request, deps.answers);
      principal = await principalOf(route, request, deps);
    } catch (error) {
      await rateLimits.request(response, address());
      throw error;
    }
    const payer = principal ? `user:${principal.userId}` : address();
    const act = () =>
      perform({
        ...{ request, response, principal, claims, params: request.params, query: request.query },
        body: () => readBody(request, response, payer),
      });
    const count = () => rateLimits.request(response, `${name}:${address()}`);
    const answer = route.limit === 'misuse' ? await countedUnlessFree(act, count) : await act();
    if (answer.text) await writeText(response, answer.status, answer.text);
    else if (answer.json === undefined && answer.body === undefined) response.status(answer.status).end();
    else await sendJson(request, response, answer.status, answer.json ?? JSON.stringify(answer.body));
  };
}

/** Rejects when the reader leaves or is too slow: `answerError` then cuts the connection, so that no reader accepts half a document. */
async function writeText(response: Response, status: number, text: AsyncIterable<string | Uint8Array>): Promise<void> {
  const parts = text[Symbol.asyncIterator]();
  // A failure before anything is written gets an answer of its own.
  const first = await parts.next();
  const all = async function* () {
    if (!first.done) yield first.value;
    yield* { [Symbol.asyncIterator]: () => parts };
  };
  response.status(status);
  if (!response.hasHeader('Content-Type')) response.type('json');
  await pipeline(Readable.from(all()), response, { signal: AbortSignal.timeout(streamMs) });
}

/** Counts the refusals of `act`, unless the relay was at fault, and every call that is not free. */
async function countedUnlessFree(act: () => Promise<AnyAnswer>, count: () => Promise<void>): Promise<AnyAnswer> {
  let answer: AnyAnswer;
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
  const relayError = toRelayError(error);
  deps.metrics
    .counter('relay_http_errors_total', 'Requests answered with an error, by code', ['code'])
    .inc({ code: relayError.code });
  if (isRelayFault(relayError)) {
    deps.logger.error(
      { err: relayError.cause ?? relayError, code: relayError.code, requestId: response.getHeader('X-Request-Id') },
      'a request failed',
    );
  } else if (relayError.code === 'SERVICE_UNAVAILABLE')
    deps.logger.info({ code: relayError.code, requestId: response.getHeader('X-Request-Id') }, 'a request was refused');
  if (response.headersSent) {
    request.socket.destroy();
    return;
  }
  // The body was refused unread: without this, Node reads the rest at full speed.
  if (!request.complete && request.listenerCount('data') === 0)
    linger(request, response, `address:${networkOfRequest(request)}`);
  for (const [name, value] of Object.entries(relayError.headers)) response.setHeader(name, value);
  if (relayError.retryAfter !== undefined) response.setHeader('Retry-After', String(relayError.retryAfter));
  response.status(relayError.status).json(relayError.body);
}
