/**
 * PostgreSQL inside this process: a pg.Pool of one connection to PGlite in a worker thread. Single process, safe
 * against `kill -9`, and with `sync` against a power cut: a commit returns after it is on the disk.
 *
 * When the engine breaks (a full disk makes PostgreSQL panic, for example), running statements fail like on a dropped
 * connection, and the next statement opens the folder again with a new engine. An in-memory database cannot reopen:
 * everything fails from then on.
 */
import pg from 'pg';
import { type BackupResult, copyFolder } from './backup.ts';
import { type EmbeddedFolder, damaged, openFolder } from './embedded-folder.ts';
import { EmbeddedStream } from './embedded-stream.ts';
import { EmbeddedThread, EngineGone } from './embedded-thread.ts';
import { succeedsWithin } from './succeeds-within.ts';
import { startUpkeep } from './upkeep.ts';

const connectTimeoutMs = 10_000;
const patienceMs = 600_000;
const reopenDelayMs = 1_000;
const finishTimeoutMs = 2_000;

interface EmbeddedOptions {
  /** Folder of the database; absent: in memory. */
  dataDir?: string | undefined;
  /** Files of a new database, from `dump`. */
  template?: Uint8Array | undefined;
  /** Folder: applied while creating a new database; an existing database is not migrated. */
  migrationsDir?: string | undefined;
  /** Folder: whether commits are forced to the disk before they are answered. Default true. */
  sync?: boolean | undefined;
  /** Statement timeout: after it the engine counts as hung and is terminated. */
  statementTimeoutMs: number;
  vacuumIntervalMs: number;
  onWarning: (message: string) => void;
}

export interface Embedded {
  /** One connection: a transaction holds the whole database. Waiting for it fails after 10 s. */
  readonly pool: pg.Pool;
  /** Raises the statement timeout to 10 minutes while `work` runs. */
  patiently<T>(work: () => Promise<T>): Promise<T>;
  /** All files as a gzipped tar, to be used as `template`. */
  dump(): Promise<Uint8Array>;
  /** Copies the data folder to `target`; statements wait during the copy. As `copyFolder`; rejects without a folder. */
  backup(target: string): Promise<BackupResult>;
  /** Stops running statements (after at most 2 s), closes the files and releases the folder lock. */
  close(): Promise<void>;
}

/** Opens, and creates on first use. Throws DatabaseError DATA_DIR_IN_USE or DATA_DIR_UNUSABLE. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, template, migrationsDir } = options;
  const folder = dataDir === undefined ? undefined : await openFolder(dataDir, { template, migrationsDir });
  const engine = new Lives(options, folder);
  try {
    await engine.connect();
  } catch (error) {
    await folder?.release();
    if (dataDir !== undefined && error instanceof Error) throw damaged(dataDir, error);
    throw error;
  }
  const pool = new pg.Pool({
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: connectTimeoutMs,
    user: 'postgres',
    database: 'postgres',
    ssl: false,
    pipeline: true,
    stream: () => new EmbeddedStream(() => engine.connect()),
  });
  pool.on('error', () => {}); // the end of the engine, which the engine has reported
  const patiently = <T>(work: () => Promise<T>) => engine.patiently(work);
  const stopUpkeep = startUpkeep(pool, { ...options, patiently });
  return {
    pool,
    patiently,
    dump: async () => {
      await pool.query('CHECKPOINT');
      return (await engine.connect()).dump();
    },
    backup: (target) => {
      if (dataDir === undefined) throw new TypeError('A database in memory has no folder to copy');
      return patiently(async () => {
        const only = await pool.connect();
        try {
          await only.query('CHECKPOINT');
          // The engine works for its one connection alone, so that its files rest while that is held here.
          return await copyFolder(dataDir, target);
        } finally {
          only.release();
        }
      });
    },
    close: async () => {
      stopUpkeep();
      const idle = await succeedsWithin(finishTimeoutMs, pool.end());
      await engine.close(idle);
      await folder?.release();
    },
  };
}

/** The engine through its lives: at most one thread at a time, a new one on demand when the last one broke. */
class Lives {
  readonly #options: EmbeddedOptions;
  readonly #folder: EmbeddedFolder | undefined;
  #life: Promise<EmbeddedThread> | undefined;
  #patient = 0;
  #lastExit: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(options: EmbeddedOptions, folder: EmbeddedFolder | undefined) {
    this.#options = options;
    this.#folder = folder;
  }

  connect(): Promise<EmbeddedThread> {
    if (this.#closed) return Promise.reject(new EngineGone('The embedded database is closed'));
    this.#life ??= this.#start();
    return this.#life;
  }

  async patiently<T>(work: () => Promise<T>): Promise<T> {
    this.#patient += 1;
    try {
      return await work();
    } finally {
      this.#patient -= 1;
    }
  }

  /** `idle`: no statement runs, so the engine can flush. Otherwise it stops immediately, as in a crash. */
  async close(idle: boolean): Promise<void> {
    this.#closed = true;
    const thread = await this.#life?.catch(() => undefined);
    await thread?.close(idle);
  }

  async #start(): Promise<EmbeddedThread> {
    const { template, statementTimeoutMs, sync = true } = this.#options;
    const files = this.#folder ? { cluster: this.#folder.cluster, sync } : { template };
    try {
      await this.#lastExit;
      const timeoutMs = () => (this.#patient > 0 ? patienceMs : statementTimeoutMs);
      const thread = await EmbeddedThread.start(files, timeoutMs);
      this.#lastExit = thread.exited;
      thread.onEnd((reason) => this.#ended(reason.message));
      return thread;
    } catch (error) {
      // No immediate retry: every waiting statement would start an engine.
      setTimeout(() => (this.#life = undefined), reopenDelayMs).unref();
      throw error instanceof EngineGone
        ? error
        : new EngineGone(error instanceof Error ? error.message : String(error));
    }
  }

  #ended(reason: string): void {
    if (this.#closed) return;
    if (this.#folder) this.#life = undefined;
    this.#options.onWarning(
      `${reason}. ${this.#folder ? 'It is opened again.' : 'It was in memory: its data is lost.'}`,
    );
  }
}
