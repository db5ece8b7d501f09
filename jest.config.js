/**
 * The configuration for scripts/jest.mjs. Tests run from source, other packages from dist; a worker loads each module
 * once (ADR 72).
 */
export default {
  runtime: '<rootDir>/packages/testing/dist/jest/runtime.js',
  testEnvironment: '<rootDir>/packages/testing/dist/jest/environment.js',
  globalSetup: '<rootDir>/packages/testing/dist/jest/global-setup.js',
  globalTeardown: '<rootDir>/packages/testing/dist/jest/global-teardown.js',
  reporters: ['default', '<rootDir>/packages/testing/dist/jest/reporter.js'],
  roots: ['<rootDir>/packages', '<rootDir>/apps', '<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  transform: {},
  testTimeout: 60_000,
  maxWorkers: 3,
};
