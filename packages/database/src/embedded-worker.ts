/**
 * The worker thread that runs the embedded PostgreSQL. PGlite is synchronous: on the main thread one slow query would stop
 * every socket of the process. This file knows PGlite and its mailbox, nothing else.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { PGlite } from '@electric-sql/pglite';
import { type PGliteStart, exchange, startPGlite } from './embedded-pglite.ts';

/** `wire`: complete messages of the PostgreSQL protocol. `dump`: the files as gzipped tar. */
export type WorkerRequest = { id: number; wire: Uint8Array } | { id: number; ask: 'dump' | 'close' };
export type WorkerReply =
  | { ready: true }
  | { unusable: string }
  | { panic: string }
  | { id: number; data: Uint8Array }
  | { id: number; failed: string };

const port = parentPort!;
const send = (reply: WorkerReply, transfer: ArrayBuffer[] = []) => port.postMessage(reply, transfer);

async function answer(db: PGlite, request: WorkerRequest): Promise<Uint8Array<ArrayBuffer>> {
  if ('wire' in request) return exchange(db, request.wire);
  if (request.ask === 'dump') return new Uint8Array(await (await db.dumpDataDir('gzip')).arrayBuffer());
  await db.close();
  return new Uint8Array();
}

try {
  const db = await startPGlite(workerData as PGliteStart, { onPanic: (panic) => send({ panic }) });
  let queue = Promise.resolve();
  port.on('message', (request: WorkerRequest) => {
    queue = queue.then(async () => {
      try {
        const data = await answer(db, request);
        send({ id: request.id, data }, [data.buffer]);
      } catch (error) {
        send({ id: request.id, failed: String(error) });
      }
    });
  });
  send({ ready: true });
} catch (error) {
  send({ unusable: error instanceof Error ? error.message : String(error) });
}
