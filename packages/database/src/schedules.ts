/**
 * The noun schedule: a message that repeats (rules, 26.17 to 26.27), its runs, and the sweep that makes them. A trigger settles a run with its
 * task. Every write must run inside `withDevice`.
 */
import { type Schedule, type ScheduleRun, formatSessionId, limits } from '@relay/protocol';
import { oneAtATime } from './one-at-a-time.ts';
import { nextTimes } from './schedule-times.ts';
import { type Sql, sql } from './sql.ts';
import type { Db } from './transaction.ts';
import { newUlid } from './ulids.ts';

/** Why a schedule makes no run now. */
export type PauseReason = NonNullable<Schedule['pausedFor']>;

export interface ScheduleRow {
  id: string;
  owner_id: string;
  device_id: string;
  agent_type: string;
  project_path: string;
  session_key: string | null;
  title: string | null;
  message: string;
  settings: Schedule['settings'] | null;
  dangerous: boolean;
  cron: string;
  zone: string;
  from_at: Date | null;
  until_at: Date | null;
  times: number | null;
  made: number;
  wait_seconds: number;
  program: string | null;
  paused_for: PauseReason | null;
  next_at: Date | null;
  created_at: Date;
}

/** The bounds of a rule in time. */
type Bounded = Pick<ScheduleRow, 'cron' | 'zone' | 'from_at' | 'until_at' | 'times' | 'made'>;

/** The next times of a schedule after `after`, at most `count`. Empty: it is over. @throws InvalidRule */
export function timesOf(rule: Bounded, after: Date, count: number): Date[] {
  const { from_at: from, until_at: until, times, made } = rule;
  const most = times === null ? count : Math.min(count, times - made);
  if (most <= 0) return [];
  // The first time can be `from` itself.
  const begin = from && from > after ? new Date(from.getTime() - 1) : after;
  return nextTimes(rule, begin, most).filter((at) => !until || at <= until);
}

interface RunRow {
  due_at: Date;
  state: ScheduleRun['state'];
  reason: string | null;
  manual: boolean;
  task_id: string | null;
  created_at: Date;
  ended_at: Date | null;
  session_device: string | null;
  session_agent: string | null;
  native_id: string | null;
  last_message: string | null;
}

const runColumns = sql`r.due_at, r.state, r.reason, r.manual, r.task_id, r.created_at, r.ended_at, s.device_id AS session_device,
  s.agent_type AS session_agent, s.native_id, s.last_message`;
const sessionOfRun = sql`LEFT JOIN sessions s ON s.key = r.session_key AND s.deleted_at IS NULL`;
/** A run that begins so long after its time is late. */
const lateMs = 60_000;

function toRun(row: RunRow): ScheduleRun {
  const afterMs = row.created_at.getTime() - row.due_at.getTime();
  const { session_device: deviceId, session_agent: agentType, native_id: nativeId } = row;
  const hasSession = deviceId !== null && agentType !== null && nativeId !== null;
  return {
    dueAt: row.due_at.toISOString(),
    state: row.state,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.manual ? { manual: true as const } : {}),
    ...(row.task_id !== null && afterMs >= lateMs ? { lateSeconds: Math.floor(afterMs / 1000) } : {}),
    ...(row.task_id === null ? {} : { taskId: row.task_id }),
    ...(hasSession ? { sessionId: formatSessionId({ deviceId, agentType, nativeId }) } : {}),
    ...(hasSession && row.last_message ? { lastMessage: row.last_message } : {}),
    ...(row.ended_at ? { endedAt: row.ended_at.toISOString() } : {}),
  };
}

/** Schedules of a person, the next one first. `which`: SQL about `c`. */
export async function readSchedules(db: Db, ownerId: string, which: Sql = sql`true`): Promise<Schedule[]> {
  const rows = await db.sql.query<ScheduleRow & { session_id: string | null; last: RunJson | null; now: Date }>`
    SELECT c.*, now() AS now, o.device_id || ':' || o.agent_type || ':' || o.native_id AS session_id, row_to_json(l) AS last
    FROM schedules c LEFT JOIN sessions o ON o.key = c.session_key AND o.deleted_at IS NULL
      LEFT JOIN LATERAL (SELECT ${runColumns} FROM schedule_runs r ${sessionOfRun} WHERE r.schedule_id = c.id ORDER BY r.due_at DESC LIMIT 1) l ON true
    WHERE c.owner_id = ${ownerId} AND ${which} ORDER BY c.next_at NULLS LAST, c.created_at LIMIT ${limits.schedules}`;
  return rows.map((row) => {
    const next = row.next_at ? [row.next_at, ...timesOf({ ...row, made: row.made + 1 }, row.next_at, 2)] : [];
    const optional = {
      sessionId: row.session_id ?? undefined,
      title: row.title ?? undefined,
      settings: row.settings ?? undefined,
      dangerous: row.dangerous || undefined,
      from: row.from_at?.toISOString(),
      until: row.until_at?.toISOString(),
      times: row.times ?? undefined,
      program: row.program ?? undefined,
      pausedFor: row.paused_for ?? undefined,
      nextAt: row.next_at?.toISOString(),
      lastRun: row.last ? toRun(runOfJson(row.last)) : undefined,
    };
    return {
      id: row.id,
      deviceId: row.device_id,
      agentType: row.agent_type,
      projectPath: row.project_path,
      message: row.message,
      cron: row.cron,
      zone: row.zone,
      waitSeconds: row.wait_seconds,
      paused: row.paused_for !== null,
      next: next.map((at) => at.toISOString()),
      createdAt: row.created_at.toISOString(),
      ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as Partial<Schedule>),
    };
  });
}

type RunJson = Omit<RunRow, 'due_at' | 'created_at' | 'ended_at'> & {
  due_at: string;
  created_at: string;
  ended_at: string | null;
};
const runOfJson = (row: RunJson): RunRow => ({
  ...row,
  due_at: new Date(row.due_at),
  created_at: new Date(row.created_at),
  ended_at: row.ended_at === null ? null : new Date(row.ended_at),
});

export const scheduleById = async (db: Db, ownerId: string, id: string): Promise<Schedule | undefined> =>
  (await readSchedules(db, ownerId, sql`c.id = ${id}`))[0];

/** The number of schedules of a person, and of messages whose time has not come. */
export async function countLater(db: Db, ownerId: string): Promise<number> {
  const [row] = await db.sql.query<{ count: number }>`
    SELECT ((SELECT count(*) FROM schedules WHERE owner_id = ${ownerId})
      + (SELECT count(*) FROM tasks WHERE owner_id = ${ownerId} AND state = 'later'))::int AS count`;
  return row!.count;
}

/** The row of a schedule of this person; undefined if it does not exist. */
export async function findSchedule(db: Db, ownerId: string, id: string): Promise<ScheduleRow | undefined> {
  const [row] = await db.sql
    .query<ScheduleRow>`SELECT c.* FROM schedules c WHERE c.id = ${id} AND c.owner_id = ${ownerId}`;
  return row;
}

/** The newest runs of a schedule, newest first. */
export async function listRuns(db: Db, ownerId: string, id: string): Promise<ScheduleRun[]> {
  const rows = await db.sql.query<RunRow>`
    SELECT ${runColumns} FROM schedule_runs r ${sessionOfRun} WHERE r.schedule_id = ${id} AND r.owner_id = ${ownerId}
    ORDER BY r.due_at DESC LIMIT ${limits.runsListed}`;
  return rows.map(toRun);
}

/** Whether a person has the maximum of schedules; counted under a lock of the person. */
export async function hasTooManySchedules(db: Db, ownerId: string): Promise<boolean> {
  await oneAtATime(db, 'schedules', ownerId);
  const [row] = await db.sql.query<{
    count: number;
  }>`SELECT count(*)::int AS count FROM schedules WHERE owner_id = ${ownerId}`;
  return row!.count >= limits.schedules;
}

/** The fields of a schedule that a person chooses. */
export interface ScheduleFields {
  agentType: string;
  projectPath: string;
  sessionKey: string | null;
  title: string | null;
  message: string;
  /** A JSON array. */
  settings: string | null;
  dangerous: boolean;
  cron: string;
  zone: string;
  from: Date | null;
  until: Date | null;
  times: number | null;
  waitSeconds: number;
  isPaused: boolean;
}

/** The next time after the clock of PostgreSQL, which also decides when it has come (ADR 92). */
async function nextOf(db: Db, fields: ScheduleFields, made: number): Promise<Date | null> {
  const { cron, zone, from, until, times, isPaused } = fields;
  if (isPaused) return null;
  const [clock] = await db.sql.query<{ now: Date }>`SELECT now()`;
  return timesOf({ cron, zone, from_at: from, until_at: until, times, made }, clock!.now, 1)[0] ?? null;
}

export async function addSchedule(
  db: Db,
  about: { ownerId: string; deviceId: string; program: string | null },
  fields: ScheduleFields,
): Promise<string> {
  const id = newUlid();
  const next = await nextOf(db, fields, 0);
  await db.sql.execute`
    INSERT INTO schedules (id, owner_id, device_id, agent_type, project_path, session_key, title, message, settings, dangerous, cron, zone, from_at,
      until_at, times, wait_seconds, program, paused_for, next_at)
    VALUES (${id}, ${about.ownerId}, ${about.deviceId}, ${fields.agentType}, ${fields.projectPath}, ${fields.sessionKey}, ${fields.title},
      ${fields.message}, ${fields.settings}::jsonb, ${fields.dangerous}, ${fields.cron}, ${fields.zone}, ${fields.from}, ${fields.until}, ${fields.times},
      ${fields.waitSeconds}, ${about.program}, ${fields.isPaused ? 'person' : null}, ${next})`;
  return id;
}

/** Replaces the fields of a schedule. Its next time follows from now, and failures in a row count from now. */
export async function changeSchedule(db: Db, before: ScheduleRow, fields: ScheduleFields): Promise<void> {
  const pausedFor = fields.isPaused ? (before.paused_for ?? 'person') : null;
  const next = await nextOf(db, fields, before.made);
  await db.sql.execute`
    UPDATE schedules SET agent_type = ${fields.agentType}, project_path = ${fields.projectPath}, title = ${fields.title}, message = ${fields.message},
      settings = ${fields.settings}::jsonb, dangerous = ${fields.dangerous}, cron = ${fields.cron}, zone = ${fields.zone}, from_at = ${fields.from},
      until_at = ${fields.until}, times = ${fields.times}, wait_seconds = ${fields.waitSeconds}, paused_for = ${pausedFor},
      next_at = ${next}, counts_from = now(), updated_at = now()
    WHERE id = ${before.id}`;
}

/** A session was archived: its schedules make no more runs. */
export async function pauseArchived(db: Db, sessionKey: string): Promise<void> {
  await db.sql.execute`
    UPDATE schedules SET paused_for = 'archived', next_at = NULL, updated_at = now()
    WHERE session_key = ${sessionKey} AND paused_for IS NULL`;
}

/** Removes a schedule, its runs and its item of the inbox. Returns false if it does not exist. */
export async function removeSchedule(db: Db, ownerId: string, id: string): Promise<boolean> {
  const count = await db.sql.execute`DELETE FROM schedules WHERE id = ${id} AND owner_id = ${ownerId}`;
  await db.sql.execute`
    UPDATE inbox_items SET state = 'closed', version = 0, closed_at = now(), closed_by = 'removed', snoozed_until = NULL
    WHERE user_id = ${ownerId} AND kind = 'missed' AND session_key = '' AND subject = ${id} AND state <> 'closed'`;
  return count > 0;
}
