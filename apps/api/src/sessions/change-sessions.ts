/** POST /api/sessions/bulk (rules, 6.25): archives or deletes the sessions that match a filter, a bounded number per call. */
import {
  type Db,
  type SessionFilter,
  deleteSession,
  findSession,
  findSessions,
  readSessions,
  updateSession,
  withDevice,
} from '@relay/database';
import { type ChangeSessions, type ChangedSessions, limits } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { forgetHistory } from './forget-history.ts';
import { publishCount } from './schedules.ts';

/** Sessions per transaction: other work on the device waits no longer than that. */
const atOnce = 10;

export async function changeSessions(
  deps: Operations,
  userId: string,
  { action, filter }: ChangeSessions,
): Promise<ChangedSessions> {
  const { database } = deps;
  const { before, archived = 'false', ids, ...others } = filter;
  const wanted: SessionFilter = {
    ...others,
    ...(before === undefined ? {} : { before: new Date(before) }),
    archived: action === 'archive' ? 'false' : action === 'unarchive' ? 'true' : archived,
    ...(ids === undefined ? {} : { keys: await keysOf(database, userId, ids) }),
  };
  const found = await findSessions(database, userId, wanted, limits.bulkSessions + 1);
  const now = found.slice(0, limits.bulkSessions);
  let changed = 0;
  try {
    for (const deviceId of new Set(now.map((session) => session.deviceId))) {
      const ofDevice = now.filter((session) => session.deviceId === deviceId).map(({ key }) => key);
      for (let at = 0; at < ofDevice.length; at += atOnce) {
        const keys = ofDevice.slice(at, at + atOnce);
        // Again under the lock: a session used in between no longer matches the filter.
        const done = await withDevice(database, deviceId, async (tx) => {
          const still = (await findSessions(tx, userId, { ...wanted, keys }, atOnce)).map(({ key }) => key);
          return action === 'delete' ? remove(tx, still) : { archived: await archive(tx, still, action === 'archive') };
        });
        changed += 'archived' in done ? done.archived.length : done.removed.length;
        await sendCommands(deps, userId, deviceId, done);
      }
    }
  } finally {
    // Also of a part, when the rest fails.
    if (action === 'delete' && changed > 0) await forgetHistory(deps, userId);
    if (action === 'archive' && changed > 0) await publishCount(deps, userId);
  }
  return { changed, more: found.length > limits.bulkSessions };
}

/** Ids that mean no session of the person are left out. */
async function keysOf(db: Db, userId: string, ids: readonly string[]): Promise<string[]> {
  const keys: string[] = [];
  for (const id of ids) keys.push(...[await findSession(db, userId, id)].flatMap((record) => record?.key ?? []));
  return keys;
}

type Records = Awaited<ReturnType<typeof readSessions>>;
type Done = { archived: Records } | { removed: Records; running: string[] };

async function archive(tx: Db, keys: readonly string[], archived: boolean): Promise<Records> {
  for (const key of keys) await updateSession(tx, key, { archived });
  return readSessions(tx, keys);
}

async function remove(tx: Db, keys: readonly string[]): Promise<{ removed: Records; running: string[] }> {
  const removed = await readSessions(tx, keys);
  const running: string[] = [];
  for (const key of keys) running.push(...[await deleteSession(tx, key)].flatMap((taskId) => taskId ?? []));
  return { removed, running };
}

async function sendCommands(deps: Operations, userId: string, deviceId: string, done: Done): Promise<void> {
  const records = 'archived' in done ? done.archived : done.removed;
  for (const { key } of records) deps.sendCommand(deviceId, { v: 1, kind: 'changed', sessionKey: key });
  if ('archived' in done) {
    for (const record of records) await deps.publisher.session(record);
    return;
  }
  for (const taskId of done.running) deps.sendCommand(deviceId, { v: 1, kind: 'cancel', taskId });
  for (const { session } of records)
    await deps.publisher.append(userId, { type: 'session_removed', sessionId: session.id }, 'x');
}
