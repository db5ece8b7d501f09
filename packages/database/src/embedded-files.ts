/** The files of an embedded database on a real disk, forced to it when PostgreSQL asks. Knows the file system of PGlite and no SQL. */
import { fdatasyncSync } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** The parts of Emscripten's file system that are used here; it has no types of its own. */
export interface EngineStream {
  nfd: number;
}
export interface EngineModule {
  NODEFS: { stream_ops: { fsync?: (stream: EngineStream) => number } };
}

/**
 * The folder as PGlite sees it. The file system of PGlite has no fsync at all, so PostgreSQL would take everything for safe that the
 * system still holds in memory. `wal_sync_method` must be `fsync`: `fdatasync` is compiled to a call that does nothing.
 */
export class SyncedFiles extends NodeFS {
  override async init(
    db: PGlite,
    options: Parameters<NodeFS['init']>[1],
  ): Promise<Awaited<ReturnType<NodeFS['init']>>> {
    const started = await super.init(db, options);
    const { preRun } = started.emscriptenOpts;
    if (!Array.isArray(preRun)) throw new TypeError('PGlite no longer takes a list of steps before its start');
    preRun.push((module: unknown) => this.prepare(module as EngineModule));
    return started;
  }

  /** Called once, before the engine opens a file. */
  protected prepare({ NODEFS }: EngineModule): void {
    NODEFS.stream_ops.fsync = ({ nfd }) => {
      // The size counts as data; the times of a file do not, and PostgreSQL asks for none.
      fdatasyncSync(nfd);
      return 0;
    };
  }
}
