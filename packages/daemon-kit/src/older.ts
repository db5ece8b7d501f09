/**
 * Pages of a session whose beginning is only in the files of its agent: the store's items, and before them as many parts of those
 * files as the page needs. So a session of any size costs as much as a page.
 */
import { type Item, isPlain } from '@relay/protocol';
import { type PageRequest, fitting, pageWith } from './history.ts';
import { messageOf } from './session-pages.ts';
import { type Store, itemsRequest } from './store.ts';

/** Items before a place, oldest first, and the place where they begin; undefined when they can no longer be read. */
type Before = (sessionId: string, place: number) => { items: Item[]; start: number } | undefined;

/** Maximum number of parts read for one page, or to find a cursor that this process did not issue. */
const maxParts = 16;
const maxRemembered = 20_000;

interface Rows<T> {
  rows: T[];
  hasMore: boolean;
}

export function withOlder(store: Store, before: Before): Pick<Store, 'page' | 'items'> {
  /** Item → the place after the part that contains it. */
  const places = new Map<string, number>();
  const remember = (items: readonly Item[], place: number) => {
    for (const { uuid } of items) places.set(uuid, place);
    for (const uuid of places.keys()) {
      if (places.size <= maxRemembered) break;
      places.delete(uuid);
    }
  };

  /** `newest`, preceded by the items before the store that the cursors allow. Undefined when a cursor is not found. */
  const reach = <T>(
    sessionId: string,
    { limit, beforeUuid, afterUuid, maxBytes = Infinity }: PageRequest,
    newest: readonly T[],
    view: (item: Item) => T | undefined,
  ): Rows<T> | undefined => {
    let rows = [...newest];
    let place = (beforeUuid === undefined ? undefined : places.get(beforeUuid)) ?? store.older(sessionId);
    let [isBefore, isAfter] = [beforeUuid === undefined, afterUuid === undefined];
    for (let parts = 0; place > 0 && rows.length < limit && parts < maxParts; parts++) {
      const part = before(sessionId, place);
      if (!part) break;
      remember(part.items, place);
      place = part.start;
      const end = isBefore ? part.items.length : part.items.findIndex(({ uuid }) => uuid === beforeUuid);
      if (end < 0) continue;
      isBefore = true;
      const begin = afterUuid === undefined ? -1 : part.items.findIndex(({ uuid }) => uuid === afterUuid);
      rows = [...part.items.slice(begin + 1, end).flatMap((item) => view(item) ?? []), ...rows];
      if (begin < 0) continue;
      isAfter = true;
      place = 0;
    }
    // A full page does not need the place of the other cursor.
    if (!isBefore || (!isAfter && rows.length < limit)) return undefined;
    const page = fitting(rows, limit, maxBytes);
    return { rows: page, hasMore: place > 0 || page.length < rows.length };
  };

  /** `ask`: reads the store; undefined when it does not know a cursor. */
  const across = <T>(
    sessionId: string,
    request: PageRequest,
    ask: (request: PageRequest) => Rows<T> | undefined,
    view: (item: Item) => T | undefined,
  ): Rows<T> | undefined => {
    const { beforeUuid, afterUuid, ...bounds } = request;
    const direct = ask(request);
    if (direct && afterUuid !== undefined) return direct;
    const found =
      direct ?? (afterUuid === undefined ? undefined : ask({ ...bounds, ...(beforeUuid ? { beforeUuid } : {}) }));
    if (found?.hasMore) return found;
    return reach(sessionId, { ...request, ...(found ? { beforeUuid: undefined } : {}) }, found?.rows ?? [], view);
  };

  return {
    page(sessionId, request, reader = 'messages') {
      const found = store.page(sessionId, request, reader);
      if (!found || store.older(sessionId) === 0) return found;
      const ask = (wanted: PageRequest) => {
        const answer = wanted === request ? found : store.page(sessionId, wanted, reader);
        return answer?.ok ? { rows: answer.page.messages, hasMore: answer.page.hasMore } : undefined;
      };
      const view = (item: Item) => (isPlain(item) ? messageOf({ item, m: true }) : undefined);
      const reached = across(sessionId, request, ask, view);
      return reached ? { ok: true, page: pageWith(reached.rows, reached.hasMore) } : found;
    },
    items(sessionId, request) {
      const found = store.items(sessionId, request);
      if (!found || store.older(sessionId) === 0) return found;
      if (request.changed !== undefined) return 'reset' in found && found.reset ? { ...found, hasMore: true } : found;
      const ask = (wanted: PageRequest) => {
        const answer = store.items(sessionId, wanted);
        return !answer || 'error' in answer ? undefined : { rows: answer.items, hasMore: answer.hasMore };
      };
      const reached = across(sessionId, itemsRequest(request), ask, (item) => item);
      if (!reached) return found;
      return { items: reached.rows, hasMore: reached.hasMore, v: store.version(sessionId), reset: false };
    },
  };
}
