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
  let first = end;
  let bytes = 0;
  while (first > start && end - first < limit) {
    const message = messages[first - 1];
    bytes += Buffer.byteLength(JSON.stringify(message), 'utf8') + 1;
    if (bytes > maxBytes && first < end) break;
    first--;
  }
  const page = messages.slice(first, end);
  return {
    ok: true,
    page: {
      messages: page,
      hasMore: first > start,
      oldestUuid: page[0]?.uuid ?? null,
      newestUuid: page.at(-1)?.uuid ?? null,
    },
  };
}
