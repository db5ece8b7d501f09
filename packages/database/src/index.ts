/** The state of the relay that survives: PostgreSQL, embedded or real. The only room that imports Prisma. One file per noun. */
export {
  type DeviceOfPerson,
  type Overview,
  type WaitingQueue,
  type GatewayLoad,
  listDevicesOf,
  listGateways,
  listWaiting,
  countDevices,
  readOverview,
} from './overview.ts';
export * from './agent-turns.ts';
export * from './transaction.ts';
export { Sql, sql } from './sql.ts';
export { type Lane, createLane } from './lane.ts';
export { SqlError } from './statements.ts';
export { TransactionError } from './sql-transaction.ts';
export * from './devices.ts';
export * from './connections.ts';
export * from './conflicts.ts';
export * from './audit.ts';
export * from './device-codes.ts';
export * from './device-keys.ts';
export * from './acp-tokens.ts';
export * from './sessions.ts';
export * from './session-list.ts';
export * from './erase.ts';
export * from './erase-account.ts';
export * from './export-account.ts';
export * from './resolve.ts';
export * from './unnamed.ts';
export * from './tasks.ts';
export * from './prompts.ts';
export * from './claims.ts';
export * from './queue.ts';
export * from './task-reads.ts';
export { type MoveName, taskMoves } from './task-moves.ts';
export { statesMarkdown } from './states-document.ts';
export * from './task-ends.ts';
export * from './reports.ts';
export * from './watches.ts';
export * from './slash-commands.ts';
export * from './notifications.ts';
export * from './notification-settings.ts';
export * from './split.ts';
export * from './inbox.ts';
export * from './inbox-sweeps.ts';
export * from './subscriptions.ts';
export * from './answerers.ts';
export * from './deliveries.ts';
export * from './held-deliveries.ts';
export * from './timeline.ts';
export * from './idempotency.ts';
export * from './access-notices.ts';
export * from './accounts.ts';
export * from './passkeys.ts';
export * from './second-factors.ts';
export * from './library-models.ts';
export * from './invitations.ts';
export * from './revocations.ts';
export * from './purge.ts';
export * from './ulids.ts';
export * from './database-error.ts';
export { makeDataFolder, refusedFolder } from './data-folder.ts';
export * from './open.ts';
export type { OnStatement, StatementKind } from './observed-adapter.ts';
export * from './migrate.ts';
export * from './unavailable.ts';
