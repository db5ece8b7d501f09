/** How PGlite is started, wherever it runs: in the worker thread, in the process that creates a folder, in a tool. */
import { PGlite } from '@electric-sql/pglite';
import { SyncedFiles } from './embedded-files.ts';

const settings = [
  'shared_buffers=16MB', // the default costs 130 MB of resident memory and gains nothing: the files are in the page cache
  'max_wal_size=64MB', // the log that a checkpoint keeps for reuse, see upkeep.ts
  'min_wal_size=32MB',
  'jit=off', // as on a PostgreSQL server
];

export interface PGliteStart {
  /** Folder with (or for) the files of the database; absent: in memory. */
  cluster?: string | undefined;
  /** Files to begin with, from `dumpDataDir`. Only for a cluster that does not exist yet. */
  template?: Uint8Array | undefined;
  /** Whether a commit is on the disk when it is answered. In memory it means nothing. Default false. */
  sync?: boolean | undefined;
}

/** The arguments of PostgreSQL; `sync` as above. `-F` turns fsync off. */
export const startParams = (sync: boolean): string[] => [
  ...PGlite.defaultStartParams.filter((param) => !sync || param !== '-F'),
  ...[...settings, ...(sync ? ['wal_sync_method=fsync'] : [])].flatMap((setting) => ['-c', setting]),
];

interface PGliteEvents {
  /** The engine is broken and must not be used again: a PANIC, or an abort of the WebAssembly code. */
  onPanic?: (message: string) => void;
}

/** Starts PGlite. Throws an Error with PostgreSQL's message when it cannot. */
export async function startPGlite(
  { cluster, template, sync = false }: PGliteStart,
  { onPanic }: PGliteEvents = {},
): Promise<PGlite> {
  let output = '';
  const listen = (line: string) => {
    if (/\b(FATAL|PANIC):/.test(line)) output = line.replace(/^.*?(FATAL|PANIC):\s*/, '');
    if (/\bPANIC:|^Aborted\(/.test(line)) onPanic?.(output || line);
    return false; // not printed
  };
  try {
    return await PGlite.create({
      ...(cluster === undefined ? {} : sync ? { fs: new SyncedFiles(cluster) } : { dataDir: cluster }),
      ...(template === undefined ? {} : { loadDataDir: new Blob([new Uint8Array(template)]) }),
      startParams: startParams(sync && cluster !== undefined),
      onStderr: listen,
    });
  } catch (error) {
    const reason = output || reasonOf(error);
    throw new Error(reason, { cause: error });
  }
}

/** The WebAssembly file system throws objects without a text; the numbers are WASI error codes. */
const wasiCodes: Readonly<Record<number, string>> = {
  2: 'EACCES',
  19: 'EDQUOT',
  33: 'EMFILE',
  51: 'ENOSPC',
  63: 'EPERM',
  69: 'EROFS',
};

function reasonOf(error: unknown): string {
  const { message, errno } = (error ?? {}) as { message?: unknown; errno?: unknown };
  if (typeof message === 'string' && message !== '') return message;
  return typeof errno === 'number' ? (wasiCodes[errno] ?? `file system error ${errno}`) : String(error);
}

/**
 * Complete messages of the PostgreSQL protocol in, their answer out, as one piece of memory of its own. The streaming call
 * is used because the plain one keeps every message that was ever answered.
 */
export async function exchange(db: PGlite, wire: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  await db.execProtocolRawStream(wire, {
    syncToFs: true,
    onRawData: (part) => {
      parts.push(part.slice()); // the engine reuses its memory
      length += part.length;
    },
  });
  const data = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    data.set(part, offset);
    offset += part.length;
  }
  return data;
}
