/**
 * Claiming (rules, 2.1): a queued task is written to its daemon at most once, in order per session. Every write must run inside
 * `withDevice`.
 */
import type { MessageSetting, TaskKind } from '@relay/protocol';
import type { PromptAnswer } from './tasks.ts';
import { settleSessions } from './session-status.ts';
import { move } from './move.ts';
import { moveTasks } from './task-moves.ts';
import { isDue, lineOrder, underWay } from './task-states.ts';
import { type SessionRecord, type SessionRow, sessionSelect, toSessionRecord } from './sessions.ts';
import { type Sql, sql } from './sql.ts';
import { type Claim, type Db, type Transactions, isOwned, lockOf } from './transaction.ts';

/** The images of a task that was claimed, as data URLs. Undefined when it has ended meanwhile: then it must not be written. */
export async function imagesOf(db: Db, taskId: string): Promise<string[] | undefined> {
  const [task] = await db.sql.query<{ images: string | null }>`
    SELECT images FROM tasks WHERE id = ${taskId} AND state = 'sent'`;
  return task?.images ? (JSON.parse(task.images) as string[]) : undefined;
}

export interface ClaimedTask {
  id: string;
  kind: TaskKind;
  sessionKey: string;
  nativeId: string;
  agentType: string;
  instruction: string;
  /** Whether `imagesOf` returns any: images may be large, and are not loaded before they are needed. */
  hasImages: boolean;
  projectPath: string;
  /** The question that it answers. */
  promptUuid?: string;
  answer?: PromptAnswer;
  /** Chosen with the message. */
  settings?: MessageSetting[];
  /** An agent sent it. */
  isOfAgent?: true;
  /** The fence of an earlier claim that was given back: the task was not written under it. Absent without one. */
  givenBackUnder?: number;
}

/** While a session waits: answers to a question may be sent whenever they were accepted, other messages only if accepted after the question. */
const mayGo = sql`CASE WHEN t.prompt_uuid IS NULL THEN s.status <> 'waiting' OR t.seq > s.prompt_seq
  WHEN t.prompt_uuid = '' THEN s.status <> 'waiting'
  ELSE EXISTS (SELECT 1 FROM prompts q WHERE q.session_key = s.key AND q.uuid = t.prompt_uuid AND q.state = 'answered') END`;

/** Task `t` of session `s` waits for nothing but to be claimed. */
const isNext = sql`${isDue('t')} AND NOT s.queue_held AND (t.kind = 'start' OR NOT s.placeholder) AND ${mayGo}
  AND NOT EXISTS (SELECT 1 FROM tasks r WHERE r.session_key = t.session_key AND r.state IN ${underWay})`;

/**
 * Claims the next task of every session of the device that has nothing running: queued → sent under this fence. The caller
 * then writes them to its socket; no other caller ever gets them. At most one per session and 100 per call, in the order of `lineOrder`.
 * A session that waits for its user only yields tasks accepted after the prompt; if that answer did not arrive,
 * the next one still precedes tasks older than the prompt. The caller has checked the fence.
 */
export async function claimTasks(db: Db, deviceId: string, fence: number): Promise<ClaimedTask[]> {
  return (await db.sql.query<ClaimedRow>(claimOf({ deviceId, fence }, sql`true`))).map(toClaimed);
}

/**
 * `claimTasks` in a transaction of its own, in two round trips: nothing unless `claim` is still the newest one on its device. With the
 * sessions of the tasks as the claim leaves them.
 */
export async function claimOwned(
  db: Transactions,
  claim: Claim,
): Promise<{ tasks: ClaimedTask[]; sessions: SessionRecord[] }> {
  return db.sql.transaction(
    (_tx, [, claimed, rows]) => {
      const [tasks, sessions] = [claimed as ClaimedRow[], rows as SessionRow[]];
      return Promise.resolve({ tasks: tasks.map(toClaimed), sessions: sessions.map(toSessionRecord) });
    },
    [
      lockOf(claim.deviceId),
      claimOf(claim, isOwned(claim)),
      // As an array: sessions are found by their key before anything else of them is read, however few there are.
      sql`${sessionSelect} WHERE s.key = ANY(ARRAY(SELECT session_key FROM tasks
        WHERE device_id = ${claim.deviceId} AND state = 'sent' AND fence = ${claim.fence})) AND s.deleted_at IS NULL`,
    ],
  );
}

interface ClaimedRow {
  id: string;
  kind: TaskKind;
  session_key: string;
  native_id: string;
  agent_type: string;
  instruction: string;
  has_images: boolean;
  project_path: string;
  prompt_uuid: string | null;
  answer: PromptAnswer | null;
  settings: MessageSetting[] | null;
  agent_depth: number | null;
  before: bigint | null;
}

/** The statement that claims, if `when`. */
function claimOf({ deviceId, fence }: Claim, when: Sql): Sql {
  return sql`
    WITH next AS (
      SELECT DISTINCT ON (t.session_key) t.id, t.fence AS before
      FROM tasks t JOIN sessions s ON s.key = t.session_key
      WHERE t.device_id = ${deviceId} AND ${isNext} AND ${when}
      ORDER BY t.session_key, ${lineOrder}
      LIMIT 100
    ), moved AS (${moveTasks('claim', sql`t.id IN (SELECT id FROM next)`, [sql`fence = ${fence}`])}
    ), touched AS (${settleSessions('run')} RETURNING s.key, s.native_id, s.agent_type, s.project_path)
    SELECT m.id, m.kind, m.session_key, m.instruction, m.has_images, m.prompt_uuid, m.answer, m.settings, m.agent_depth, next.before, touched.native_id, touched.agent_type, touched.project_path
    FROM moved m JOIN next ON next.id = m.id JOIN touched ON touched.key = m.session_key ORDER BY m.seq`;
}

function toClaimed(row: ClaimedRow): ClaimedTask {
  return {
    id: row.id,
    kind: row.kind,
    sessionKey: row.session_key,
    nativeId: row.native_id,
    agentType: row.agent_type,
    instruction: row.instruction,
    hasImages: row.has_images,
    projectPath: row.project_path,
    ...(row.prompt_uuid ? { promptUuid: row.prompt_uuid } : {}),
    ...(row.answer ? { answer: row.answer } : {}),
    ...(row.settings ? { settings: row.settings } : {}),
    ...(row.agent_depth === null ? {} : { isOfAgent: true }),
    ...(row.before === null ? {} : { givenBackUnder: Number(row.before) }),
  };
}

/**
 * Gives a claimed task back when it is certain that no byte of it was written, because the socket was closed before the
 * write. Only under the same fence, and only while it is `sent`. A session that waited for its user waits again.
 */
export async function unclaimTask(db: Db, taskId: string, fence: number): Promise<void> {
  await move(db, 'unclaim', sql`t.id = ${taskId} AND t.fence = ${fence}`);
}

/**
 * Gives back the tasks claimed under this fence and not written, when the reply to the claim was lost. `written` lists all
 * tasks that were written under this fence and have not ended; the caller has checked the fence and claims nothing meanwhile.
 */
export async function unclaimUnwritten(
  db: Db,
  deviceId: string,
  fence: number,
  written: readonly string[],
): Promise<void> {
  await move(db, 'unclaim', sql`t.device_id = ${deviceId} AND t.fence = ${fence} AND t.id <> ALL(${written}::text[])`);
}

/** sent → running: the daemon has confirmed it. False when it was not `sent`. */
export async function startRunning(db: Db, taskId: string): Promise<boolean> {
  return (await move(db, 'confirm', sql`t.id = ${taskId}`)).length > 0;
}

interface OpenTask {
  id: string;
  sessionKey: string;
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
    state: 'sent' | 'running';
    fence: bigint | null;
  }>`
    SELECT id, device_id, session_key, state, fence FROM tasks
    WHERE device_id = ANY(${sql.texts(deviceIds)}) AND state IN ${underWay}`;
  for (const row of rows) {
    const tasks = byDevice.get(row.device_id) ?? [];
    byDevice.set(row.device_id, tasks);
    tasks.push({ id: row.id, sessionKey: row.session_key, state: row.state, fence: Number(row.fence ?? 0) });
  }
  return byDevice;
}

/**
 * For how many seconds a task has waited for the relay alone, the longest of all: its device has been online since, and nothing in its session
 * changed. 0 without one. Reads every queued task: for one instance at a time.
 */
export async function longestWait(db: Db): Promise<number> {
  const [row] = await db.sql.query<{ seconds: number }>`
    SELECT COALESCE(max(extract(epoch FROM now() - GREATEST(t.created_at, s.updated_at,
      (SELECT max(c.connected_at) FROM device_connections c WHERE c.device_id = d.id)))), 0)::double precision AS seconds
    FROM tasks t JOIN sessions s ON s.key = t.session_key JOIN devices d ON d.id = t.device_id
    WHERE d.status = 'online' AND ${isNext}`;
  return Math.max(0, row!.seconds);
}

/** Returns those of these devices that have a task to claim or to expire. */
export async function devicesWithQueue(db: Db, deviceIds: readonly string[]): Promise<string[]> {
  if (deviceIds.length === 0) return [];
  const rows = await db.sql.query<{ device_id: string }>`
    SELECT DISTINCT device_id FROM tasks WHERE state = 'queued' AND device_id = ANY(${sql.texts(deviceIds)})`;
  return rows.map((row) => row.device_id);
}
