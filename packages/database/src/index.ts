/** The memory of the relay: PostgreSQL, embedded or real. The only room that imports Prisma. One file per noun. */
export * from './transaction.ts';
export * from './devices.ts';
export * from './device-codes.ts';
export * from './sessions.ts';
export * from './resolve.ts';
export * from './tasks.ts';
export * from './task-ends.ts';
export * from './reports.ts';
export * from './watches.ts';
export * from './notifications.ts';
export * from './idempotency.ts';
export * from './purge.ts';
export * from './database-error.ts';
export * from './open.ts';
export * from './migrate.ts';
export * from './unavailable.ts';
export { PrismaClient } from './generated/prisma/client.ts';
