/**
 * Messages into a running turn (rules, chapter 23). Read and written under the lock of the device, where turns begin and
 * complete.
 */
import { type Db, type SessionRecord, daemonOf, recentSteers, runningTask, steersPerMinute } from '@relay/database';
import { RelayError, capabilities } from '@relay/protocol';

/**
 * The task whose turn a message can go into now; undefined when no turn runs.
 * @throws RelayError AGENT_ASKS, NOT_SUPPORTED_BY_DEVICE, RATE_LIMITED
 */
export async function requireTurn(tx: Db, { key, session }: SessionRecord): Promise<string | undefined> {
  const { deviceId, status, prompts = [] } = session;
  if (!(await daemonOf(tx, deviceId)).capabilities.includes(capabilities.steer))
    throw new RelayError(
      'NOT_SUPPORTED_BY_DEVICE',
      'The daemon of this device takes no message into a running turn. Queue the message, or update the daemon.',
    );
  if (status === 'waiting' || prompts.length > 0) throw new RelayError('AGENT_ASKS', { details: { prompts } });
  const into = await runningTask(tx, key);
  if (into !== undefined && (await recentSteers(tx, key)) >= steersPerMinute)
    throw new RelayError(
      'RATE_LIMITED',
      `${steersPerMinute} messages went into turns of this session within a minute, which is the limit. Queue the message, or wait.`,
      { retryAfter: 60 },
    );
  return into;
}
