/** Names and files of the embedded database, for callers that start it elsewhere. Loads no PGlite. */

/** Inside the folder that the caller names, so that a new database can be built beside it and renamed into place. */
export const clusterName = 'pgdata';

/**
 * A file of this package that runs on its own, in a thread or a process. Threads and processes cannot load TypeScript: when the
 * package runs from source (in its tests) the built file is used.
 */
export function builtFile(name: string): URL {
  return new URL(import.meta.url.endsWith('.ts') ? `../dist/${name}.js` : `./${name}.js`, import.meta.url);
}
