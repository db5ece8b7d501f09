/**
 * The questions of the list, asked when the first script has a token: the pages, which ask them by name, are still being executed, which
 * takes a slow phone a second (ADR 68). Their client gets these answers in the place of its own. An answer that is not asked for is lost work
 * and nothing else.
 */
import { pageSize, requestTimeoutMs } from '../api/bounds.ts';
import type { Place } from '../place.ts';

export interface EarlyList {
  /** Asks, if a list is at this address. Once. */
  ask: (token: string) => void;
  /** That of the browser, but for questions that were asked: each is answered once, and within five seconds. */
  fetch: typeof fetch;
  /** Answers that were not taken are asked for again. */
  drop: () => void;
}

/** Older answers are asked for again. */
const goodForMs = 5_000;
const homes = ['', '/', '/sessions'];
/** As the client writes them, in the order of `loadList`. */
const questions = [
  `limit=${pageSize}&archived=false`,
  `limit=${pageSize}&archived=false&pinned=true`,
  `limit=${pageSize}&status=waiting`,
];

export function createEarlyList({ publicUrl, base }: Place, { pathname, search }: Location): EarlyList {
  const answers = new Map<string, Promise<Response>>();
  let isAsked = search !== '' || !homes.includes(pathname.slice(base.length));
  const drop = () => answers.clear();
  return {
    drop,
    ask: (token) => {
      if (isAsked) return;
      isAsked = true;
      for (const question of questions) {
        const url = `${publicUrl}/api/sessions?${question}`;
        const answer = fetch(url, {
          headers: { Accept: 'application/json', Authorization: `Bearer ${token}` },
          signal: AbortSignal.timeout(requestTimeoutMs),
          redirect: 'manual',
          cache: 'no-store',
        });
        // The page that takes it shows why it failed.
        answer.catch(() => undefined);
        answers.set(url, answer);
      }
      setTimeout(drop, goodForMs);
    },
    fetch: (input, init) => {
      const answer = typeof input === 'string' ? answers.get(input) : undefined;
      if (answer === undefined) return fetch(input, init);
      answers.delete(input as string);
      return answer;
    },
  };
}
