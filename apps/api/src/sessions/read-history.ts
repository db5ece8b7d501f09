/** History belongs to the daemon: this asks for a page of it, through whichever instance holds the device (contract §3, §5). */
import { BackplaneError } from '@relay/backplane';
import type { SessionRecord } from '@relay/database';
import { type MessagePage, RelayError, type SessionDetail, limits } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon, requireNamed } from './ask-daemon.ts';
import { requireSession } from './find.ts';

export interface HistoryRange {
  limit?: number;
  before?: string;
  after?: string;
}

/** Further pages that are asked for where a daemon answers the first messages of a range instead of the last ones. */
const maxMore = 10;

/**
 * The last messages of the range. Some daemons answer the first ones of what lies behind `after`, or the oldest ones of all: whether
 * anything lies behind a page is asked of the daemon, until nothing does or the bound is reached. Then `newestUuid` is the
 * cursor to go on from with `after`, and `hasMore` says that there is more.
 * @throws RelayError SESSION_NOT_RESOLVED, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
async function askForPage(deps: Operations, record: SessionRecord, range: HistoryRange): Promise<MessagePage> {
  const first = await askOnce(deps, record, range);
  if (!mayBeTheFirstOnes(first, record, range)) return first;
  const wanted = range.limit ?? limits.historyPageDefault;
  let [messages, behind] = [first.messages, first.newestUuid];
  for (let more = 0; more < maxMore && behind !== null; more += 1) {
    // The pages so far are worth more than an error about one that may not exist.
    const next = await askOnce(deps, record, { ...range, limit: limits.historyPage, after: behind }).catch(
      () => undefined,
    );
    if (next === undefined || next.messages.length === 0) break;
    messages = [...messages, ...next.messages].slice(-wanted);
    behind = next.hasMore && next.newestUuid !== behind ? next.newestUuid : null;
  }
  const [oldest, newest] = [messages.at(0), messages.at(-1)];
  return { messages, hasMore: true, oldestUuid: oldest?.uuid ?? null, newestUuid: newest?.uuid ?? null };
}

/** A page with more behind `after`; or the newest page of a session of which something else was said last. */
function mayBeTheFirstOnes(page: MessagePage, { session }: SessionRecord, { before, after }: HistoryRange): boolean {
  if (!page.hasMore || page.newestUuid === null) return false;
  if (after !== undefined) return true;
  const last = page.messages.at(-1)?.content ?? '';
  const known = session.lastMessage.trim();
  return before === undefined && known !== '' && !last.trim().startsWith(known);
}

/** @throws as `askForPage` */
async function askOnce(deps: Operations, record: SessionRecord, range: HistoryRange): Promise<MessagePage> {
  requireNamed(record, 'history');
  const command = {
    v: 1,
    kind: 'history',
    sessionId: record.nativeId,
    limit: range.limit ?? limits.historyPageDefault,
    ...(range.before === undefined ? {} : { before: range.before }),
    ...(range.after === undefined ? {} : { after: range.after }),
  } as const;
  const reply = await askDaemon(deps, record.session.deviceId, command, 'page');
  const { messages, hasMore, oldestUuid, newestUuid } = reply;
  return { messages, hasMore, oldestUuid, newestUuid };
}

/** GET /api/sessions/:id/messages. @throws as `askForPage`, and SESSION_NOT_FOUND */
export async function readMessages(
  deps: Operations,
  userId: string,
  sessionId: string,
  range: HistoryRange,
): Promise<MessagePage> {
  return askForPage(deps, await requireSession(deps.database.prisma, userId, sessionId), range);
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
    return { ...record.session, ...(await askForPage(deps, record, range)) };
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
