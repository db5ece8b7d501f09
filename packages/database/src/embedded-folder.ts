/**
 * The folder of an embedded database: made on first use, locked, and never half made. Knows files and processes, no SQL.
 *
 * Layout: `<folder>/pgdata` is the database. A new one is built as `pgdata.new-<pid>` and renamed, so that a crash during
 * the first start, or a power cut, leaves either no database or a complete one. The rest of the folder belongs to other users of it.
 */
import { fork } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makeDataFolder, refusedFolder } from './data-folder.ts';
import { DatabaseError } from './database-error.ts';
import type { CreateReply, CreateStart } from './embedded-create.ts';
import { syncPath, syncTree } from './sync-files.ts';
import { builtFile, clusterName } from './embedded-places.ts';
import { lockFolder } from './lock.ts';

const createTimeoutMs = 120_000;

export interface EmbeddedFolder {
  /** The folder of PGlite's files. */
  readonly cluster: string;
  /** Releases the lock. */
  release(): Promise<void>;
}

/** Files from `dump`, migrations to apply, or both. */
type NewContent = Pick<CreateStart, 'template' | 'migrationsDir'>;

/** An error with folder, reason and advice. */
function unusable(folder: string, reason: string, whatToDo: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    'DATA_DIR_UNUSABLE',
    `The data folder ${folder} cannot be used: ${reason}. ${whatToDo}`,
    cause,
  );
}

const restore = 'Restore it from a backup, or move it away to start with an empty database.';

/**
 * Creates the folder (mode 700) and a database in it unless they exist, and locks it. `content`: initial content of a
 * new database; an existing database stays unchanged. Throws DatabaseError DATA_DIR_IN_USE or DATA_DIR_UNUSABLE.
 */
export async function openFolder(folder: string, content: NewContent = {}): Promise<EmbeddedFolder> {
  makeDataFolder(folder);
  const lock = await lockFolder(folder);
  const cluster = path.join(folder, clusterName);
  try {
    removeLeftovers(folder);
    if (!existsSync(cluster)) await create(folder, cluster, content);
    else if (!existsSync(path.join(cluster, 'PG_VERSION'))) {
      throw unusable(folder, `${clusterName} in it is damaged (it has no PG_VERSION)`, restore);
    }
    // Our lock replaces PostgreSQL's, which a power cut can leave empty; PostgreSQL refuses an empty one.
    rmSync(path.join(cluster, 'postmaster.pid'), { force: true });
    return { cluster, release: () => lock.release() };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The error for files that are complete, but that PostgreSQL cannot open. */
export function damaged(folder: string, cause: Error): DatabaseError {
  return (
    refusedFolder(folder, cause) ??
    unusable(folder, `PostgreSQL cannot open the database in it (${cause.message})`, restore, cause)
  );
}

/** Removes the leftovers of a first start that was killed. Call only under the lock: no process is using them then. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(`${clusterName}.new-`)) rmSync(path.join(folder, name), { recursive: true, force: true });
  }
}

async function create(folder: string, cluster: string, content: NewContent): Promise<void> {
  const unfinished = `${cluster}.new-${process.pid}`;
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    await runCreate({ ...content, cluster: unfinished });
    // Cheaper in one go than with every page while it is made.
    await syncTree(unfinished);
    renameSync(unfinished, cluster);
    await syncPath(folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    const refusal = refusedFolder(folder, error);
    if (refusal) throw refusal;
    const reason = `no database could be created in it (${error instanceof Error ? error.message : String(error)})`;
    throw unusable(folder, reason, 'Check that the disk has 100 MB free and that this user can write there.', error);
  }
}

function runCreate(start: CreateStart): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(builtFile('embedded-create'), {
      serialization: 'advanced',
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      timeout: createTimeoutMs,
      killSignal: 'SIGKILL',
    });
    let reply: CreateReply | undefined;
    child.once('message', (message: CreateReply) => (reply = message));
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (reply && 'created' in reply) resolve();
      else reject(new Error(reply?.failed ?? `the process that creates it ended with ${signal ?? `code ${code}`}`));
    });
    child.send(start);
  });
}
