/** The files of an embedded database on a real disk, forced to it when PostgreSQL asks. Knows the file system of PGlite and no SQL. */
import { fdatasyncSync } from 'node:fs';
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** The used parts of Emscripten's file system, which ships without types. */
export interface EngineStream {
  nfd: number;
}
export interface EngineModule {
  NODEFS: { stream_ops: { fsync?: (stream: EngineStream) => number } };
}

/**
 * The folder as PGlite sees it. PGlite's own file system lacks fsync, so PostgreSQL would trust data that the system
 * still holds in memory. `wal_sync_method` must be `fsync`: `fdatasync` compiles to an empty call.
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
      // The size counts as data; file times do not, and PostgreSQL does not need them.
      fdatasyncSync(nfd);
      return 0;
    };
  }
}
