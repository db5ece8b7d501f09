// The last step of the build: gives browsers data without schemas. It replaces the compiled module dist/endpoints.js, which
// computes the value from the table of routes, with the value, and writes the sentence of each error as an export of its own, so
// that a bundle contains only the sentences that it uses.
import { writeFileSync } from 'node:fs';
import { errorCatalogue, taskErrors } from './dist/errors.js';
import { endpointsOf } from './dist/routes/route.js';
import { routes } from './dist/routes.js';

const write = (name, text) => writeFileSync(new URL(`dist/${name}`, import.meta.url), text);

write('endpoints.js', `export const endpoints = ${JSON.stringify(endpointsOf(routes))};\n`);

// Requests and failed tasks share some codes: the export has the sentence of the request.
const sentences = Object.entries({ ...taskErrors, ...errorCatalogue }).map(([code, { sentence }]) => [
  code,
  JSON.stringify(sentence),
]);
write('sentences.js', sentences.map(([code, text]) => `export const ${code} = ${text};\n`).join(''));
write('sentences.d.ts', sentences.map(([code]) => `export declare const ${code}: string;\n`).join(''));
