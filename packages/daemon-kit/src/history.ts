/** The paging rules of `get_messages` (specification §6.2), as a pure function. */

export interface HistoryMessage {
  uuid: string;
  role: 'USER' | 'AGENT' | 'SYSTEM';
  content: string;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
}

export interface PageRequest {
  /** At least 1. */
  limit: number;
  beforeUuid?: string | undefined;
  afterUuid?: string | undefined;
  /** Bound on the page as JSON, so that it fits into one frame. A single larger message is still returned. */
  maxBytes?: number | undefined;
}

export interface Page {
  /** Chronological. */
  messages: HistoryMessage[];
  /** Messages between the cursors were left out; they are older than the page. */
  hasMore: boolean;
  oldestUuid: string | null;
  newestUuid: string | null;
}

export type PageResult = { ok: true; page: Page } | { ok: false; error: string };

/**
 * The last `limit` messages of those before `beforeUuid` and after `afterUuid`, both exclusive, each only if given.
 *
 * A uuid that is not in the history is an error, not an empty page and not an ignored cursor: an empty page would show the client
 * a complete history, and an ignored cursor would make it load the newest page forever.
 */
export function pageOf(messages: readonly HistoryMessage[], request: PageRequest): PageResult {
  const { limit, beforeUuid, afterUuid, maxBytes = Infinity } = request;
  const indexOf = (uuid: string) => messages.findIndex((message) => message.uuid === uuid);
  const start = afterUuid === undefined ? 0 : indexOf(afterUuid) + 1;
  const end = beforeUuid === undefined ? messages.length : indexOf(beforeUuid);
  if (afterUuid !== undefined && start === 0)
    return { ok: false, error: 'after_uuid is not a message of this session' };
  if (end === -1) return { ok: false, error: 'before_uuid is not a message of this session' };
  const between = messages.slice(start, end);
  const last = fitting(between, limit, maxBytes);
  return { ok: true, page: pageWith(last, last.length < between.length) };
}

/** The page of these messages. */
export const pageWith = (messages: HistoryMessage[], hasMore: boolean): Page => ({
  messages,
  hasMore,
  oldestUuid: messages[0]?.uuid ?? null,
  newestUuid: messages.at(-1)?.uuid ?? null,
});

/** Returns the last rows within the bounds; a single row that exceeds them is still returned. */
export function fitting<T>(rows: readonly T[], limit: number, maxBytes: number): T[] {
  let first = rows.length;
  let bytes = 0;
  while (first > 0 && rows.length - first < limit) {
    bytes += Buffer.byteLength(JSON.stringify(rows[first - 1]), 'utf8') + 1;
    if (bytes > maxBytes && first < rows.length) break;
    first--;
  }
  return rows.slice(first);
}
