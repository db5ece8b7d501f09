/** Every body of a route, by name. The rows name them; this module collects them. */
import { sentenceOf } from '../errors.ts';
import { Type, count, line, maybe, record, text } from '../schema.ts';
import { routes } from '../routes.ts';
import { type Body, body } from './body.ts';
import type { Route } from './route.ts';

export const ErrorResponse = body(
  record('ErrorResponse', 'Every REST error, and every refused upgrade.', {
    error: text('Short message for people with the next step'),
    code: line('Machine-readable code'),
    status: Type.Integer({ description: 'HTTP status' }),
    retryAfter: maybe(count('Seconds until a retry, with 429')),
  }),
  { error: sentenceOf('SESSION_NOT_FOUND'), code: 'SESSION_NOT_FOUND', status: 404 },
);

/** The bodies in the order of the routes, then the body of errors. */
export const restBodies: Readonly<Record<string, Body>> = Object.fromEntries(
  [
    ...Object.values<Route>(routes).flatMap(({ body: request, success, refusals }) => [
      request,
      ...Object.values(success),
      ...Object.values(refusals ?? {}),
    ]),
    ErrorResponse,
  ].flatMap((schema) => (schema?.title === undefined ? [] : [[schema.title, schema]])),
);
