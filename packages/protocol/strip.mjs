// The last step of the build: gives browsers the table of routes without schemas. It replaces the compiled module
// dist/endpoints.js, which computes the value from the table, with the value.
import { writeFileSync } from 'node:fs';
import { endpointsOf } from './dist/routes/route.js';
import { routes } from './dist/routes.js';

writeFileSync(
  new URL('dist/endpoints.js', import.meta.url),
  `export const endpoints = ${JSON.stringify(endpointsOf(routes))};\n`,
);
