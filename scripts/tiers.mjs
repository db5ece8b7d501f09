// The tiers of tests. The name or the folder of a file determines its tier; eslint.config.js checks the imports of unit
// tests.
const notUnit = ['\\.machine\\.test\\.ts$', '\\.house\\.test\\.ts$', '/tests/browser/'];

export const tiers = {
  unit: {
    about: 'units, and everything that one process can show',
    match: ['**/*.test.ts'],
    ignore: notUnit,
    // Otherwise each relay parses these certificates when it starts. Unit tests need no programs of the system.
    env: { NODE_EXTRA_CA_CERTS: '', TEST_PROGRAMS: 'unused' },
    // Three leave the processor idle while their tests wait (ADR 72).
    options: ['--maxWorkers', '4'],
  },
  machine: {
    about: 'our programs as processes, PostgreSQL, Redis, HAProxy and other programs of the system',
    match: ['**/*.machine.test.ts'],
    options: ['--testTimeout', '120000'],
  },
  postgres: {
    about: 'unit tests of the database, on PostgreSQL',
    match: ['**/packages/database/test/*.test.ts'],
    ignore: notUnit,
    env: { TEST_DATABASE: 'postgres' },
  },
  doors: {
    about: 'unit tests of api and gateway, on PostgreSQL; no part of test:machine',
    match: ['**/apps/{api,gateway}/test/**/*.test.ts'],
    ignore: notUnit,
    env: { TEST_DATABASE: 'postgres' },
  },
  stories: {
    about:
      'the random tests of the tier unit at full size: ten thousand random agents, whose true story is known, 200 of them through a relay (rules, 20.9), as many random transcripts, 1,000 messages to a session that terminals open and close, and 300 orders of messages into a turn',
    match: [
      '**/apps/daemon/test/stories/{stories,relay-stories}.test.ts',
      '**/apps/{cli/test/parts,web/test/transcript}.test.ts',
      '**/packages/{acp/test/updates,daemon-kit/test/long-files,database/test/steer-interleavings}.test.ts',
      '**/packages/daemon-kit/test/desk-interleavings.test.ts',
    ],
    env: { STORIES: '10000', RELAY_STORIES: '200', DESK_SEEDS: '10', STEER_ROUNDS: '300' },
  },
  redis: {
    about: 'deleted means gone from Redis, too, and files never reach it',
    match: ['**/tests/{erasure,account-deletion,files-not-kept}.test.ts'],
    env: { TEST_BACKPLANE: 'redis' },
  },
  pages: {
    about: 'the pages in a browser',
    match: ['**/tests/browser/*.test.ts'],
    options: ['--testTimeout', '120000', '--maxWorkers', '2'],
  },
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
