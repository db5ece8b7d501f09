/** PgBouncer, with its defaults, in front of a PostgreSQL. It refuses parameters of a start that it does not know, as poolers do. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, freePort, startProgram } from './programs.ts';

export interface PgBouncer {
  readonly port: number;
  /** The address of a database through the pooler. */
  url(database: string): string;
  stop(): Promise<void>;
}

/** Starts it; as root it runs as the user `postgres`, because it refuses root. Needs `pgbouncer`. */
export async function startPgBouncer(postgresPort: number, mode: 'session' | 'transaction'): Promise<PgBouncer> {
  const program = findProgram('pgbouncer', 'pgbouncer');
  const folder = mkdtempSync(join(tmpdir(), 'relay-pgbouncer-'));
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${postgresPort} user=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    `default_pool_size = ${mode === 'session' ? 20 : 5}`,
    'server_idle_timeout = 1',
    ...(process.getuid?.() === 0 ? ['user = postgres'] : []),
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  chmodSync(folder, 0o755);
  const child = startProgram(program, [file]);
  await child.wrote(/process up/);
  return {
    port,
    url: (database) => `postgresql://postgres@127.0.0.1:${port}/${database}`,
    stop: async () => {
      await child.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
