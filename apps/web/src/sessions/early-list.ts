/**
 * The first requests of the pages, sent as soon as the first script has a token: the pages, which take them by name, are still
 * executing, which takes a slow phone a second (ADR 68). Their client uses these answers instead of its own. An unused answer
 * only wastes work. The ticket of the live stream comes first, with the position of the frames at that time: the stream begins
 * there, so data read after it need not be read again (ADR 84).
 */
import { pageSize, requestTimeoutMs } from '../api/bounds.ts';
import type { Place } from '../place.ts';

export interface EarlyList {
  /** Asks for a ticket, then for the list, if there is one at this address. Once. */
  ask: (token: string) => void;
  /** That of the browser, but for questions that were asked: each is answered once, and within five seconds. Waits for the ticket. */
  fetch: typeof fetch;
  /** Answers that were not taken are asked for again. */
  drop: () => void;
  /** The position before everything that was read through `fetch`; empty if it is unknown, or was taken before. Never rejects. */
  position: () => Promise<string>;
}

/** Older answers are asked for again. */
const goodForMs = 5_000;
/** Reading waits no longer for a ticket. */
const ticketWaitMs = 3_000;
const homes = ['', '/', '/sessions'];
/** As the client writes them, in the order of `loadList`. */
const questions = [`limit=${pageSize}&archived=false`, `limit=${pageSize}&archived=false&pinned=true`];

export function createEarlyList({ publicUrl, base }: Place, { pathname, search }: Location): EarlyList {
  const answers = new Map<string, Promise<Response>>();
  const isHome = search === '' && homes.includes(pathname.slice(base.length));
  let ticketed: Promise<string> | undefined;
  let taken = false;
  const drop = () => answers.clear();
  const keep = (url: string, answer: Promise<Response>) => {
    // The page that takes it shows why it failed.
    answer.catch(() => undefined);
    answers.set(url, answer);
    return answer;
  };
  return {
    drop,
    ask: (token) => {
      if (ticketed) return;
      const send = (url: string, method?: 'POST') =>
        fetch(url, {
          ...(method && { method }),
          headers: { Accept: 'application/json', Authorization: `Bearer ${token}` },
          signal: AbortSignal.timeout(method ? ticketWaitMs : requestTimeoutMs),
          redirect: 'manual',
          cache: 'no-store',
        });
      const ticketUrl = `${publicUrl}/api/ws-tickets`;
      const offset = keep(ticketUrl, send(ticketUrl, 'POST'))
        .then((answer) => answer.clone().json() as Promise<{ offset?: string }>)
        .then((ticket) => ticket.offset ?? '');
      ticketed = offset.catch(() => '');
      if (isHome)
        for (const question of questions) {
          const url = `${publicUrl}/api/sessions?${question}`;
          // prettier-ignore
          void keep(url, ticketed.then(() => send(url)));
        }
      setTimeout(drop, goodForMs);
    },
    fetch: async (input, init) => {
      const answer = typeof input === 'string' ? answers.get(input) : undefined;
      if (answer) {
        answers.delete(input as string);
        return answer;
      }
      await ticketed;
      return fetch(input, init);
    },
    position: async () => {
      const position = taken ? '' : ((await ticketed) ?? '');
      taken = true;
      return position;
    },
  };
}
