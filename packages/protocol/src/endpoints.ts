/**
 * Method, path and credential of every route, for programs that call routes and bundle no schemas. This module imports
 * all schemas: the build replaces it with its value (`strip.mjs`).
 */
import { type EndpointsOf, endpointsOf } from './routes/route.ts';
import { routes } from './routes.ts';

export const endpoints: EndpointsOf<typeof routes> = endpointsOf(routes);

export type { Endpoint } from './routes/route.ts';
