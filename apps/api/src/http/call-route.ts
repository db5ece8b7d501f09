/**
 * Calls routes within the process, through another door, for the person that door authenticated. Calls are limited and recorded
 * like requests.
 */
import type { UserPrincipal } from '@relay/auth';
import { RelayError, type Route, type RouteName, limits, routes } from '@relay/protocol';
import type { ApiDeps } from '../deps.ts';
import type { Answering } from './asking.ts';
import { toRelayError } from './errors.ts';
import { type AnyHandler, type Handlers, type RouteRequest, createPerformer } from './pipeline.ts';
import type { RateLimits } from './rate-limit.ts';

/** The sender of the calls, and the id that names them in the log and the audit. */
interface Caller {
  principal: UserPrincipal;
  address: string;
  requestId: string;
}

interface RouteInput {
  params?: Readonly<Record<string, unknown>> | undefined;
  query?: Readonly<Record<string, unknown>> | undefined;
  body?: unknown;
  idempotencyKey?: string | undefined;
}

/** Resolves with the body of the success; rejects with a RelayError of the catalogue. */
export type CallRoute = (name: RouteName, caller: Caller, input: RouteInput) => Promise<unknown>;

export function createCallRoute(
  handlers: Handlers,
  deps: Pick<ApiDeps, 'database' | 'logger'>,
  rateLimits: RateLimits,
): CallRoute {
  const performers = new Map(
    (Object.entries(routes) as [RouteName, Route][]).map(([name, route]) => [
      name,
      createPerformer(name, route, handlers[name] as AnyHandler, deps, rateLimits),
    ]),
  );
  return async (name, { principal, address, requestId }, { params = {}, query = {}, body, idempotencyKey }) => {
    const headers = new Map<string, unknown>([['X-Request-Id', requestId]]);
    const response: Answering = {
      getHeader: (header) => headers.get(header),
      setHeader: (header, value) => headers.set(header, value),
    };
    const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
    const request: RouteRequest = {
      request: {
        headers: {},
        ip: address,
        socket: {},
        get: (header) => (header === 'Idempotency-Key' ? idempotencyKey : undefined),
      },
      ...{ response, principal, params, query: given, body: () => Promise.resolve(bounded(body ?? {})) },
    };
    try {
      const answer = await performers.get(name)!(request);
      return answer.json === undefined ? answer.body : (JSON.parse(answer.json) as unknown);
    } catch (error) {
      const relayError = toRelayError(error);
      if (relayError.code === 'INTERNAL_ERROR')
        deps.logger.error({ err: relayError.cause ?? relayError, requestId }, 'a call failed');
      throw relayError;
    }
  };
}

/** Limits a body to the size of a request; images have a bound of their own. @throws RelayError PAYLOAD_TOO_LARGE */
function bounded(body: unknown): unknown {
  if (body instanceof Uint8Array) return body;
  const { images: _images, ...rest } = body as { images?: unknown };
  if (Buffer.byteLength(JSON.stringify(rest)) <= limits.requestBodyBytes) return body;
  throw new RelayError('PAYLOAD_TOO_LARGE', `The text exceeds ${limits.requestBodyBytes / 1024} KiB.`);
}
