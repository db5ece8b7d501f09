/**
 * Claiming (rules, 2.1): a queued task is written to its daemon at most once, in order per session. Every write must run inside
 * `withDevice`.
 */
import type { MessageSetting, TaskKind } from '@relay/protocol';
import { attachedIn } from './attached.ts';
import type { PromptAnswer } from './tasks.ts';
import { move, requeueSteers } from './move.ts';
import { underWay } from './task-states.ts';
import { type ReturnedSession, type SessionRecord, toReturned } from './sessions.ts';
import { type Sql, sql } from './sql.ts';
import { type Claim, type Db, type Transactions, inOneStatement } from './transaction.ts';
import { callOf, claiming, isNext } from './turn-functions.ts';

/** The images of a claimed task, as data URLs, and ids of its files. Undefined if the task is already over: then it must not be written. */
export async function attachedOf(db: Db, taskId: string): Promise<{ images?: string[]; files?: string[] } | undefined> {
  const [task] = await db.sql.query<{ images: string | null }>`
    SELECT images FROM tasks WHERE id = ${taskId} AND state = 'sent'`;
  return task?.images ? attachedIn(task.images) : undefined;
}

export interface ClaimedTask {
  id: string;
  kind: TaskKind;
  sessionKey: string;
  nativeId: string;
  agentType: string;
  instruction: string;
  /** Whether `attachedOf` returns any images or files: images can be large, so they are loaded on demand. */
  hasImages: boolean;
  projectPath: string;
  /** The question that it answers. */
  promptUuid?: string;
  answer?: PromptAnswer;
  /** The task whose turn it was sent to. If its kind is not `steer`, it became an ordinary message. */
  into?: string;
  /** Chosen with the message. */
  settings?: MessageSetting[];
  /** An agent or a schedule sent it: no person looks at it. */
  restricted?: 'agent' | 'unattended';
  /** The fence of an earlier claim that was given back: the task was not written under it. Absent without one. */
  givenBackUnder?: number;
}

/**
 * Claims the next task of every session of the device that has nothing running: queued → sent under this fence. The caller
 * then writes them to its socket; no other caller ever gets them. At most one per session and 100 per call, in the order of `lineOrder`.
 * A session that waits for its user only yields tasks accepted after the prompt; if that answer did not arrive,
 * the next one still precedes tasks older than the prompt. The caller has checked the fence.
 */
export async function claimTasks(db: Db, deviceId: string, fence: number): Promise<ClaimedTask[]> {
  const rows = await db.sql.query<ClaimedRow>`
    WITH ${claiming(sql`${deviceId}`, sql`${fence}`)}
    SELECT m.id AS r_id, m.kind AS r_kind, m.session_key AS r_key, m.instruction AS r_instruction, m.has_images AS r_has_images,
      m.prompt_uuid AS r_prompt, m.answer AS r_answer, next.before AS r_before, next.into_task AS r_into, m.settings AS r_settings, m.agent_depth AS r_depth, touched.native_id AS r_native, touched.agent_type AS r_agent,
      touched.project_path AS r_project
    FROM moved m JOIN next ON next.id = m.id JOIN touched ON touched.key = m.session_key ORDER BY m.seq`;
  return rows.map(toClaimed);
}

/**
 * `claimTasks` in one statement that takes the lock of the device: nothing unless `claim` is still the newest one on its device. Also
 * returns the sessions of the tasks after the claim.
 */
export async function claimOwned(
  db: Transactions,
  { deviceId, fence }: Claim,
): Promise<{ tasks: ClaimedTask[]; sessions: SessionRecord[] }> {
  return inOneStatement<ClaimedRow & ReturnedSession, { tasks: ClaimedTask[]; sessions: SessionRecord[] }>(
    db,
    callOf('claim', { p_device: deviceId, p_fence: fence }),
    (rows) => ({ tasks: rows.map(toClaimed), sessions: rows.map(toReturned) }),
  );
}

interface ClaimedRow {
  r_id: string;
  r_kind: TaskKind;
  r_key: string;
  r_native: string;
  r_agent: string;
  r_instruction: string;
  r_has_images: boolean;
  r_project: string;
  r_prompt: string | null;
  r_answer: PromptAnswer | null;
  r_before: bigint | null;
  r_into: string | null;
  r_settings: MessageSetting[] | null;
  r_depth: number | null;
}

function toClaimed(row: ClaimedRow): ClaimedTask {
  return {
    id: row.r_id,
    kind: row.r_kind,
    sessionKey: row.r_key,
    nativeId: row.r_native,
    agentType: row.r_agent,
    instruction: row.r_instruction,
    hasImages: row.r_has_images,
    projectPath: row.r_project,
    ...(row.r_prompt ? { promptUuid: row.r_prompt } : {}),
    ...(row.r_answer ? { answer: row.r_answer } : {}),
    ...(row.r_settings ? { settings: row.r_settings } : {}),
    ...(row.r_depth === null ? {} : { restricted: row.r_depth === 0 ? 'unattended' : 'agent' }),
    ...(row.r_into === null ? {} : { into: row.r_into }),
    ...(row.r_before === null ? {} : { givenBackUnder: Number(row.r_before) }),
  };
}

/**
 * Gives a claimed task back when it is certain that no byte of it was written, because the socket was closed before the
 * write. Only under the same fence, and only while it is `sent`. A session that waited for its user waits again.
 */
export async function unclaimTask(db: Db, taskId: string, fence: number): Promise<void> {
  await giveBack(db, sql`t.id = ${taskId} AND t.fence = ${fence}`);
}

/**
 * Gives back the tasks claimed under this fence but not written, if the reply to the claim was lost. `written` lists
 * all open tasks written under this fence; the caller has checked the fence and makes no claim during the call.
 */
export async function unclaimUnwritten(
  db: Db,
  deviceId: string,
  fence: number,
  written: readonly string[],
): Promise<void> {
  await giveBack(db, sql`t.device_id = ${deviceId} AND t.fence = ${fence} AND t.id <> ALL(${written}::text[])`);
}

/** The turn of a steer can complete after the claim: then it becomes an ordinary message. */
async function giveBack(db: Db, which: Sql): Promise<void> {
  const moved = await move(db, 'unclaim', which);
  if (moved.length === 0) return;
  const isOver = sql`NOT EXISTS (SELECT 1 FROM tasks r WHERE r.id = t.into_task AND r.state IN ${underWay})`;
  await requeueSteers(db, sql`t.id = ANY(${moved.map(({ id }) => id)}::text[]) AND ${isOver}`, 'first');
}

/** sent → running: the daemon has confirmed it. Returns false if it was not `sent`. */
export async function startRunning(db: Db, taskId: string): Promise<boolean> {
  return (await move(db, 'confirm', sql`t.id = ${taskId} AND t.kind <> 'steer'`)).length > 0;
}

/**
 * `startRunning` for a task of a session that keeps its name, in one statement that takes the lock of the device. `nativeId`: the name that the
 * event carries. Returns the session. Changes nothing and returns undefined if the session is gone or has another name, or if the given
 * fence is not the newest fence of the device.
 */
export async function confirmTask(
  db: Transactions,
  { deviceId, fence }: { deviceId: string; fence?: number },
  taskId: string,
  nativeId?: string,
): Promise<SessionRecord | undefined> {
  const call = callOf('confirm', { p_device: deviceId, p_fence: fence, p_task: taskId, p_name: nativeId });
  return inOneStatement<ReturnedSession, SessionRecord | undefined>(db, call, ([row]) => row && toReturned(row));
}

interface OpenTask {
  id: string;
  sessionKey: string;
  /** A message into the turn of another task. */
  isSteer: boolean;
  state: 'sent' | 'running';
  fence: number;
}

/** The tasks under way on these devices, by device: sent or running. */
export async function openTasks(db: Db, deviceIds: readonly string[]): Promise<Map<string, OpenTask[]>> {
  const byDevice = new Map<string, OpenTask[]>();
  if (deviceIds.length === 0) return byDevice;
  const rows = await db.sql.query<{
    id: string;
    device_id: string;
    session_key: string;
    kind: TaskKind;
    state: 'sent' | 'running';
    fence: bigint | null;
  }>`
    SELECT id, device_id, session_key, kind, state, fence FROM tasks
    WHERE device_id = ANY(${sql.texts(deviceIds)}) AND state IN ${underWay}`;
  for (const row of rows) {
    const tasks = byDevice.get(row.device_id) ?? [];
    byDevice.set(row.device_id, tasks);
    tasks.push({
      id: row.id,
      sessionKey: row.session_key,
      isSteer: row.kind === 'steer',
      state: row.state,
      fence: Number(row.fence ?? 0),
    });
  }
  return byDevice;
}

/**
 * The longest wait of a task for the relay alone, in seconds: its device has been online since, and nothing in its
 * session changed. 0 without such a task. Reads every queued task: run it on one instance at a time.
 */
export async function longestWait(db: Db): Promise<number> {
  const [row] = await db.sql.query<{ seconds: number }>`
    SELECT COALESCE(max(extract(epoch FROM now() - GREATEST(t.created_at, s.updated_at,
      (SELECT max(c.connected_at) FROM device_connections c WHERE c.device_id = d.id)))), 0)::double precision AS seconds
    FROM tasks t JOIN sessions s ON s.key = t.session_key JOIN devices d ON d.id = t.device_id
    WHERE d.status = 'online' AND ${isNext}`;
  return Math.max(0, row!.seconds);
}

/** Returns the devices with a task to claim or to expire. */
export async function devicesWithQueue(db: Db, deviceIds: readonly string[]): Promise<string[]> {
  if (deviceIds.length === 0) return [];
  const rows = await db.sql.query<{ device_id: string }>`
    SELECT DISTINCT device_id FROM tasks WHERE state = 'queued' AND device_id = ANY(${sql.texts(deviceIds)})`;
  return rows.map((row) => row.device_id);
}
