/** The part of this package that needs the database alone: for tests of rooms that must not load the apps. */
export { type TestAuthority, makeAuthority } from './authority.ts';
export { type PgBouncer, startPgBouncer } from './pgbouncer.ts';
export * from './postgres.ts';
export { createTestDatabase, lendDatabases, openTestDatabase, templateFile, wantsPostgres } from './template.ts';
