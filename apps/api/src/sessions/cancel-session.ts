/** POST /api/sessions/:id/cancel (rules, 2.9): the task is cancelled at once; the daemon is told and never acknowledges. */
import { cancelTask, readSessions } from '@relay/database';
import { RelayError } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { withSession } from './find.ts';

/** @throws RelayError SESSION_NOT_FOUND, NO_RUNNING_TASK */
export async function cancelSession(
  deps: Operations,
  userId: string,
  sessionId: string,
): Promise<{ taskId: string; state: 'cancelled' }> {
  const { cancelled, record, deviceId } = await withSession(deps.database, userId, sessionId, async (tx, found) => {
    const cancelled = await cancelTask(tx, found.key);
    const [record] = await readSessions(tx, [found.key]);
    return { cancelled, record, deviceId: found.session.deviceId };
  });
  // Even then a queue that stood still may go on.
  deps.tell(
    deviceId,
    cancelled?.tellDaemon ? { v: 1, kind: 'cancel', taskId: cancelled.taskId } : { v: 1, kind: 'wake' },
  );
  if (!cancelled) throw new RelayError('NO_RUNNING_TASK', 'Nothing runs or waits in this session.');
  if (record) await deps.publisher.session(record);
  return { taskId: cancelled.taskId, state: 'cancelled' };
}
