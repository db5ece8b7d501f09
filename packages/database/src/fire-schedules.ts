/**
 * Runs of schedules (rules, 26.20 to 26.24). The claim is the row of the run, unique for each schedule and time, in the transaction that creates
 * its task and moves the schedule on: a crash before the commit leaves nothing, and after it no instance makes the run again.
 */
import { limits } from '@relay/protocol';
import { addAuditEntry } from './audit.ts';
import { notifyOfMissed } from './notified-failures.ts';
import { type Released, enqueueLater, releaseLater } from './later.ts';
import { type PauseReason, type ScheduleRow, timesOf } from './schedules.ts';
import { timesBetween } from './schedule-times.ts';
import { SessionsFull, createSession } from './tasks.ts';
import type { Db, DeviceLock } from './transaction.ts';
import { watchSession } from './watches.ts';

const devicesAtOnce = 500;
const schedulesAtOnce = 100;
/** A time that is older is missed. */
const lateMs = 3_600_000;
/** A device that is online gets the message after this time at the latest. */
const leastWaitMs = 60_000;
/** The most times that the relay can have missed: runs are kept for 90 days, at most one each quarter of an hour. */
const mostMissed = 90 * 96;

/** Devices with a schedule whose time has come, the longest wait first. */
export async function devicesWithDueSchedules(db: Db): Promise<string[]> {
  const rows = await db.sql.query<{ device_id: string }>`
    SELECT device_id FROM schedules WHERE next_at <= now() GROUP BY device_id ORDER BY min(next_at) LIMIT ${devicesAtOnce}`;
  return rows.map((row) => row.device_id);
}

type Verdict = { state: 'started'; made: Released } | { state: 'missed' | 'skipped' | 'failed'; reason: string };

/** Messages that joined their queues, and sessions that changed with them. */
export interface Fired {
  released: Released[];
  moved: string[];
}

/** Makes the due runs of a device. `maxSessions`: the most sessions of it. */
export async function fireSchedules(db: Db, device: DeviceLock, maxSessions: number): Promise<Fired> {
  const rows = await dueOf(db, device.id);
  const made: Released[] = [];
  for (const row of rows) {
    const { now } = row;
    const paused = await pauseOf(db, row);
    if (paused) {
      await db.sql
        .execute`UPDATE schedules SET paused_for = ${paused}, next_at = NULL, updated_at = now() WHERE id = ${row.id}`;
      continue;
    }
    const times = dueTimes(row);
    const newest = times.at(-1)!;
    const isLate = now.getTime() - newest.getTime() > lateMs;
    await addMissed(db, row, isLate ? times : times.slice(0, -1), 'down');
    if (!isLate) {
      const one = await fireOne(db, device, row, { dueAt: newest, maxSessions });
      if (one) made.push(one);
    }
    await moveOn(db, row, now);
  }
  return release(db, device.id, made);
}

/** A run that a person asks for. Two within one millisecond are one. */
export async function runSchedule(
  db: Db,
  device: DeviceLock,
  row: ScheduleRow,
  maxSessions: number,
): Promise<Fired & { dueAt: Date }> {
  const [clock] = await db.sql.query<{ now: Date }>`SELECT now()`;
  const dueAt = clock!.now;
  const made = await fireOne(db, device, row, { dueAt, maxSessions, isManual: true });
  return { dueAt, ...(await release(db, device.id, made ? [made] : [])) };
}

/** Runs that continue a session are messages with a time that has come: they join their queues as any other. */
async function release(db: Db, deviceId: string, made: readonly Released[]): Promise<Fired> {
  if (made.length === 0) return { released: [], moved: [] };
  const { released, moved } = await releaseLater(db, deviceId);
  const joined = new Set(released.map(({ taskId }) => taskId));
  return { released: [...made.filter(({ taskId }) => !joined.has(taskId)), ...released], moved };
}

/**
 * The database was set back: each schedule of a device goes to its next time. The times before can have run in the time that is lost, and are
 * missed.
 */
export async function skipLostRuns(db: Db, deviceId: string): Promise<void> {
  for (const row of await dueOf(db, deviceId)) {
    await addMissed(db, row, dueTimes(row), 'set_back');
    await moveOn(db, row, row.now);
  }
}

type DueRow = ScheduleRow & { next_at: Date; now: Date };

const dueOf = (db: Db, deviceId: string) => db.sql.query<DueRow>`
  SELECT c.*, now() AS now FROM schedules c WHERE c.device_id = ${deviceId} AND c.next_at <= now()
  ORDER BY c.next_at, c.id LIMIT ${schedulesAtOnce} FOR UPDATE SKIP LOCKED`;

/** The times that have come, oldest first; at least one. */
function dueTimes(row: DueRow): Date[] {
  const { next_at: first, now, until_at: until } = row;
  const later = timesBetween(row, first, until && until < now ? until : now, mostMissed);
  return [first, ...later];
}

async function moveOn(db: Db, row: DueRow, now: Date): Promise<void> {
  const [fresh] = await db.sql.query<{ made: number }>`SELECT made FROM schedules WHERE id = ${row.id}`;
  const [next = null] = timesOf({ ...row, made: fresh!.made }, now, 1);
  await db.sql.execute`UPDATE schedules SET next_at = ${next} WHERE id = ${row.id} AND paused_for IS NULL`;
}

/** Why the schedule makes no run, if something took its right since it was made. */
async function pauseOf(db: Db, { owner_id: ownerId, session_key: key }: ScheduleRow): Promise<PauseReason | undefined> {
  const [state] = await db.sql.query<{ disabled: boolean; archived: boolean }>`
    SELECT EXISTS (SELECT 1 FROM users WHERE id = ${ownerId} AND disabled_at IS NOT NULL) AS disabled,
      EXISTS (SELECT 1 FROM sessions WHERE key = ${key} AND archived) AS archived`;
  if (state!.disabled) return 'account';
  return state!.archived ? 'archived' : undefined;
}

async function addMissed(db: Db, row: ScheduleRow, times: readonly Date[], reason: 'down' | 'set_back'): Promise<void> {
  if (times.length === 0) return;
  await db.sql.execute`
    INSERT INTO schedule_runs (schedule_id, due_at, owner_id, state, reason, ended_at)
    SELECT ${row.id}, due, ${row.owner_id}, 'missed', ${reason}, now() FROM unnest(${times.map((at) => at.toISOString())}::timestamptz[]) AS due
    ON CONFLICT DO NOTHING`;
  await settled(db, row, 'missed', reason);
}

/** Opens the item of the inbox for a missed run with a notification, and pauses a schedule that fails. */
async function settled(
  db: Db,
  row: ScheduleRow,
  state: 'missed' | 'skipped' | 'failed',
  reason: string,
): Promise<void> {
  if (state === 'missed') {
    await db.sql.query`SELECT relay_inbox_open(${row.owner_id}, 'missed', '', ${row.id}, ${reason}, NULL)`;
    await notifyOfMissed(db, row);
  }
  await db.sql.query`SELECT relay_schedule_failing(${row.id})`;
}

async function fireOne(
  db: Db,
  device: DeviceLock,
  row: ScheduleRow,
  { dueAt, maxSessions, isManual = false }: { dueAt: Date; maxSessions: number; isManual?: boolean },
): Promise<Released | undefined> {
  const hasOpen = await isOpen(db, row.id);
  const claimed = await db.sql.execute`
    INSERT INTO schedule_runs (schedule_id, due_at, owner_id, state, manual)
    VALUES (${row.id}, ${dueAt}, ${row.owner_id}, 'started', ${isManual}) ON CONFLICT DO NOTHING`;
  if (claimed === 0) return undefined;
  const verdict = hasOpen
    ? ({ state: 'skipped', reason: 'overlap' } as const)
    : await make(db, device, row, maxSessions);
  if (verdict.state !== 'started') {
    await db.sql.execute`
      UPDATE schedule_runs SET state = ${verdict.state}, reason = ${verdict.reason}, ended_at = now() WHERE schedule_id = ${row.id} AND due_at = ${dueAt}`;
    await settled(db, row, verdict.state, verdict.reason);
    return undefined;
  }
  const { taskId, sessionKey } = verdict.made;
  await db.sql.execute`
    UPDATE schedule_runs SET task_id = ${taskId}, session_key = ${sessionKey} WHERE schedule_id = ${row.id} AND due_at = ${dueAt}`;
  // The trigger of tasks settles the run by this word.
  await db.sql.execute`UPDATE tasks SET because = 'schedule' WHERE id = ${taskId}`;
  await db.sql.execute`UPDATE sessions SET schedule_id = ${row.id} WHERE key = ${sessionKey} AND placeholder`;
  if (!isManual) {
    await db.sql.execute`UPDATE schedules SET made = made + 1 WHERE id = ${row.id}`;
    const entry = { userId: row.owner_id, action: 'runSchedule', outcome: 'done', program: 'schedule', target: row.id };
    await addAuditEntry(db, entry);
  }
  return verdict.made;
}

/** A run of the schedule is queued, runs, or asks its person. */
async function isOpen(db: Db, id: string): Promise<boolean> {
  const [row] = await db.sql.query<{ open: boolean }>`
    SELECT EXISTS (SELECT 1 FROM schedule_runs r LEFT JOIN sessions s ON s.key = r.session_key
      WHERE r.schedule_id = ${id} AND (r.state = 'started' OR (r.state = 'asked' AND s.status IN ('waiting', 'active')))) AS open`;
  return row!.open;
}

/** Creates the session or the message of a run. */
async function make(db: Db, device: DeviceLock, row: ScheduleRow, maxSessions: number): Promise<Verdict> {
  const [state] = await db.sql.query<{ count: number; now: Date }>`
    SELECT now() AS now, count(*)::int AS count FROM schedule_runs
    WHERE owner_id = ${row.owner_id} AND task_id IS NOT NULL AND created_at > now() - interval '1 day'`;
  if (state!.count >= limits.runsOfDay) return { state: 'skipped', reason: 'budget' };
  if (row.wait_seconds === 0 && device.status !== 'online') return { state: 'missed', reason: 'offline' };
  const [next] = timesOf({ ...row, made: row.made + 1 }, state!.now, 1);
  const untilNextMs = next ? next.getTime() - state!.now.getTime() : Infinity;
  const ttlMs = Math.min(Math.max(row.wait_seconds * 1000, leastWaitMs), untilNextMs);
  const message = { ownerId: row.owner_id, deviceId: row.device_id, ttlMs };
  const settings = row.settings ? JSON.stringify(row.settings) : undefined;
  // Agents begin at depth 1. The daemon gets 0 as `unattended`.
  const agentDepth = row.dangerous ? {} : { agentDepth: 0 };
  if (row.session_key === null) {
    try {
      const { key, taskId } = await createSession(db, {
        ...{ ...message, agentType: row.agent_type, message: row.message, title: row.title ?? undefined },
        ...{ projectPath: row.project_path, settings, ...agentDepth, maxSessions },
      });
      await watchSession(db, row.owner_id, key, limits.watchedSessions);
      return { state: 'started', made: { sessionKey: key, taskId, content: row.message } };
    } catch (error) {
      if (!(error instanceof SessionsFull)) throw error;
      return { state: 'skipped', reason: 'sessions' };
    }
  }
  const { session_key: key } = row;
  const later = { ...message, key, content: row.message, settings, ...agentDepth, notBefore: state!.now };
  const taskId = await enqueueLater(db, later);
  if (taskId === undefined) return { state: 'failed', reason: 'SESSION_NOT_RESOLVED' };
  return { state: 'started', made: { sessionKey: key, taskId, content: row.message } };
}
