/** Why opening or copying a database failed. The code is stable, the text gives advice; neither contains a password. */

type DatabaseErrorCode =
  /** Another process has the embedded folder open. */
  | 'DATA_DIR_IN_USE'
  /** The embedded folder is not writable, or its content does not open. */
  | 'DATA_DIR_UNUSABLE'
  /** A backup could not be written where it was to be. */
  | 'BACKUP_REFUSED'
  /** PostgreSQL does not answer. */
  | 'DATABASE_UNREACHABLE'
  /** PostgreSQL answers, but refuses us: wrong password, no such database. */
  | 'DATABASE_REFUSED'
  /** A migration failed, now or earlier. */
  | 'MIGRATION_FAILED'
  /** Another process has been migrating, or holding a lock on a table, for too long. */
  | 'MIGRATION_BUSY'
  /** The database was migrated by a newer release than this one. */
  | 'SCHEMA_NEWER';

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly code: DatabaseErrorCode;

  constructor(code: DatabaseErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
