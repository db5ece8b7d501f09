/**
 * Everything that is kept of a person, in pages: memory does not grow with the data of a person (rules, 8.16). No secrets, no
 * hashes, and nothing that was deleted.
 */
import { formatSessionId } from '@relay/protocol';
import { listApplications } from './accounts.ts';
import { listAudit } from './audit.ts';
import { attachedIn } from './attached.ts';
import { listAcpTokens } from './acp-tokens.ts';
import { listDeviceKeys } from './device-keys.ts';
import { listConnections, listDevices } from './devices.ts';
import type { Prisma } from './generated/prisma/client.ts';
import { readChoices } from './notification-settings.ts';
import { listNotifications } from './notifications.ts';
import { listPasskeys } from './passkeys.ts';
import { type SessionRow, sessionSelect, toSessionRecord } from './sessions.ts';
import { listRuns, readSchedules } from './schedules.ts';
import type { Whole } from './transaction.ts';
import { listSubscriptions } from './subscriptions.ts';
import { listWatches } from './watches.ts';

const rowsAtOnce = 200;
const sessionsAtOnce = 100;
/** Results of up to 256 KiB. */
const tasksAtOnce = 10;

/** Absent instead of null. */
const given = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** The account of the built-in sign-in; undefined when another service knows this person. */
export async function readAccount(db: Whole, userId: string) {
  const user = await db.models.user.findUnique({ where: { id: userId } });
  if (!user) return undefined;
  const { id, email, name, createdAt, twoFactorEnabled: secondFactor } = user;
  return { id, email, name, createdAt: createdAt.toISOString(), secondFactor };
}

export async function listSignInMethods(db: Whole, userId: string): Promise<string[]> {
  const rows = await db.models.credential.findMany({ where: { userId }, select: { providerId: true }, take: 100 });
  return rows.map(({ providerId }) => providerId);
}

/** All pages of a table that is read in the order of its ids. */
async function* pages<R extends { id: string }>(read: (afterId: string) => Promise<R[]>): AsyncGenerator<R> {
  for (let afterId = ''; ;) {
    const rows = await read(afterId);
    yield* rows;
    if (rows.length < rowsAtOnce) return;
    afterId = rows.at(-1)!.id;
  }
}

const page = (afterId: string) => ({ id: { gt: afterId } });
const inOrder = { orderBy: { id: 'asc' }, take: rowsAtOnce } as const;

export async function* exportSignIns(db: Whole, userId: string) {
  const rows = pages((after) => db.models.login.findMany({ where: { userId, ...page(after) }, ...inOrder }));
  for await (const { createdAt, expiresAt, ipAddress: address, userAgent: browser } of rows)
    yield { createdAt, expiresAt, ...given({ address, browser }) };
}

export async function* exportPasskeys(db: Whole, userId: string) {
  for (const { id: _id, ...passkey } of await listPasskeys(db, userId)) yield passkey;
}

export async function* exportApplications(db: Whole, userId: string) {
  for (const { offline: _offline, ...application } of await listApplications(db, userId)) yield application;
}

export async function* exportInvitations(db: Whole, userId: string) {
  const where = { createdBy: userId, kind: 'invite' };
  const rows = pages((after) => db.models.invitation.findMany({ where: { ...where, ...page(after) }, ...inOrder }));
  for await (const { createdAt, expiresAt, usedAt } of rows) yield { createdAt, ...given({ expiresAt, usedAt }) };
}

export async function* exportRegistrations(db: Whole, userId: string) {
  const rows = await db.models.deviceCode.findMany({
    where: { OR: [{ boundTo: userId }, { decidedBy: userId }] },
    orderBy: { createdAt: 'asc' },
    take: 1000,
  });
  for (const { hostname, deviceName, agentType, requestedFrom, createdAt: requestedAt, state } of rows)
    yield { hostname, deviceName, agentType, requestedFrom, requestedAt, state };
}

export async function* exportAudit(db: Whole, userId: string) {
  for (let before: { at: Date; id: string } | undefined; ;) {
    const rows = await listAudit(db, userId, rowsAtOnce, before);
    yield* rows.slice(0, rowsAtOnce);
    const last = rows[rowsAtOnce - 1];
    if (rows.length <= rowsAtOnce || !last) return;
    before = { at: new Date(last.at), id: last.id };
  }
}

export async function* exportDeviceKeys(db: Whole, userId: string) {
  yield* await listDeviceKeys(db, userId);
}

export async function* exportAcpTokens(db: Whole, userId: string) {
  yield* await listAcpTokens(db, userId);
}

export async function* exportDevices(db: Whole, userId: string) {
  for (const device of await listDevices(db, userId)) {
    const where = { deviceId: device.id };
    const { createdAt } = await db.models.device.findUniqueOrThrow({ where: { id: device.id } });
    const ofSessions = await db.models.slashCommands.findMany({ where });
    const ofProjects = await db.models.slashCommandSet.findMany({ where });
    yield {
      ...device,
      createdAt,
      connections: await listConnections(db, device.id),
      commands: [
        ...ofSessions.map(({ nativeId, commands }) => ({ ...given({ sessionId: nativeId || null }), commands })),
        ...ofProjects.map(({ project, commands }) => ({ project, commands })),
      ],
    };
  }
}

async function* sessionPages(db: Whole, userId: string): AsyncGenerator<SessionRow[]> {
  for (let after = ''; ;) {
    const rows = await db.sql.query<SessionRow>`
      ${sessionSelect} WHERE s.owner_id = ${userId} AND s.deleted_at IS NULL AND s.key > ${after}
      ORDER BY s.key LIMIT ${sessionsAtOnce}`;
    yield rows;
    if (rows.length < sessionsAtOnce) return;
    after = rows.at(-1)!.key;
  }
}

const idOf = (row: { device_id: string; agent_type: string; native_id: string }) =>
  formatSessionId({ deviceId: row.device_id, agentType: row.agent_type, nativeId: row.native_id });

export async function* exportSessions(db: Whole, userId: string) {
  for await (const rows of sessionPages(db, userId)) {
    const aliases = await db.models.sessionAlias.findMany({
      where: { sessionKey: { in: rows.map(({ key }) => key) } },
    });
    for (const row of rows) {
      const { session, filePath } = toSessionRecord(row);
      const earlierIds = aliases
        .filter(({ sessionKey }) => sessionKey === row.key)
        .map((alias) => formatSessionId(alias));
      yield { ...session, filePath, earlierIds };
    }
  }
}

/** Tasks of the sessions, by session. */
export async function* exportTasks(db: Whole, userId: string) {
  for await (const sessions of sessionPages(db, userId)) {
    const ids = new Map(sessions.map((row) => [row.key, idOf(row)]));
    for (let after = { sessionKey: '', seq: 0n }; ;) {
      const rows = await db.models.task.findMany({
        where: {
          sessionKey: { in: [...ids.keys()] },
          OR: [{ sessionKey: { gt: after.sessionKey } }, { sessionKey: after.sessionKey, seq: { gt: after.seq } }],
        },
        orderBy: [{ sessionKey: 'asc' }, { seq: 'asc' }],
        take: tasksAtOnce,
        omit: { images: true },
      });
      for (const task of rows)
        yield { ...exported(task, ids.get(task.sessionKey) ?? ''), ...(await attachedOf(db, task)) };
      if (rows.length < tasksAtOnce) break;
      after = rows.at(-1)!;
    }
  }
}

function exported(task: Prisma.TaskGetPayload<{ omit: { images: true } }>, sessionId: string) {
  const { id, kind, state, createdAt, sentAt, finishedAt, instruction, result, errorCode, errorText, note } = task;
  const error = errorCode === null && errorText === null ? null : { code: errorCode ?? '', error: errorText ?? '' };
  const kept = instruction === '' ? null : instruction;
  return {
    id,
    sessionId,
    kind,
    state,
    createdAt,
    ...given({ sentAt, finishedAt, instruction: kept, result, error, note }),
  };
}

/** One task at a time: a message can have 10 MiB of images. */
async function attachedOf(db: Whole, { id, finishedAt }: { id: string; finishedAt: Date | null }) {
  if (finishedAt !== null) return {};
  const task = await db.models.task.findUnique({ where: { id }, select: { images: true } });
  return attachedIn(task?.images ?? '[]');
}

/** Questions that are open or were closed within 30 days; the text of an open one is with its session. */
export async function* exportQuestions(db: Whole, userId: string) {
  for (let after = 0n; ;) {
    const rows = await db.models.prompt.findMany({
      where: { seq: { gt: after }, session: { ownerId: userId, deletedAt: null } },
      orderBy: { seq: 'asc' },
      take: rowsAtOnce,
      include: { session: { select: { deviceId: true, agentType: true, nativeId: true } } },
    });
    for (const { uuid: id, state, askedAt, answeredAt, optionId: option, session } of rows)
      yield { id, sessionId: formatSessionId(session), state, askedAt, ...given({ answeredAt, option }) };
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)!.seq;
  }
}

/** Schedules with their newest runs. */
export async function* exportSchedules(db: Whole, userId: string) {
  for (const schedule of await readSchedules(db, userId)) {
    const { lastRun: _lastRun, next: _next, ...kept } = schedule;
    yield { ...kept, runs: await listRuns(db, userId, schedule.id) };
  }
}

export async function* exportWatches(db: Whole, userId: string) {
  for (const { sessionId } of await listWatches(db, userId)) yield sessionId;
}

export async function* exportNotifications(db: Whole, userId: string) {
  for (let after: { createdAt: Date; id: string } | undefined; ;) {
    const rows = await listNotifications(db, userId, rowsAtOnce, after);
    const shown = rows.slice(0, rowsAtOnce);
    yield* shown;
    if (rows.length <= rowsAtOnce) return;
    const last = shown.at(-1)!;
    after = { createdAt: new Date(last.createdAt), id: last.id };
  }
}

/** Inbox items that wait, or were closed within 30 days; their subjects are with sessions, tasks and devices. */
export async function* exportInbox(db: Whole, userId: string) {
  const rows = pages((after) => db.models.inboxItem.findMany({ where: { userId, ...page(after) }, ...inOrder }));
  for await (const { id, kind, state, createdAt, snoozedUntil, closedAt, closedBy } of rows)
    yield { id, kind, state, createdAt, ...given({ snoozedUntil, closedAt, closedBy }) };
}

export async function* exportSubscriptions(db: Whole, userId: string) {
  for (const { subscription } of await listSubscriptions(db, userId)) yield subscription;
}

export async function* exportNotificationSettings(db: Whole, userId: string) {
  const { causes, quietHours } = await readChoices(db, userId);
  if (quietHours !== null || Object.keys(causes).length > 0) yield { causes, ...given({ quietHours }) };
}

export async function* exportRequests(db: Whole, userId: string) {
  for (let after = { route: '', key: '' }; ;) {
    const rows = await db.sql.query<{ route: string; key: string; status: number; created_at: Date }>`
      SELECT route, key, status, created_at FROM idempotency_keys
      WHERE user_id = ${userId} AND (route, key) > (${after.route}, ${after.key}) ORDER BY route, key LIMIT ${rowsAtOnce}`;
    for (const { route, key, status, created_at: createdAt } of rows) yield { route, key, status, createdAt };
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)!;
  }
}
