/** Reads the database and the leases directly, without the fault proxies. */
import { createRedisBackplane } from '@relay/backplane';
import { openDatabase, sql } from '@relay/database';
import type { Cluster } from '@relay/testing';

export interface TaskRow {
  id: string;
  seq: number;
  session_key: string;
  device_id: string;
  owner_id: string;
  state: string;
  error_code: string | null;
  result: string | null;
}

export interface DeviceRow {
  id: string;
  status: string;
  fence: number;
  /** Connections without a recorded end. */
  open: number;
}

export interface Truth {
  tasks(): Promise<TaskRow[]>;
  task(id: string): Promise<TaskRow | undefined>;
  /** One line for each session: everything that decides whether its queue continues, and its tasks. */
  sessions(keys: readonly string[]): Promise<string[]>;
  devices(): Promise<DeviceRow[]>;
  device(id: string): Promise<DeviceRow | undefined>;
  /** The fence of each device with a live lease. */
  fences(devices: readonly string[]): Promise<Map<string, number>>;
  /** The number of times that the instances have checked whether the database was set back. */
  looks(): Promise<number>;
  /** Runs one writing statement. */
  run(statement: string): Promise<void>;
  /** Whether a transaction waits for a lock. */
  isWaitedFor(): Promise<boolean>;
  /** Aborts the transactions that wait for a lock, as PostgreSQL does once it notices that their client has died. */
  abortWaiting(): Promise<void>;
  /** Holds the lock of a device until the returned function is called. */
  lockDevice(id: string): Promise<() => Promise<void>>;
  /** Locks a whole table: no other connection can read it. */
  lockTable(name: string): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** `migrationsDir`: the migrations of another release, whose database must stay unchanged. */
export async function openTruth(
  cluster: Pick<Cluster, 'databaseUrl' | 'redis'>,
  redisUrl = cluster.redis.url,
  migrationsDir?: string,
): Promise<Truth> {
  const database = await openDatabase({ url: cluster.databaseUrl, poolSize: 4, migrationsDir });
  const backplane = await createRedisBackplane({ url: redisUrl, name: 'witness', onError: () => undefined });
  const tasks = async (id?: string) => {
    const rows = await database.sql.query<Omit<TaskRow, 'seq'> & { seq: bigint }>`
      SELECT id, seq, session_key, device_id, owner_id, state, error_code, result FROM tasks
      WHERE ${id ?? null}::text IS NULL OR id = ${id ?? null} ORDER BY seq`;
    return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
  };
  const sessions = async (keys: readonly string[]) => {
    const rows = await database.sql.query<{ line: unknown }>`
      SELECT json_build_object('key', s.key, 'status', s.status, 'held', s.queue_held, 'placeholder', s.placeholder,
        'deleted', s.deleted_at, 'promptSeq', s.prompt_seq,
        'prompts', (SELECT json_agg(json_build_array(q.seq, q.uuid, q.state)) FROM prompts q WHERE q.session_key = s.key),
        'tasks', (SELECT json_agg(json_build_array(t.seq, t.id, t.kind, t.state, t.error_code, t.note, t.prompt_uuid, t.fence, t.sent_at,
          t.finished_at, t.expires_at) ORDER BY t.seq) FROM tasks t WHERE t.session_key = s.key)) AS line
      FROM sessions s WHERE s.key = ANY(${[...keys]}::text[])`;
    return rows.map(({ line }) => JSON.stringify(line));
  };
  const devices = async (id?: string) => {
    const rows = await database.sql.query<Omit<DeviceRow, 'fence' | 'open'> & { fence: bigint; open: bigint }>`
      SELECT d.id, d.status, d.connection_fence AS fence,
        (SELECT count(*) FROM device_connections c WHERE c.device_id = d.id AND c.disconnected_at IS NULL) AS open
       FROM devices d WHERE ${id ?? null}::text IS NULL OR d.id = ${id ?? null} ORDER BY d.id`;
    return rows.map((row) => ({ ...row, fence: Number(row.fence), open: Number(row.open) }));
  };
  const lock = async (statement: string, ...values: string[]) => {
    let unlock!: () => void;
    const free = new Promise<void>((resolve) => (unlock = resolve));
    let locked!: () => void;
    const held = new Promise<void>((resolve) => (locked = resolve));
    const done = database.models.$transaction(
      async (tx) => {
        await tx.$queryRawUnsafe(statement, ...values);
        locked();
        await free;
      },
      { timeout: 60_000 },
    );
    await Promise.race([held, done]);
    return async () => {
      unlock();
      await done;
    };
  };
  return {
    tasks: () => tasks(),
    sessions,
    task: async (id) => (await tasks(id))[0],
    devices: () => devices(),
    device: async (id) => (await devices(id))[0],
    fences: async (ids) => {
      const leases = await backplane.owners(ids);
      return new Map([...leases].map(([id, { fence }]) => [id, fence]));
    },
    looks: async () => {
      const rows = await database.sql.query<{ value: bigint }>`SELECT value FROM timeline`;
      return Number(rows[0]?.value ?? 0);
    },
    run: async (statement) => void (await database.sql.execute(sql.raw(statement))),
    isWaitedFor: async () => {
      const rows = await database.sql.query`
        SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      return rows.length > 0;
    },
    abortWaiting: async () =>
      void (await database.sql.query`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()`),
    lockDevice: (id) => lock('SELECT id FROM devices WHERE id = $1 FOR UPDATE', id),
    lockTable: (name) => lock(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`),
    close: async () => {
      await backplane.close();
      await database.close();
    },
  };
}
