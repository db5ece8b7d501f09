/** /api/schedules (rules, 26.17 to 26.27): messages that repeat. Changes hold the lock of the device, as runs do. */
import type { UserPrincipal } from '@relay/auth';
import {
  type Db,
  type DeviceLock,
  type ScheduleFields,
  type ScheduleRow,
  InvalidRule,
  addSchedule,
  agentTypesOf,
  changeSchedule as writeSchedule,
  countLater,
  findSchedule,
  findSession,
  hasTooManySchedules,
  isTooOften,
  listRuns,
  nextTimes,
  readSessions,
  removeSchedule,
  runSchedule as makeRun,
  scheduleById,
  withDevice,
} from '@relay/database';
import {
  type ChangeSchedule,
  type CreateSchedule,
  RelayError,
  type Schedule,
  type ScheduleRun,
  type ScheduleRuns,
  type ScheduleTimes,
  limits,
} from '@relay/protocol';
import { message, newMessage } from '@relay/attention';
import { userItemUuid } from '@relay/protocol/identity';
import { requireRecentSignIn } from '../account/recent-sign-in.ts';
import type { Operations } from '../deps.ts';
import { requireText } from '../devices/names.ts';
import { checkMessage } from './accept.ts';
import { requireControls } from './settings.ts';

const missing = () => new RelayError('SCHEDULE_NOT_FOUND');

/** @throws RelayError INVALID_SCHEDULE, SCHEDULE_TOO_OFTEN */
function checkRule(rule: { cron: string; zone: string }): void {
  try {
    if (!isTooOften(rule, new Date(), limits.scheduleApartMs)) return;
  } catch (error) {
    if (error instanceof InvalidRule) throw new RelayError('INVALID_SCHEDULE', error.message);
    throw error;
  }
  throw new RelayError('SCHEDULE_TOO_OFTEN');
}

/** @throws RelayError INVALID_SCHEDULE, SCHEDULE_TOO_OFTEN */
export function previewSchedule(rule: { cron: string; zone: string }): ScheduleTimes {
  checkRule(rule);
  return { next: nextTimes(rule, new Date(), 3).map((at) => at.toISOString()) };
}

const timeOf = (text: string | null | undefined): Date | null => {
  if (text === null || text === undefined) return null;
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) throw new RelayError('INVALID_REQUEST', '"from" and "until" must be times.');
  return at;
};

/** @throws RelayError AGENT_NOT_OFFERED */
async function requireAgent(tx: Db, device: DeviceLock, agentType: string): Promise<void> {
  if ((await agentTypesOf(tx, device)).includes(agentType)) return;
  throw new RelayError('AGENT_NOT_OFFERED');
}

const titleOf = (title: string | null | undefined): string | null => {
  requireText(title, 'title');
  return title?.trim() ?? null;
};

/**
 * @throws RelayError DEVICE_NOT_FOUND, SESSION_NOT_FOUND, TOO_MANY_SCHEDULES, INVALID_SCHEDULE, SCHEDULE_TOO_OFTEN, AGENT_NOT_OFFERED,
 *   NOT_SUPPORTED_BY_DEVICE, PAYLOAD_TOO_LARGE, SIGN_IN_NOT_RECENT
 */
export async function createSchedule(
  deps: Operations,
  principal: UserPrincipal,
  body: CreateSchedule,
): Promise<Schedule> {
  const { userId } = principal;
  checkMessage(body.message, 'message');
  checkRule(body);
  if (body.dangerous === true) await requireRecentSignIn(deps, principal);
  const id = await withDevice(deps.database, body.deviceId, async (tx, device) => {
    if (device?.ownerId !== userId) throw new RelayError('DEVICE_NOT_FOUND');
    const session = body.sessionId === undefined ? undefined : await findSession(tx, userId, body.sessionId);
    if (body.sessionId !== undefined && session?.session.deviceId !== device.id)
      throw new RelayError('SESSION_NOT_FOUND');
    const agentType = session?.session.agentType ?? body.agentType ?? device.agentType;
    await requireAgent(tx, device, agentType);
    const settings = (await requireControls(tx, device.id, body.settings)) ?? null;
    if (await hasTooManySchedules(tx, userId)) throw new RelayError('TOO_MANY_SCHEDULES');
    const about = { ownerId: userId, deviceId: device.id, program: principal.clientId ?? null };
    return addSchedule(tx, about, {
      ...{
        agentType,
        settings,
        sessionKey: session?.key ?? null,
        message: body.message,
        cron: body.cron,
        zone: body.zone,
      },
      ...{ projectPath: body.projectPath ?? '', title: titleOf(body.title), dangerous: body.dangerous === true },
      ...{ from: timeOf(body.from), until: timeOf(body.until), times: body.times ?? null },
      ...{ waitSeconds: body.waitSeconds, isPaused: body.paused === true },
    });
  });
  return changed(deps, userId, id);
}

/** Apps read the schedules again. */
export async function publishCount({ database, publisher }: Operations, userId: string): Promise<void> {
  await publisher.append(userId, { type: 'later_changed', count: await countLater(database, userId) }, 'x');
}

async function changed(deps: Operations, userId: string, id: string): Promise<Schedule> {
  await publishCount(deps, userId);
  return readSchedule(deps, userId, id);
}

/** @throws RelayError SCHEDULE_NOT_FOUND */
export async function readSchedule({ database }: Operations, userId: string, id: string): Promise<Schedule> {
  const schedule = await scheduleById(database, userId, id);
  if (!schedule) throw missing();
  return schedule;
}

/** Runs `work` under the lock of the device of a schedule. @throws RelayError SCHEDULE_NOT_FOUND */
async function withSchedule<T>(
  { database }: Operations,
  userId: string,
  id: string,
  work: (tx: Db, row: ScheduleRow, device: DeviceLock) => Promise<T>,
): Promise<T> {
  const place = await findSchedule(database, userId, id);
  if (!place) throw missing();
  return withDevice(database, place.device_id, async (tx, device) => {
    const row = await findSchedule(tx, userId, id);
    if (!row || !device) throw missing();
    return work(tx, row, device);
  });
}

/** @throws RelayError SCHEDULE_NOT_FOUND, and as `createSchedule` */
export async function changeSchedule(
  deps: Operations,
  principal: UserPrincipal,
  id: string,
  body: ChangeSchedule,
): Promise<Schedule> {
  const { userId } = principal;
  if (body.message !== undefined) checkMessage(body.message, 'message');
  if (body.dangerous === true) await requireRecentSignIn(deps, principal);
  await withSchedule(deps, userId, id, async (tx, row, device) => {
    const { cron = row.cron, zone = row.zone } = body;
    checkRule({ cron, zone });
    const agentType = row.session_key === null ? (body.agentType ?? row.agent_type) : row.agent_type;
    if (body.agentType !== undefined) await requireAgent(tx, device, agentType);
    const before = row.settings ? JSON.stringify(row.settings) : null;
    const fields: ScheduleFields = {
      ...{ agentType, cron, zone, sessionKey: row.session_key, message: body.message ?? row.message },
      projectPath: body.projectPath ?? row.project_path,
      title: body.title === undefined ? row.title : titleOf(body.title),
      settings: body.settings === undefined ? before : ((await requireControls(tx, device.id, body.settings)) ?? null),
      // Other settings are another decision.
      dangerous: body.dangerous ?? (body.settings === undefined && body.agentType === undefined && row.dangerous),
      from: body.from === undefined ? row.from_at : timeOf(body.from),
      until: body.until === undefined ? row.until_at : timeOf(body.until),
      times: body.times === undefined ? row.times : body.times,
      waitSeconds: body.waitSeconds ?? row.wait_seconds,
      isPaused: body.paused ?? row.paused_for !== null,
    };
    await writeSchedule(tx, row, fields);
  });
  return changed(deps, userId, id);
}

/** @throws RelayError SCHEDULE_NOT_FOUND */
export async function deleteSchedule(deps: Operations, userId: string, id: string): Promise<void> {
  await withSchedule(deps, userId, id, (tx) => removeSchedule(tx, userId, id));
  await publishCount(deps, userId);
}

/** A run beside the times of the rule. @throws RelayError SCHEDULE_NOT_FOUND */
export async function runSchedule(deps: Operations, userId: string, id: string): Promise<ScheduleRun> {
  const { database, publisher } = deps;
  const { sessionsPerDevice } = deps.config;
  const { deviceId, dueAt, released, moved } = await withSchedule(deps, userId, id, async (tx, row, device) => ({
    ...(await makeRun(tx, device, row, sessionsPerDevice)),
    deviceId: device.id,
  }));
  await publisher.sessions([...moved, ...released.map(({ sessionKey }) => sessionKey)]);
  for (const { sessionKey, taskId, content } of released) {
    const [record] = await readSessions(database, [sessionKey]);
    if (!record) continue;
    const userMessage = message(userItemUuid(taskId), 'USER', content, record.session.updatedAt);
    await publisher.markPublished(userId, sessionKey, { role: 'USER', content, uuid: userMessage.uuid });
    await publisher.append(userId, newMessage(record.session.id, userMessage));
  }
  if (released.length > 0) deps.sendCommand(deviceId, { v: 1, kind: 'wake' });
  await publishCount(deps, userId);
  const run = (await listRuns(database, userId, id)).find((one) => one.dueAt === dueAt.toISOString());
  if (!run) throw missing();
  return run;
}

/** @throws RelayError SCHEDULE_NOT_FOUND */
export async function listScheduleRuns(deps: Operations, userId: string, id: string): Promise<ScheduleRuns> {
  if (!(await findSchedule(deps.database, userId, id))) throw missing();
  return { runs: await listRuns(deps.database, userId, id) };
}
