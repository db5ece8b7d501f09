/**
 * The observations of the relay's peers in their order: an append-only log, which `verdict.ts` checks afterwards. It
 * does not know the promises.
 */

/** The identity of a line that a daemon sends: its user, its connection, and its number on that connection. */
export interface Line {
  user: string;
  connection: number;
  number: number;
}

export type Event =
  | { what: 'fault'; fault: string }
  | { what: 'asked'; request: number; user: string; call: string; patienceMs: number }
  /** `said` is the body of the failure, to find its reason. */
  | { what: 'answered'; request: number; status: number; code: string; strangers: string[]; said?: string }
  /** The connection broke before the response. */
  | { what: 'cut'; request: number; why: string }
  | { what: 'accepted'; user: string; device: string; task: string; session: string; key: string }
  | { what: 'refused'; who: 'daemon' | 'app'; user: string; status: number; code: string }
  | { what: 'connected'; user: string; device: string; connection: number; gateway: string }
  | { what: 'disconnected'; user: string; connection: number; code: number }
  /** A command with a task reached the daemon. */
  | { what: 'written'; user: string; device: string; connection: number; task: string }
  /** A history request reached the daemon; `request` is the id of the caller's request. */
  | { what: 'questioned'; user: string; connection: number; request: number }
  | { what: 'began'; user: string; connection: number; task: string }
  | { what: 'completed'; user: string; connection: number; task: string }
  /** The daemon stopped the task because of a cancel. */
  | { what: 'stopped'; user: string; connection: number; task: string }
  | { what: 'said'; line: Line }
  /**
   * The answer of a turn is in the history of its daemon, where the relay can find it. `hidden`: its reports omit the
   * session.
   */
  | { what: 'kept'; user: string; task: string; kind: 'answer' | 'question' | 'error'; text: string; hidden?: boolean }
  /** A message with this text reached an app. */
  | { what: 'shown'; user: string; app: number; words: string }
  /** `since` as sent; an empty one starts afresh. */
  | { what: 'listening'; user: string; app: number; since: string }
  | { what: 'deaf'; user: string; app: number; code: number }
  | { what: 'resync'; user: string; app: number }
  | {
      what: 'heard';
      user: string;
      app: number;
      frame: string;
      offset: string;
      line: Line | undefined;
      strangers: string[];
    };

export type Entry = Event & { atMs: number };

export class Journal {
  readonly entries: Entry[] = [];
  readonly #counters = new Map<string, number>();

  note(event: Event): void {
    this.entries.push({ ...event, atMs: performance.now() });
  }

  /** The next number of this kind: of a connection, an app or a request. */
  number(kind: string): number {
    const next = (this.#counters.get(kind) ?? 0) + 1;
    this.#counters.set(kind, next);
    return next;
  }

  count<W extends Event['what']>(what: W, match: (entry: Extract<Entry, { what: W }>) => boolean = () => true): number {
    return this.of(what).filter(match).length;
  }

  of<W extends Event['what']>(what: W): Extract<Entry, { what: W }>[] {
    return this.entries.filter((entry): entry is Extract<Entry, { what: W }> => entry.what === what);
  }
}

/** `user|connection#number`, followed by a text. */
export const lineText = ({ user, connection, number }: Line, words = ''): string =>
  `${user}|${connection}#${number} ${words}`;

export function readLine(text: string): Line | undefined {
  const found = /^([\w-]+)\|(\d+)#(\d+) /.exec(text);
  return found ? { user: found[1]!, connection: Number(found[2]), number: Number(found[3]) } : undefined;
}

/** The unique text of a turn, such as `answer 7 of user-1`. */
export const wordsIn = (text: string): string[] =>
  text.match(/\b(answer|question|step|error) \d+ of user-\d+\b/g) ?? [];

/** Other users whose names occur in a text: every text of the load contains the name of its owner. */
export function strangersIn(text: string, user: string): string[] {
  const named = text.match(/\buser-\d+\b/g) ?? [];
  return [...new Set(named)].filter((name) => name !== user);
}
