/** The case of a person, session, task or device for an operator: facts of the relay, never a title, message, question or answer. */
import { parseSessionId } from '@relay/protocol';
import { sql } from './sql.ts';
import { open } from './task-states.ts';
import type { Db } from './transaction.ts';

/** The thing that an operator asked for. A request can have entries in the audit, which name its person and target. */
interface FoundSubject {
  kind: 'person' | 'session' | 'task' | 'device';
  id: string;
  ownerId: string;
  deviceId?: string | undefined;
  sessionKey?: string | undefined;
}

type Fact = string | number | boolean | Date | null;
type Facts = Record<string, Fact>;

export interface Case {
  person: Facts | undefined;
  session: Facts | undefined;
  devices: Facts[];
  /** Connections with their close reasons, the newest first. */
  connections: Facts[];
  /** Tasks that wait for their time, are queued, sent or running, the oldest first. */
  queue: Facts[];
  /** Schedules with their newest run. */
  schedules: Facts[];
  /** Finished tasks, the newest first. */
  outcomes: Facts[];
  deliveries: Facts[];
  /** Actions of the person and of operators, the newest first. */
  audit: Facts[];
}

const rowsOfEach = 20;

/** Returns the subject with an e-mail address or id; undefined when nothing has it. */
export async function findSubject(db: Db, word: string): Promise<FoundSubject | undefined> {
  const session = parseSessionId(word);
  const named = session
    ? sql`(s.device_id = ${session.deviceId} AND s.agent_type = ${session.agentType} AND s.native_id = ${session.nativeId}) OR s.key = (
        SELECT a.session_key FROM session_aliases a
        WHERE a.device_id = ${session.deviceId} AND a.agent_type = ${session.agentType} AND a.native_id = ${session.nativeId})`
    : sql`s.key = ${word}`;
  const [found] = await db.sql.query<FoundSubject>`
    SELECT 'person' AS kind, id, id AS "ownerId", NULL AS "deviceId", NULL AS "sessionKey" FROM users WHERE email = lower(${word}) OR id = ${word}
    UNION ALL SELECT 'device', id, owner_id, id, NULL FROM devices WHERE id = ${word}
    UNION ALL SELECT 'task', id, owner_id, device_id, session_key FROM tasks WHERE id = ${word}
    UNION ALL SELECT 'session', ${word}, s.owner_id, s.device_id, s.key FROM sessions s WHERE ${named}
    LIMIT 1`;
  return found;
}

/** Returns the audit entries of a request, of the last week. */
export function findRequest(db: Db, requestId: string): Promise<Facts[]> {
  return db.sql.query<Facts>`
    SELECT at, user_id AS "userId", action, outcome, program, address, target FROM audit_entries
    WHERE at > now() - interval '7 days' AND request_id = ${requestId} ORDER BY at DESC LIMIT ${rowsOfEach}`;
}

/** Returns the rows about a subject, at most 20 rows of each kind. */
export async function readCase(db: Db, { kind, id, ownerId, deviceId, sessionKey }: FoundSubject): Promise<Case> {
  const ofDevices = deviceId ? sql`d.id = ${deviceId}` : sql`d.owner_id = ${ownerId}`;
  const ofTasks =
    kind === 'task'
      ? sql`t.id = ${id}`
      : sessionKey
        ? sql`t.session_key = ${sessionKey}`
        : sql`t.device_id IN (SELECT d.id FROM devices d WHERE ${ofDevices})`;
  const sessionId = sql`s.device_id || ':' || s.agent_type || ':' || s.native_id`;
  const [person, session, devices, connections, queue, schedules, outcomes, deliveries, audit] = await Promise.all([
    db.sql.query<Facts>`
      SELECT u.id, u.email, u.created_at AS "createdAt", u.disabled_at AS "disabledAt", u.second_factor AS "secondFactor",
        f.wrong_codes AS "wrongCodes", f.locked_until AS "lockedUntil"
      FROM users u LEFT JOIN second_factors f ON f.user_id = u.id WHERE u.id = ${ownerId}`,
    db.sql.query<Facts>`
      SELECT ${sessionId} AS id, s.status, s.queue_held AS "queueHeld", s.created_at AS "createdAt", s.updated_at AS "updatedAt",
        s.deleted_at AS "deletedAt" FROM sessions s WHERE s.key = ${sessionKey ?? ''}`,
    db.sql.query<Facts>`
      SELECT d.id, d.status, d.agent_type AS "agentType", d.hostname, d.last_seen_at AS "lastSeenAt", d.removed_at AS "removedAt",
        d.conflict IS NOT NULL AS conflict
      FROM devices d WHERE ${ofDevices} ORDER BY d.last_seen_at DESC, d.id LIMIT ${rowsOfEach}`,
    db.sql.query<Facts>`
      SELECT c.device_id AS "deviceId", c.connected_at AS "connectedAt", c.disconnected_at AS "disconnectedAt", c.close_code AS "closeCode", c.reason,
        c.instance, c.daemon_version AS "daemonVersion", c.hostname, c.address
      FROM device_connections c WHERE c.device_id IN (SELECT d.id FROM devices d WHERE ${ofDevices})
      ORDER BY c.connected_at DESC, c.id LIMIT ${rowsOfEach}`,
    db.sql.query<Facts>`
      SELECT t.id, ${sessionId} AS "sessionId", t.kind, t.state, t.created_at AS "createdAt", t.sent_at AS "sentAt", t.expires_at AS "expiresAt",
        t.not_before AS "notBefore", t.because, s.queue_held AS "queueHeld", s.held_until AS "heldUntil"
      FROM tasks t JOIN sessions s ON s.key = t.session_key
      WHERE ${ofTasks} AND (t.state = 'later' OR t.state IN ${open}) ORDER BY t.seq LIMIT ${rowsOfEach}`,
    db.sql.query<Facts>`
      SELECT p.id, p.device_id AS "deviceId", p.cron, p.zone, p.next_at AS "nextAt", p.paused_for AS "pausedFor", r.due_at AS "dueAt",
        r.state AS run, r.reason, r.task_id AS "taskId"
      FROM schedules p LEFT JOIN LATERAL (SELECT * FROM schedule_runs WHERE schedule_id = p.id ORDER BY due_at DESC LIMIT 1) r ON true
      WHERE p.owner_id = ${ownerId} AND (${deviceId ?? ''} = '' OR p.device_id = ${deviceId ?? ''})
        AND (${sessionKey ?? ''} = '' OR p.session_key = ${sessionKey ?? ''})
      ORDER BY r.due_at DESC NULLS LAST, p.id LIMIT ${rowsOfEach}`,
    db.sql.query<Facts>`
      SELECT t.id, ${sessionId} AS "sessionId", t.kind, t.state, t.error_code AS "errorCode", t.created_at AS "createdAt", t.sent_at AS "sentAt",
        t.finished_at AS "finishedAt"
      FROM tasks t JOIN sessions s ON s.key = t.session_key
      WHERE ${ofTasks} AND t.finished_at IS NOT NULL ORDER BY t.finished_at DESC, t.id LIMIT ${rowsOfEach}`,
    db.sql.query<Facts>`
      SELECT v.id, u.kind, u.paused, u.verified, v.cause, v.state, v.reason, v.attempts, v.http_status AS "httpStatus", v.created_at AS "createdAt",
        v.accepted_at AS "acceptedAt", v.held_for AS "heldFor"
      FROM deliveries v LEFT JOIN subscriptions u ON u.id = v.subscription_id LEFT JOIN notifications n ON n.id = v.notification_id
      WHERE v.user_id = ${ownerId} AND (${sessionKey ?? ''} = '' OR n.session_key = ${sessionKey ?? ''})
        AND (${kind} <> 'task' OR n.task_id = ${id}) AND (${kind} <> 'device' OR n.device_id = ${id} OR n.session_id LIKE ${`${id}:`} || '%')
      ORDER BY v.created_at DESC, v.id LIMIT ${rowsOfEach}`,
    db.sql.query<Facts>`
      SELECT at, action, outcome, times, program, address, target, request_id AS "requestId" FROM audit_entries
      WHERE user_id = ${ownerId} OR (user_id = ${operatorId} AND target IN (${ownerId}, ${id}))
      ORDER BY at DESC, id DESC LIMIT ${rowsOfEach}`,
  ]);
  return {
    person: person[0],
    session: session[0],
    devices,
    connections,
    queue,
    schedules,
    outcomes,
    deliveries,
    audit,
  };
}

/** The account of the audit of administration: no person has it. */
export const operatorId = 'relay-admin';

/** Returns the id of the account with an address; undefined for an unknown address. */
export async function readPersonId(db: Db, email: string): Promise<string | undefined> {
  const [row] = await db.sql.query<{ id: string }>`SELECT id FROM users WHERE email = lower(${email})`;
  return row?.id;
}
