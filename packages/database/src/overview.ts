/** The first look of an operator. Every statement is answered by an index: they run in the middle of a fault, on tables with millions of rows. */
import { outboxLag } from './notifications.ts';
import type { Db } from './transaction.ts';

interface Overview {
  people: number;
  devices: number;
  devicesOnline: number;
  /** Open tasks, by state. */
  tasks: Readonly<Record<'queued' | 'sent' | 'running', number>>;
  /** The age of the oldest notification that is not sent. */
  outboxSeconds: number;
}

export async function readOverview(db: Db): Promise<Overview> {
  const [row] = await db.sql.query<Record<'people' | 'devices' | 'online' | 'queued' | 'sent' | 'running', bigint>>`
    SELECT (SELECT count(*) FROM users) AS people, (SELECT count(*) FROM devices WHERE removed_at IS NULL) AS devices,
      (SELECT count(*) FROM devices WHERE status = 'online') AS online,
      (SELECT count(*) FROM tasks WHERE state = 'queued') AS queued, (SELECT count(*) FROM tasks WHERE state = 'sent') AS sent,
      (SELECT count(*) FROM tasks WHERE state = 'running') AS running`;
  const { people, devices, online, queued, sent, running } = row!;
  return {
    people: Number(people),
    devices: Number(devices),
    devicesOnline: Number(online),
    tasks: { queued: Number(queued), sent: Number(sent), running: Number(running) },
    outboxSeconds: await outboxLag(db),
  };
}

interface DeviceOfPerson {
  id: string;
  /** Empty for a person with an external identity. */
  email: string;
  name: string;
  status: string;
  lastSeenAt: Date | null;
}

/** Devices, last seen first; with `email` only that person's. */
export async function listDevicesOf(db: Db, email: string, limit: number): Promise<DeviceOfPerson[]> {
  return db.sql.query<DeviceOfPerson>`
    SELECT d.id, COALESCE(u.email, '') AS email, d.name, d.status, d.last_seen_at AS "lastSeenAt"
    FROM devices d LEFT JOIN users u ON u.id = d.owner_id
    WHERE d.removed_at IS NULL AND (${email} = '' OR u.email = lower(${email}))
    ORDER BY d.last_seen_at DESC NULLS LAST, d.id LIMIT ${limit}`;
}

interface WaitingQueue {
  deviceId: string;
  email: string;
  status: string;
  /** The number of waiting messages, and the age of the oldest. */
  waiting: number;
  oldestSeconds: number;
}

/** Devices with messages that wait, the oldest first. */
export async function listWaiting(db: Db, limit: number): Promise<WaitingQueue[]> {
  const rows = await db.sql.query<Omit<WaitingQueue, 'waiting'> & { waiting: bigint }>`
    SELECT t.device_id AS "deviceId", COALESCE(max(u.email), '') AS email, max(d.status) AS status, count(*) AS waiting,
      extract(epoch FROM now() - min(t.created_at))::double precision AS "oldestSeconds"
    FROM tasks t JOIN devices d ON d.id = t.device_id LEFT JOIN users u ON u.id = t.owner_id
    WHERE t.state = 'queued' GROUP BY t.device_id ORDER BY min(t.created_at), t.device_id LIMIT ${limit}`;
  return rows.map((row) => ({ ...row, waiting: Number(row.waiting) }));
}

/**
 * The fleet: registered devices, devices seen within a day, and online devices. Reads all of them: run it on one
 * instance at a time.
 */
export async function countDevices(db: Db): Promise<Record<'registered' | 'today' | 'online', number>> {
  const [row] = await db.sql.query<Record<'registered' | 'today' | 'online', bigint>>`
    SELECT count(*) AS registered, count(*) FILTER (WHERE last_seen_at > now() - interval '1 day') AS today,
      count(*) FILTER (WHERE status = 'online') AS online
    FROM devices WHERE removed_at IS NULL`;
  const { registered, today, online } = row!;
  return { registered: Number(registered), today: Number(today), online: Number(online) };
}

interface GatewayLoad {
  /** Its name in the backplane. */
  instance: string;
  devices: number;
}

/** The gateways with the number of their online devices, largest first. Gateways without devices are unknown here. */
export async function listGateways(db: Db): Promise<GatewayLoad[]> {
  const rows = await db.sql.query<{ instance: string; devices: bigint }>`
    SELECT c.instance, count(*) AS devices FROM devices d
    JOIN device_connections c ON c.device_id = d.id AND c.fence = d.connection_fence AND c.disconnected_at IS NULL
    WHERE d.status = 'online' GROUP BY c.instance ORDER BY count(*) DESC, c.instance`;
  return rows.map(({ instance, devices }) => ({ instance, devices: Number(devices) }));
}
