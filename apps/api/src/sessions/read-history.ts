/** History belongs to the daemon: this requests a page of it, through the instance that holds the device (rules, 6.16). */
import { BackplaneError } from '@relay/backplane';
import type { SessionPlace, SessionRecord } from '@relay/database';
import { type MessagePage, RelayError, type SessionDetail, limits } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import { askDaemon, requireNamed } from './ask-daemon.ts';
import { requirePlace, requireSession } from './find.ts';

export interface HistoryRange {
  limit?: number;
  before?: string;
  after?: string;
  /** Items, where the daemon has them. */
  parts?: boolean;
  /** Changes after this version; only together with `parts`, and instead of a cursor. */
  changed?: number;
}

/** A page of a daemon with `transcript`, as the JSON of an object: forwarded and never decoded. */
interface ItemsPage {
  readonly json: string;
}
type Page = MessagePage | ItemsPage;
const isItems = (page: Page): page is ItemsPage => 'json' in page;

/** The answer to a request: a body, or its JSON. */
type HistoryAnswer<T> = { readonly body: T } | ItemsPage;

/** A session whose daemon is asked. */
type HistorySession = Pick<SessionPlace, 'deviceId' | 'nativeId' | 'placeholder' | 'lastMessage'>;
const historySessionOf = ({
  nativeId,
  placeholder,
  session: { deviceId, lastMessage },
}: SessionRecord): HistorySession => ({
  deviceId,
  nativeId,
  placeholder,
  lastMessage,
});

/** Further pages that are asked for where a daemon answers the first messages of a range instead of the last ones. */
const maxMore = 10;

/**
 * Returns the last messages of the range. Some daemons answer with the first messages after `after`, or with the oldest of all:
 * the api asks the daemon for more after each page, until a page is empty or the bound is reached. Then `newestUuid` is the
 * cursor to continue from with `after`, and `hasMore` is true.
 * @throws RelayError SESSION_NOT_RESOLVED, DEVICE_OFFLINE, DEVICE_TIMEOUT, DEVICE_ERROR, SERVICE_UNAVAILABLE
 */
async function askForPage(deps: Operations, session: HistorySession, range: HistoryRange): Promise<Page> {
  const first = await askOnce(deps, session, range);
  if (isItems(first)) return first;
  if (!mayBeTheFirstOnes(first, session, range)) return first;
  const wanted = range.limit ?? limits.historyPageDefault;
  let [messages, behind] = [first.messages, first.newestUuid];
  for (let more = 0; more < maxMore && behind !== null; more += 1) {
    // The pages so far are worth more than an error about a page that might not exist.
    const next: Page | undefined = await askOnce(deps, session, {
      ...range,
      parts: false,
      limit: limits.historyPage,
      after: behind,
    }).catch(() => undefined);
    if (next === undefined || isItems(next) || next.messages.length === 0) break;
    messages = [...messages, ...next.messages].slice(-wanted);
    behind = next.hasMore && next.newestUuid !== behind ? next.newestUuid : null;
  }
  const [oldest, newest] = [messages.at(0), messages.at(-1)];
  return { messages, hasMore: true, oldestUuid: oldest?.uuid ?? null, newestUuid: newest?.uuid ?? null };
}

/** A page with more messages after `after`, or a newest page that lacks the session's last message. */
function mayBeTheFirstOnes(
  page: MessagePage,
  { lastMessage }: HistorySession,
  { before, after }: HistoryRange,
): boolean {
  if (!page.hasMore || page.newestUuid === null) return false;
  if (after !== undefined) return true;
  const last = page.messages.at(-1)?.content ?? '';
  const stored = lastMessage.trim();
  return before === undefined && stored !== '' && !last.trim().startsWith(stored);
}

/** @throws as `askForPage` */
async function askOnce(deps: Operations, session: HistorySession, range: HistoryRange): Promise<Page> {
  requireNamed(session, 'history');
  const { limit = limits.historyPageDefault, before, after, parts, changed } = range;
  const since = parts ? changed : undefined;
  const command = {
    v: 1,
    kind: 'history',
    sessionId: session.nativeId,
    limit,
    ...(before === undefined || since !== undefined ? {} : { before }),
    ...(after === undefined || since !== undefined ? {} : { after }),
    ...(parts ? { parts } : {}),
    ...(since === undefined ? {} : { changed: since }),
  } as const;
  const { deviceId } = session;
  const reply = parts
    ? await askDaemon(deps, deviceId, command, 'page', 'items')
    : await askDaemon(deps, deviceId, command, 'page');
  const { hasMore, oldestUuid, newestUuid } = reply;
  if (reply.kind === 'page') return { messages: reply.messages, hasMore, oldestUuid, newestUuid };
  const { version, reset, rest } = reply;
  const head = { v: version, ...(reset ? { reset } : {}), hasMore, oldestUuid, newestUuid };
  return { json: withMembers(head, rest) };
}

/** The JSON of an object with further members: `rest` is the text of another one without its opening brace. */
const withMembers = (head: object, rest: string): string => `${JSON.stringify(head).slice(0, -1)},${rest}`;

/** GET /api/sessions/:id/messages. @throws as `askForPage`, and SESSION_NOT_FOUND */
export async function readMessages(
  deps: Operations,
  userId: string,
  sessionId: string,
  range: HistoryRange,
): Promise<HistoryAnswer<MessagePage>> {
  const page = await askForPage(deps, await requirePlace(deps, userId, sessionId), range);
  return isItems(page) ? page : { body: page };
}

/**
 * GET /api/sessions/:id. A daemon that cannot answer does not fail the request: `messagesError` gives the reason for missing
 * messages. A user who is connected to `/ws/attention` and reads a session has it open: the daemon watches it for a while.
 * @throws RelayError SESSION_NOT_FOUND
 */
export async function readSession(
  deps: Operations,
  userId: string,
  sessionId: string,
  range: HistoryRange,
): Promise<HistoryAnswer<SessionDetail>> {
  const record = await requireSession(deps.database, userId, sessionId);
  if (!record.placeholder && (await deps.backplane.audience(userId).catch(() => 0)) > 0) {
    deps.sendCommand(record.session.deviceId, { v: 1, kind: 'open', sessionKey: record.key });
  }
  try {
    const page = await askForPage(deps, historySessionOf(record), range);
    if (isItems(page)) return { json: withMembers(record.session, page.json.slice(1)) };
    return { body: { ...record.session, ...page } };
  } catch (error) {
    const relayError = error instanceof RelayError ? error : undefined;
    if (!relayError && !(error instanceof BackplaneError)) throw error;
    const messagesError = {
      code: relayError?.code ?? 'SERVICE_UNAVAILABLE',
      error: relayError?.message ?? 'The relay cannot ask the device right now.',
    };
    const none = { messages: [], hasMore: false, oldestUuid: null, newestUuid: null };
    return { body: { ...record.session, ...none, messagesError } };
  }
}
