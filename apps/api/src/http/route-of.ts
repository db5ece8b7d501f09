/** The route of a request, for metrics and traces: one of a small fixed set, never a path that a client chose. */
import type { Request, Response } from 'express';

/** Names the route of requests that Express does not route. */
export function nameRoute(response: Response, route: string): void {
  (response.locals as { route?: string }).route = route;
}

export const routeOf = (request: Request, response: Response): string =>
  (response.locals as { route?: string }).route ?? (request.route as { path?: string } | undefined)?.path ?? 'none';
