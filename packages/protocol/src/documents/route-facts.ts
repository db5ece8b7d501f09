/** Facts that follow from a route without being written in it: its parameters and all its possible errors. */
import { errorCatalogue, type ErrorCode } from '../errors.ts';
import type { Route } from '../routes/route.ts';

/** Names in the path, in order: `/api/sessions/:id` → `['id']`. */
export const pathParameters = ({ path }: Route): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

/** GET /health and GET /ready are not limited (rules, 6.5). */
export const isRateLimited = ({ path }: Route): boolean => path.startsWith('/api/');

/**
 * The codes of a route, its own and those from its credential and inputs, in catalogue order.
 * Excludes NOT_FOUND and METHOD_NOT_ALLOWED, which answer requests without a route.
 */
export function errorsOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>(route.errors);
  const add = (...more: ErrorCode[]) => more.forEach((code) => codes.add(code));
  const { credential } = route;
  if (credential !== 'none') add('INVALID_TOKEN', 'TOKEN_EXPIRED', 'TOKEN_REVOKED', 'SERVICE_UNAVAILABLE');
  if (credential === 'user' || credential === 'user-or-device' || credential === 'answer') add('UNAUTHORIZED');
  if (credential === 'user') add('DEVICE_TOKEN_NOT_ALLOWED');
  if (route.scope) add('INSUFFICIENT_SCOPE');
  if (route.query || route.body || route.idempotent || pathParameters(route).length > 0) add('INVALID_REQUEST');
  if (route.body) add('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (isRateLimited(route)) add('RATE_LIMITED');
  add('INTERNAL_ERROR');
  return (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => codes.has(code));
}
