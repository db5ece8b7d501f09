// The tiers of tests. A file belongs to the tier that its name or its folder shows; eslint.config.js checks what a file of `unit` imports.
export const tiers = {
  unit: {
    about: 'units, and everything that one process can show',
    match: ['**/*.test.ts'],
    ignore: ['\\.machine\\.test\\.ts$', '\\.house\\.test\\.ts$', '/tests/browser/'],
  },
  machine: {
    about: 'our programs as processes, PostgreSQL, Redis, HAProxy and other programs of the system',
    match: ['**/*.machine.test.ts'],
  },
  pages: { about: 'the pages in a browser', match: ['**/tests/browser/*.test.ts'] },
  house: {
    about: 'manifests, packages, executables and the tools of this repository',
    match: ['**/*.house.test.ts'],
  },
  cluster: {
    about: 'faults of a whole cluster of processes',
    match: ['**/tests/cluster/*.cluster.ts'],
    options: ['--testEnvironment', './packages/testing/dist/jest/cluster-environment.js', '--runInBand'],
  },
};
