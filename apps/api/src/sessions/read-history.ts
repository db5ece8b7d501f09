/** History belongs to the daemon: this asks for a page of it, through whichever instance holds the device (contract §3, §5). */
import { BackplaneError } from '@relay/backplane';
import type { SessionRecord } from '@relay/database';
import { type ErrorCode, type MessagePage, RelayError, type SessionDetail, decodeReply, limits } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { requireSession } from './find.ts';

export interface HistoryRange {
  limit?: number;
  before?: string;
  after?: string;
}

/** The gateway answers by its own clock; this one only fires when the gateway itself is gone. */
const patienceMs = 1000;

const failures: Partial<Record<BackplaneError['code'], [ErrorCode, string]>> = {
  OFFLINE: ['DEVICE_OFFLINE', 'The device is not connected.'],
  CLOSED: ['DEVICE_OFFLINE', 'The device went offline while it was asked.'],
  TIMEOUT: ['DEVICE_TIMEOUT', 'The daemon did not answer in time. Try again.'],
};

/** @throws RelayError SESSION_NOT_RESOLVED, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR, SERVICE_UNAVAILABLE */
async function askDaemon(deps: Operations, record: SessionRecord, range: HistoryRange): Promise<MessagePage> {
  if (record.placeholder)
    throw new RelayError('SESSION_NOT_RESOLVED', 'The device has not started this session yet, so it has no history.');
  const command = JSON.stringify({
    v: 1,
    kind: 'history',
    sessionId: record.nativeId,
    limit: range.limit ?? limits.historyPageDefault,
    before: range.before,
    after: range.after,
  });
  const text = await deps.backplane
    .request(record.session.deviceId, command, deps.config.daemonReplyTimeoutMs + patienceMs)
    .catch((error: unknown) => {
      const known = error instanceof BackplaneError ? failures[error.code] : undefined;
      if (!known) throw error;
      throw new RelayError(known[0], known[1], {
        cause: error,
        ...(known[0] === 'DEVICE_OFFLINE' ? { retryAfter: 10 } : {}),
      });
    });
  const reply = decodeReply(text);
  if (!reply)
    throw new RelayError('SERVICE_UNAVAILABLE', 'Another instance answered in a way this one does not understand.', {
      retryAfter: 5,
    });
  if (reply.kind === 'failure')
    throw new RelayError(reply.code, reply.error, reply.code === 'DEVICE_OFFLINE' ? { retryAfter: 10 } : {});
  const { messages, hasMore, oldestUuid, newestUuid } = reply;
  return { messages, hasMore, oldestUuid, newestUuid };
}

/** GET /api/sessions/:id/messages. @throws as `askDaemon`, and SESSION_NOT_FOUND */
export async function readMessages(
  deps: Operations,
  userId: string,
  sessionId: string,
  range: HistoryRange,
): Promise<MessagePage> {
  return askDaemon(deps, await requireSession(deps.database.prisma, userId, sessionId), range);
}

/**
 * GET /api/sessions/:id. A daemon that cannot be asked is no error here: `messagesError` says why there are no messages.
 * A user who listens on `/ws/attention` and reads a session has it open: the daemon watches it for a while.
 * @throws RelayError SESSION_NOT_FOUND
 */
export async function readSession(
  deps: Operations,
  userId: string,
  sessionId: string,
  range: HistoryRange,
): Promise<SessionDetail> {
  const record = await requireSession(deps.database.prisma, userId, sessionId);
  if (!record.placeholder && (await deps.backplane.audience(userId).catch(() => 0)) > 0) {
    deps.tell(record.session.deviceId, { v: 1, kind: 'open', sessionKey: record.key });
  }
  try {
    return { ...record.session, ...(await askDaemon(deps, record, range)) };
  } catch (error) {
    const known = error instanceof RelayError ? error : undefined;
    if (!known && !(error instanceof BackplaneError)) throw error;
    const messagesError = {
      code: known?.code ?? 'SERVICE_UNAVAILABLE',
      error: known?.message ?? 'The relay cannot ask the device right now.',
    };
    return { ...record.session, messages: [], hasMore: false, oldestUuid: null, newestUuid: null, messagesError };
  }
}
