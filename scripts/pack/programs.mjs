/** The scope of the packages: a stranger could own a name outside it. */
export const scope = '@agent-session-relay';

/**
 * Programs by the name of their package. `manifest` has version and description; the other paths are relative to
 * `folder`, in the repository and in the package. `entries`: module → bundle; a bundle has the place of its module in
 * the package, or the place of the bundle that starts it, because modules find files by relative paths.
 */
export const programs = {
  [`${scope}/daemon`]: {
    folder: 'apps/daemon',
    manifest: 'package.json',
    bin: { 'relay-daemon': 'dist/main.js' },
    entries: { 'dist/main.js': 'dist/main.js', 'scripts/demo-agent.mjs': 'scripts/demo-agent.mjs' },
    files: { 'scripts/demo.json': 'scripts/demo.json', 'README.md': 'README.md' },
  },
  [`${scope}/cli`]: {
    folder: 'apps/cli',
    manifest: 'package.json',
    bin: { relay: 'dist/main.js' },
    entries: { 'dist/main.js': 'dist/main.js' },
    files: { 'README.md': 'README.md' },
  },
  'agent-session-relay': {
    folder: '.',
    manifest: 'package.json',
    bin: { 'agent-session-relay': 'apps/standalone/dist/main.js', 'relay-admin': 'apps/standalone/dist/admin.js' },
    entries: {
      'apps/standalone/dist/main.js': 'apps/standalone/dist/main.js',
      'apps/standalone/dist/programs.js': 'apps/standalone/dist/program.cjs',
      'apps/standalone/dist/admin.js': 'apps/standalone/dist/admin.js',
      'packages/database/dist/embedded-create.js': 'apps/standalone/dist/embedded-create.js',
      'packages/database/dist/embedded-worker.js': 'apps/standalone/dist/embedded-worker.js',
    },
    files: {
      'apps/standalone/package.json': 'apps/standalone/package.json',
      'apps/standalone/README.md': 'README.md',
      'apps/web/dist': 'apps/web/dist',
      'apps/docs/dist': 'apps/docs/dist',
      'apps/daemon/dist/relay-daemon.tgz': 'apps/daemon/dist/relay-daemon.tgz',
      'prisma/migrations': 'prisma/migrations',
    },
    /** PostgreSQL in WebAssembly, which finds its files next to its code: package → manifest with its version. */
    dependencies: { '@electric-sql/pglite': 'packages/database/package.json' },
  },
};

/**
 * Libraries by the name of their package → their folder. They keep their modules; imports of our packages get the
 * public names.
 */
export const libraries = {
  [`${scope}/protocol`]: 'packages/protocol',
  [`${scope}/client`]: 'packages/client',
  [`${scope}/machine`]: 'packages/machine',
  [`${scope}/daemon-kit`]: 'packages/daemon-kit',
  [`${scope}/conformance`]: 'conformance',
};
