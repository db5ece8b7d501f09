/** A span per request: below the caller's, named by its route, over everything that the request causes here. */
import type { Tracer } from '@relay/telemetry';
import type { NextFunction, Request, Response } from 'express';
import { routeOf } from './route-of.ts';

/** Probes come every few seconds, and a trace of them would show nothing. */
const quiet = new Set(['/health', '/ready']);

/** Middleware. It reports addresses as routes, because a path can name a session. */
export function traceRequests(tracer: Tracer) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (quiet.has(request.path)) {
      next();
      return;
    }
    const span = tracer.start(request.method, {
      kind: 'server',
      parent: request.get('traceparent'),
      attributes: { 'http.request.method': request.method },
    });
    response.once('close', () => {
      const route = routeOf(request, response);
      span.rename(`${request.method} ${route}`);
      span.set({
        'http.route': route,
        'http.response.status_code': response.statusCode,
        'relay.request_id': String(response.getHeader('X-Request-Id') ?? ''),
      });
      span.end(response.statusCode >= 500 || !response.writableFinished);
    });
    span.within(next);
  };
}
