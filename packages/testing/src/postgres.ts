/**
 * A real PostgreSQL for tests: in a temporary folder, on a free loopback port, without persistence. It stops with the
 * process that started it, also on `kill -9`. Independent of the relay.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './programs.ts';

const startTimeoutMs = 60_000;

/** Where a running server is; plain data, so that it can be passed to another process. */
export interface PostgresAddress {
  port: number;
  /** Folder of the programs of PostgreSQL. */
  bin: string;
}

export interface TestPostgres {
  readonly address: PostgresAddress;
  url(database: string): string;
  /**
   * A new database: empty, or a copy of `template`, which must have no open connection; with `locale`, without ICU.
   * Returns its address.
   */
  createDatabase(options?: { template?: string; name?: string; locale?: string }): Promise<string>;
  /** Stops the server as a restart would, dropping every connection. The data stays. */
  halt(): Promise<void>;
  /** Kills the server, as a crash of its machine would: no connection is closed in order, nothing more is written. */
  kill(): Promise<void>;
  /** Starts a standby: a copy that replicates asynchronously over `port`, a wire to this server. Read-only until `promote`. */
  startStandby(port: number): Promise<TestStandby>;
  /** Starts it again, on the same port. */
  resume(): Promise<void>;
  /** Copies the running server (`pg_basebackup`), for `restoreTo`. Needs `archived`. */
  backUp(): Promise<void>;
  /** Starts a server from the copy and the archived log: it has the transactions up to `time`, and no later ones. */
  restoreTo(time: string): Promise<TestStandby>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** A copy of another server. */
export interface TestStandby {
  readonly address: PostgresAddress;
  url(database: string): string;
  /** Makes it the primary; resolves when it accepts writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a server; resolves when it answers. As root it runs as the user `postgres` (else `nobody`), because PostgreSQL
 * refuses root. `settings` are lines of postgresql.conf; `tls` enables TLS in addition. Throws if PostgreSQL is not
 * installed, naming the package to install.
 */
export async function startPostgres({
  settings = [],
  tls,
  archived = false,
}: {
  settings?: readonly string[];
  tls?: { certificate: string; key: string };
  /** Keeps its whole log, for a restore to a point in time. */
  archived?: boolean;
} = {}): Promise<TestPostgres> {
  const bin = findPrograms();
  const owner = serverUser();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'relay-postgres-'));
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const cluster = path.join(folder, 'data');
  // A backup outlives its server.
  const elsewhere = archived ? mkdtempSync(path.join(os.tmpdir(), 'relay-archive-')) : undefined;
  if (owner && elsewhere) chownSync(elsewhere, owner.uid, owner.gid);
  const removeAll = () => {
    for (const one of [folder, elsewhere]) if (one) rmSync(one, { recursive: true, force: true });
  };
  try {
    // A linguistic collation, as servers usually have: an order that only holds bytewise fails here and not in production.
    const locale = ['--encoding=UTF8', '--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'];
    const how = ['--no-sync', '--username=postgres', '--auth=trust', '--pgdata', cluster];
    await run(path.join(bin, 'initdb'), [...how, ...locale], { ...owner, cwd: folder });
    const lines = [
      ...settings,
      ...(tls ? ['ssl = on'] : []),
      ...(elsewhere ? ['archive_mode = on', `archive_command = 'cp %p ${elsewhere}/%f'`] : []),
    ];
    appendFileSync(path.join(cluster, 'postgresql.conf'), `\n${lines.join('\n')}\n`);
    for (const [name, from] of tls
      ? ([
          ['server.crt', tls.certificate],
          ['server.key', tls.key],
        ] as const)
      : []) {
      const file = path.join(cluster, name);
      writeFileSync(file, readFileSync(from), { mode: 0o600 });
      // The server wants to own its key.
      if (owner) chownSync(file, owner.uid, owner.gid);
    }
    let server = await launch(bin, folder, cluster, owner);
    const { port } = server;
    return {
      ...connectPostgres({ port, bin }),
      halt: () => server.end('halt'),
      kill: async () => {
        const [pid] = readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n');
        process.kill(Number(pid), 'SIGKILL');
        await server.exited;
      },
      startStandby: (through) => startStandby({ port, bin }, through, owner),
      backUp: () => copyServer({ port, bin }, path.join(elsewhere!, 'copy'), owner),
      restoreTo: (time) => restore({ bin, elsewhere: elsewhere!, owner }, time),
      resume: async () => {
        server = await launch(bin, folder, cluster, owner, port);
      },
      stop: async () => {
        await server.end('remove');
        removeAll();
      },
    };
  } catch (error) {
    removeAll();
    throw error;
  }
}

async function copyServer(
  { port, bin }: PostgresAddress,
  target: string,
  owner: { uid: number; gid: number } | undefined,
  ...how: string[]
): Promise<void> {
  const from = ['--host=127.0.0.1', `--port=${port}`, '--username=postgres', '--wal-method=stream'];
  const args = [...from, ...how, '--checkpoint=fast', '--no-sync', `--pgdata=${target}`];
  await run(path.join(bin, 'pg_basebackup'), args, { ...owner, cwd: path.dirname(target) });
}

/** https://www.postgresql.org/docs/current/continuous-archiving.html */
async function restore(
  { bin, elsewhere, owner }: { bin: string; elsewhere: string; owner: { uid: number; gid: number } | undefined },
  time: string,
): Promise<TestStandby> {
  const own = mkdtempSync(path.join(os.tmpdir(), 'relay-postgres-'));
  const cluster = path.join(own, 'data');
  try {
    if (owner) chownSync(own, owner.uid, owner.gid);
    await run('cp', ['-a', path.join(elsewhere, 'copy'), cluster]);
    const lines = [
      `restore_command = 'cp ${elsewhere}/%f %p'`,
      `recovery_target_time = '${time}'`,
      'recovery_target_action = promote',
      // It accepts connections once the recovery is over.
      'hot_standby = off',
      'archive_mode = off',
    ];
    appendFileSync(path.join(cluster, 'postgresql.conf'), `\n${lines.join('\n')}\n`);
    writeFileSync(path.join(cluster, 'recovery.signal'), '');
    return standbyOf(await launch(bin, own, cluster, owner), bin);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    throw error;
  }
}

function standbyOf(server: Server, bin: string): TestStandby {
  const address = { port: server.port, bin };
  return {
    address,
    url: connectPostgres(address).url,
    promote: () => runSql(address, 'SELECT pg_promote(true, 60)'),
    stop: () => server.end('remove'),
  };
}

async function startStandby(
  primary: PostgresAddress,
  through: number,
  owner: { uid: number; gid: number } | undefined,
): Promise<TestStandby> {
  const { bin } = primary;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'relay-postgres-'));
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const cluster = path.join(folder, 'data');
  try {
    await copyServer({ port: through, bin }, cluster, owner, '--write-recovery-conf');
    return standbyOf(await launch(bin, folder, cluster, owner), bin);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Uses a server that another process started. */
export function connectPostgres(address: PostgresAddress): Pick<TestPostgres, 'address' | 'url' | 'createDatabase'> {
  const url = (database: string) => `postgresql://postgres@127.0.0.1:${address.port}/${database}`;
  return {
    address,
    url,
    createDatabase: async ({
      template = 'template0',
      name = `test_${randomUUID().replaceAll('-', '')}`,
      locale,
    } = {}) => {
      const of = locale === undefined ? '' : ` LOCALE_PROVIDER libc LOCALE '${locale}'`;
      await runSql(address, `CREATE DATABASE "${name}" TEMPLATE "${template}"${of}`);
      return url(name);
    },
  };
}

/** Removes a database, ending its connections. */
export async function dropDatabase(address: PostgresAddress, url: string): Promise<void> {
  await runSql(address, `DROP DATABASE "${new URL(url).pathname.slice(1)}" WITH (FORCE)`);
}

/** One statement, by psql. */
async function runSql({ port, bin }: PostgresAddress, sql: string): Promise<void> {
  const where = ['--host=127.0.0.1', `--port=${port}`, '--username=postgres', '--dbname=postgres'];
  await run(path.join(bin, 'psql'), [...where, '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--command', sql]);
}

/** Whether `startPostgres` can work here. */
export function hasPostgres(): boolean {
  try {
    return findPrograms() !== '';
  } catch {
    return false;
  }
}

function findPrograms(): string {
  const complete = (dir: string) => ['postgres', 'initdb'].every((name) => existsSync(path.join(dir, name)));
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    // psql is beside the real program, not always beside a link to it
    if (dir !== '' && complete(dir)) return path.dirname(realpathSync(path.join(dir, 'initdb')));
  }
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => path.join(debian, version, 'bin')).find(complete);
  if (found) return found;
  throw new Error(
    'PostgreSQL is not installed: no `postgres` and `initdb` on the PATH or in /usr/lib/postgresql/*/bin. ' +
      'On Debian and Ubuntu: apt-get install --no-install-recommends postgresql',
  );
}

/** Undefined if this process can run the server itself. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (what: string) => {
    const { status, stdout } = spawnSync('id', [what, 'postgres'], { encoding: 'utf8' });
    return status === 0 ? Number(stdout) : 65534;
  };
  return { uid: id('-u'), gid: id('-g') };
}

interface Server {
  port: number;
  readonly exited: Promise<void>;
  end(how: 'halt' | 'remove'): Promise<void>;
}

/**
 * Runs the server, and stops it and removes its folder when stdin closes, which happens when this process exits. The
 * line "halt" only stops it. `$1` is the folder, the rest the command.
 */
const guardian = `
  folder=$1; shift
  exec 3<&0
  "$@" 3<&- </dev/null & server=$!
  { if read -r word <&3; then kill -INT $server
    else
      kill -INT $server
      while kill -0 $server; do sleep 0.1; done
      rm -rf "$folder"
    fi
  } 2>/dev/null &
  wait $server`;

async function launch(
  bin: string,
  folder: string,
  cluster: string,
  owner: { uid: number; gid: number } | undefined,
  samePort?: number,
): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    const port = samePort ?? (await freePort());
    const settings = [
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'unix_socket_directories=',
      'max_connections=200',
      'fsync=off',
      'synchronous_commit=off',
      'full_page_writes=off',
    ].flatMap((setting) => ['-c', setting]);
    const command = [path.join(bin, 'postgres'), '-D', cluster, ...settings];
    const child = spawn('/bin/sh', ['-c', guardian, 'sh', folder, ...command], {
      ...owner,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true, // an interrupt from the terminal is ours to handle
      env: { ...process.env, LC_ALL: 'C' }, // its log is read
    });
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    try {
      await ready(child);
    } catch (error) {
      child.stdin.destroy();
      // another process took the port between the check and the start
      if (attempt < 3 && samePort === undefined && String(error).includes('Address already in use')) continue;
      throw error;
    }
    return {
      port,
      exited,
      end: async (how) => {
        child.ref();
        child.stdin.end(how === 'halt' ? 'halt\n' : '');
        await exited;
      },
    };
  }
}

/** Resolves when the log shows that the server accepts connections; rejects with the log if the server exits first. */
function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    const fail = (reason: string) => reject(new Error(`PostgreSQL ${reason}:\n${log}`));
    const clock = setTimeout(() => fail(`did not start within ${startTimeoutMs} ms`), startTimeoutMs);
    child.once('exit', (code) => {
      clearTimeout(clock);
      fail(`ended with code ${code}`);
    });
    child.once('error', reject);
    child.stderr!.on('data', (part: Buffer) => {
      if (log.length > 10_000) return; // read on, so that the server never waits for us
      log += part.toString('utf8');
      if (!/ready to accept (read-only )?connections/.test(log)) return;
      clearTimeout(clock);
      log = 'x'.repeat(10_001);
      // The server must not keep the test process alive: it stops with it.
      child.unref();
      (child.stdin as Socket).unref();
      (child.stderr as Socket).unref();
      resolve();
    });
  });
}

function run(
  command: string,
  args: string[],
  options: { uid?: number; gid?: number; cwd?: string } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const listen = (part: Buffer) => (output = (output + part.toString('utf8')).slice(-4_000));
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${path.basename(command)} failed with code ${code}: ${output}`));
    });
  });
}
