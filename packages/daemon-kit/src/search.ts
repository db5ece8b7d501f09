/** Searches the transcripts of this machine. It reads them in pages, and leaves time for other work between two pages. */
import { setImmediate } from 'node:timers/promises';
import { type FromDaemon, type Item, type ToDaemon, searchLimits, transcriptLimits } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { type Clock, elapsedOn } from './clock.ts';
import type { Log } from './log.ts';
import type { Store } from './store.ts';

/** An answer comes before the relay gives up. */
const maxMs = 5000;
/** Hits of one session, so that a long one does not hide the others. */
const hitsOfSession = 5;
/** Characters of a hit before its first match. */
const before = 60;

const folded = (text: string): string => text.normalize('NFC').toLowerCase();

interface SearchOptions {
  store: Pick<Store, 'sessions' | 'items'>;
  clock: Clock;
  log: Log;
}

/** Answers a `search_request`; never rejects. A newer request stops the search of an older request. */
export function createSearch({
  store,
  clock,
  log,
}: SearchOptions): (frame: ToDaemon<'search_request'>) => Promise<FromDaemon<'search_response'>> {
  let newest = '';
  return async ({ request_id: requestId, query }) => {
    newest = requestId;
    const reply = { type: 'search_response', request_id: requestId } as const;
    const terms = folded(query).split(/\s+/).filter(Boolean);
    const until = elapsedOn(clock) + maxMs;
    const hits: NonNullable<FromDaemon<'search_response'>['hits']> = [];
    if (terms.length === 0) return { ...reply, hits };
    try {
      for (const { sessionId } of store.sessions()) {
        let inSession = 0;
        let beforeUuid: string | undefined;
        do {
          await setImmediate();
          if (hits.length >= searchLimits.hits || newest !== requestId || elapsedOn(clock) > until)
            return { ...reply, hits, more: true };
          const page = store.items(sessionId, { limit: transcriptLimits.pageItems, beforeUuid });
          if (!page || 'error' in page) break;
          for (const item of page.items.toReversed()) {
            const text = inSession < hitsOfSession ? partWith(item, terms) : undefined;
            if (text === undefined || hits.length >= searchLimits.hits) continue;
            inSession++;
            hits.push({ session_id: sessionId, uuid: item.uuid, role: item.role, text, timestamp: item.timestamp });
          }
          beforeUuid = page.hasMore && inSession < hitsOfSession ? page.items[0]?.uuid : undefined;
        } while (beforeUuid !== undefined);
      }
      return { ...reply, hits };
    } catch (error) {
      log.warn('transcripts not searched', { why: reasonOf(error) });
      return { ...reply, error: 'the transcripts of this machine cannot be searched' };
    }
  };
}

/** The part of an item around its first match; undefined unless the item contains all terms. */
function partWith({ content, part }: Item, terms: readonly string[]): string | undefined {
  const command = typeof part.command === 'string' ? part.command : '';
  const text = content.includes(command) ? content : `${command}\n${content}`;
  const within = folded(text);
  if (!terms.every((term) => within.includes(term))) return undefined;
  const from = Math.max(0, Math.min(...terms.map((term) => within.indexOf(term))) - before);
  const cut = text.normalize('NFC').slice(from, from + searchLimits.hitCharacters - 1);
  return from === 0 ? cut : `…${cut}`;
}
