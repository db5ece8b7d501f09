/** Types derived from the table of routes, so that servers and clients of the API repeat no path, status or body by hand. */
import type { Static, TSchema } from './schema.ts';
import type { RouteName, routes } from './routes.ts';

type Routes = typeof routes;
type Successes = { [N in RouteName]: Routes[N]['success'] };

type ParamsIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamsIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** `{ id: string }` of `/api/sessions/:id`. */
export type RouteParams<N extends RouteName> = { readonly [Name in ParamsIn<Routes[N]['path']>]: string };

/**
 * The checked body of a request; partial if the route also reads it from the query; the bytes of a binary route;
 * undefined on routes without a body.
 */
export type RouteBody<N extends RouteName> = Routes[N] extends { binary: true }
  ? Uint8Array
  : Routes[N] extends { body: infer Body extends TSchema }
    ? Routes[N] extends { bodyInQuery: true }
      ? Partial<Static<Body>>
      : Static<Body>
    : undefined;

/** The checked query of a request; undefined on routes without one. */
export type RouteQuery<N extends RouteName> = Routes[N] extends { query: infer Query extends TSchema }
  ? Static<Query>
  : undefined;

type Answers<Bodies> = {
  [Status in keyof Bodies]: Bodies[Status] extends TSchema
    ? { readonly status: Status; readonly body: Static<Bodies[Status]> }
    : { readonly status: Status; readonly body?: undefined };
}[keyof Bodies];

/** Every answer that is a success: its status with the body that belongs to it. */
export type RouteSuccess<N extends RouteName> = Answers<Successes[N]>;

/** Refusals that have a body of their own; all others are an `ErrorResponse`. */
export type RouteRefusal<N extends RouteName> = Routes[N] extends { refusals: infer Bodies } ? Answers<Bodies> : never;
