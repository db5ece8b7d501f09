/**
 * A process that creates the files of an embedded database and ends. Creating takes several hundred megabytes that a
 * WebAssembly engine never gives back, so it happens outside the server. Told what to do by one message of its parent; ends
 * with its parent.
 */
import { type PGliteStart, startPGlite } from './embedded-pglite.ts';

export type CreateReply = { created: true } | { failed: string };

async function create(start: PGliteStart): Promise<CreateReply> {
  try {
    const db = await startPGlite(start);
    await db.close();
    return { created: true };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

process.once('disconnect', () => process.exit(1));
process.once('message', (start: PGliteStart) => {
  void create(start).then((reply) => process.send!(reply, undefined, undefined, () => process.exit(0)));
});
