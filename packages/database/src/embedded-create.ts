/**
 * A process that creates the files of an embedded database, including the schema, and exits. Creation takes several
 * hundred megabytes that a WebAssembly engine never releases, so it runs outside the server. Receives its order in one
 * message of its parent; exits with its parent.
 */
import { setFlagsFromString } from 'node:v8';
import pg from 'pg';
import type { PGlite } from '@electric-sql/pglite';
import { type PGliteStart, exchange, startPGlite } from './embedded-pglite.ts';
import { EmbeddedStream } from './embedded-stream.ts';
import { migrate } from './migrate.ts';

export interface CreateStart extends PGliteStart {
  /** Absent: no migrations are applied. */
  migrationsDir?: string | undefined;
}
export type CreateReply = { created: true } | { failed: string };

async function create({ migrationsDir, ...start }: CreateStart): Promise<CreateReply> {
  try {
    const db = await startPGlite(start);
    // A failure here is reported later, by the server: it finds the same migration pending.
    if (migrationsDir !== undefined) await applyMigrations(db, migrationsDir).catch(() => {});
    await db.close();
    return { created: true };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

async function applyMigrations(db: PGlite, migrationsDir: string): Promise<void> {
  const engine = { request: (wire: Uint8Array) => exchange(db, wire), onEnd: () => () => {} };
  const stream = () => new EmbeddedStream(() => Promise.resolve(engine));
  const client = new pg.Client({ user: 'postgres', database: 'postgres', ssl: false, stream });
  try {
    await client.connect();
    await migrate(client, { migrationsDir });
  } finally {
    await client.end();
  }
}

// Nothing here runs long enough to be worth optimizing: V8's baseline compiler alone halves the time.
setFlagsFromString('--liftoff-only');
process.once('disconnect', () => process.exit(1));
process.once('message', (start: CreateStart) => {
  void create(start).then((reply) => process.send!(reply, undefined, undefined, () => process.exit(0)));
});
