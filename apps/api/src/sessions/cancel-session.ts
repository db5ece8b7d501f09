/** POST /api/sessions/:id/cancel (rules, 2.9): cancels the task at once; the daemon is notified and never acknowledges. */
import { cancelTask, readSessions, withdrawQueued } from '@relay/database';
import { type CancelSession, type CancelledTask, RelayError } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { withSession } from './find.ts';

/** @throws RelayError SESSION_NOT_FOUND, NO_RUNNING_TASK */
export async function cancelSession(
  deps: Operations,
  userId: string,
  sessionId: string,
  { which, taskId: only }: CancelSession = {},
): Promise<CancelledTask> {
  const done = await withSession(deps.database, userId, sessionId, async (tx, { key, session: { deviceId } }) => {
    // Waiting tasks first, so that they cannot take the place of the running one.
    const queued = which === 'all' && only === undefined ? await withdrawQueued(tx, key) : [];
    const cancelled = await cancelTask(tx, key, { onlyRunning: which === 'running', only });
    const [record] = await readSessions(tx, [key]);
    return { queued, cancelled, record, deviceId };
  });
  const { queued, cancelled, record, deviceId } = done;
  // Even then a stalled queue can continue.
  deps.sendCommand(
    deviceId,
    cancelled?.daemonHasIt ? { v: 1, kind: 'cancel', taskId: cancelled.taskId } : { v: 1, kind: 'wake' },
  );
  const taskId = cancelled?.taskId ?? queued[0];
  if (taskId === undefined) throw new RelayError('NO_RUNNING_TASK');
  if (record) await deps.publisher.session(record);
  return { taskId, state: 'cancelled', ...(which === 'all' ? { queued } : {}) };
}
