/** Loads tasks: for events, for the history search, and for their owner. */
import {
  type Task,
  type TaskErrorCode,
  type TaskKind,
  type TaskState,
  formatSessionId,
  taskErrors,
} from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import { isDue, isOverdue, underWay } from './task-states.ts';
import { sql } from './sql.ts';
import type { Db } from './transaction.ts';

/** Returns the tasks of these devices that were cancelled: a daemon that still runs one gets the cancellation again. */
export async function cancelledAmong(
  db: Db,
  deviceIds: readonly string[],
  taskIds: readonly string[],
): Promise<string[]> {
  if (taskIds.length === 0) return [];
  const rows = await db.sql.query<{ id: string }>`
    SELECT id FROM tasks WHERE device_id = ANY(${sql.texts(deviceIds)}) AND state = 'cancelled' AND id = ANY(${sql.texts(taskIds)})`;
  return rows.map((row) => row.id);
}

/** Returns the task of this device with the fields that an event needs; undefined for an unknown id. */
export async function findDeviceTask(
  db: Db,
  deviceId: string,
  taskId: string,
): Promise<{ id: string; sessionKey: string; state: TaskState } | undefined> {
  const rows = await db.sql.query<{ id: string; session_key: string; state: TaskState }>`
    SELECT id, session_key, state FROM tasks WHERE id = ${taskId} AND device_id = ${deviceId}`;
  const row = rows[0];
  return row && { id: row.id, sessionKey: row.session_key, state: row.state };
}

/** The facts of a task for searching its outcome in the daemon's history. */
export interface DeliveredTask {
  id: string;
  kind: TaskKind;
  sessionKey: string;
  nativeId: string;
  placeholder: boolean;
  /** Any instance has saved its outcome. */
  ended: boolean;
  /** The outcome does not come from the daemon: the delivery is unknown, or the task counts as lost. */
  doubtful: boolean;
  /** '' once the task is over, except for a short while after a completion without a text. */
  instruction: string;
  /** Its known result; '' without one. */
  result: string;
  sentAtMs: number;
  /** The result of the previous task of the session; '' without one. */
  previous: string;
  /** When that was, by the relay's clock; absent without one. */
  previousEndedAtMs?: number;
  /** The uuids of the messages that people sent into its turn. */
  steers: string[];
}

/** Returns a task that was written to its daemon; undefined if it is missing or its session was deleted. */
export async function findDeliveredTask(db: Db, taskId: string): Promise<DeliveredTask | undefined> {
  const [row] = await db.sql.query<{
    kind: TaskKind;
    session_key: string;
    native_id: string;
    placeholder: boolean;
    ended: boolean;
    doubtful: boolean;
    instruction: string;
    result: string;
    sent_at: Date;
    previous: string | null;
    previous_ended_at: Date | null;
    steers: string[] | null;
  }>`
    SELECT t.kind, t.session_key, s.native_id, s.placeholder, t.state NOT IN ${underWay} AS ended,
      COALESCE(t.error_code IN ('DELIVERY_UNKNOWN', 'TASK_LOST'), false) AS doubtful, t.instruction, t.sent_at,
      COALESCE(t.result, '') AS result,
      before.result AS previous, before.finished_at AS previous_ended_at,
      (SELECT array_agg(i.id) FROM tasks i WHERE i.session_key = t.session_key AND i.into_task = t.id AND i.kind = 'steer') AS steers
    FROM tasks t JOIN sessions s ON s.key = t.session_key
      LEFT JOIN LATERAL (SELECT p.result, p.finished_at FROM tasks p
        WHERE p.session_key = t.session_key AND p.id <> t.id AND p.kind <> 'steer' AND p.finished_at <= t.sent_at AND p.sent_at IS NOT NULL
        ORDER BY p.finished_at DESC LIMIT 1) before ON true
    WHERE t.id = ${taskId} AND t.sent_at IS NOT NULL AND s.deleted_at IS NULL`;
  return (
    row && {
      id: taskId,
      kind: row.kind,
      sessionKey: row.session_key,
      nativeId: row.native_id,
      placeholder: row.placeholder,
      ended: row.ended,
      doubtful: row.doubtful,
      instruction: row.instruction,
      result: row.result,
      sentAtMs: row.sent_at.getTime(),
      previous: row.previous ?? '',
      steers: (row.steers ?? []).map(userItemUuid),
      ...(row.previous_ended_at && { previousEndedAtMs: row.previous_ended_at.getTime() }),
    }
  );
}

/** Returns the tasks of a device that its daemon itself completed: it can omit them. */
export async function endedAmong(db: Db, deviceId: string, taskIds: readonly string[]): Promise<string[]> {
  if (taskIds.length === 0) return [];
  const rows = await db.sql.query<{ id: string }>`
    SELECT id FROM tasks WHERE device_id = ${deviceId} AND id = ANY(${sql.texts(taskIds)})
      AND (state IN ('completed', 'waiting') OR error_code = 'AGENT_ERROR')`;
  return rows.map((row) => row.id);
}

/** GET /api/tasks/:id. Shows a task as expired from its deadline on. */
export async function readTask(db: Db, ownerId: string, taskId: string): Promise<Task | undefined> {
  const rows = await db.sql.query<{
    id: string;
    kind: TaskKind;
    state: TaskState;
    created_at: Date;
    expires_at: Date;
    sent_at: Date | null;
    finished_at: Date | null;
    result: string | null;
    error_code: string | null;
    error_text: string | null;
    note: string | null;
    into_task: string | null;
    not_before: Date | null;
    device_id: string;
    agent_type: string;
    native_id: string;
    late: boolean;
  }>`
    SELECT t.id, t.kind, t.state, t.created_at, t.expires_at, t.sent_at, t.finished_at, t.result, t.error_code, t.error_text, t.note, t.into_task, t.not_before,
      s.device_id, s.agent_type, s.native_id, ${isOverdue('t')} AS late
    FROM tasks t JOIN sessions s ON s.key = t.session_key WHERE t.id = ${taskId} AND t.owner_id = ${ownerId}`;
  const row = rows[0];
  if (!row) return undefined;
  const code = row.late ? 'TASK_EXPIRED' : row.error_code;
  const finishedAt = row.late ? row.expires_at : row.finished_at;
  return {
    id: row.id,
    sessionId: formatSessionId({ deviceId: row.device_id, agentType: row.agent_type, nativeId: row.native_id }),
    kind: row.kind,
    state: row.late ? 'expired' : row.state,
    createdAt: row.created_at.toISOString(),
    ...(row.sent_at ? { sentAt: row.sent_at.toISOString() } : {}),
    ...(finishedAt ? { finishedAt: finishedAt.toISOString() } : {}),
    ...(row.result === null ? {} : { result: row.result }),
    ...(code ? { error: { code, error: row.error_text ?? taskErrors[code as TaskErrorCode]?.sentence ?? code } } : {}),
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.into_task === null ? {} : { into: row.into_task }),
    ...(row.not_before ? { notBefore: row.not_before.toISOString() } : {}),
  };
}

/** Returns how long a task of this person can still wait for its device; undefined if it does not wait. */
export async function queuedUntil(db: Db, ownerId: string, taskId: string): Promise<string | undefined> {
  const [row] = await db.sql.query<{ expires_at: Date }>`
    SELECT t.expires_at FROM tasks t WHERE t.id = ${taskId} AND t.owner_id = ${ownerId} AND ${isDue('t')}`;
  return row?.expires_at.toISOString();
}

/** Whether a task of the session is open, or completed within `windowMs`. */
export async function taskWithin(db: Db, key: string, windowMs: number): Promise<boolean> {
  const rows = await db.sql.query<{ id: string }>`
    SELECT id FROM tasks WHERE session_key = ${key} AND (state IN ${underWay}
      OR (state IN ('completed', 'failed', 'waiting') AND finished_at > now() - ${windowMs}::double precision * interval '1 millisecond')) LIMIT 1`;
  return rows.length > 0;
}
