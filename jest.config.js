/** Native ESM: run by scripts/jest.mjs with --experimental-vm-modules. Tests run from source, other packages from dist. */
export default {
  testEnvironment: 'node',
  globalSetup: '<rootDir>/packages/testing/dist/jest-global-setup.js',
  reporters: ['default', '<rootDir>/packages/testing/dist/jest-reporter.js'],
  roots: ['<rootDir>/packages', '<rootDir>/apps', '<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
    '^.+\\.tsx$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic' } },
          target: 'es2023',
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  testTimeout: 60_000,
  maxWorkers: 2,
  // Embedded databases of earlier files leave memory behind in a worker: it is renewed now and then.
  workerIdleMemoryLimit: '1500MB',
};
