/** The questions of a connection to its daemon that are under way. The gateway answers them when the connection closes. */
import type { Reply } from '@relay/protocol';
import { BoundedMap, SparseMap } from './sparse-map.ts';

export type Purpose = 'completion' | 'arrival' | 'text' | 'name';

/** A search of the history for one task. `history-search.ts` has the machine. */
export interface TaskSearch {
  readonly purpose: Purpose;
  readonly taskId: string;
  state: 'planned' | 'reading' | 'over';
  timer?: NodeJS.Timeout;
  /** The daemon itself no longer knows the task. */
  readonly isOmitted?: boolean;
  /** When the last event of the task came, when the search began. */
  readonly lastEventAtMs?: number | undefined;
}

export const searchKey = (purpose: Purpose, taskId: string): string => `${purpose} ${taskId}`;

/** The newest answer to a question with other cursors, to recognise an answer that never changes. */
export interface EarlierPage {
  before?: string | undefined;
  after?: string | undefined;
  oldest: string | null;
  newest: string | null;
}

/** Gets the reply, and the text that follows its head. */
export type Waiter = (reply: Reply, rest?: string) => void;

interface DaemonRequest<Q> {
  readonly question: Q;
  /** The type of the frame that answers it. */
  readonly answer: string;
  /** Questions with the same key share one frame. */
  readonly key: string | undefined;
  /** Each gets the reply once. */
  readonly waiters: Waiter[];
  readonly timer: NodeJS.Timeout;
}

const maxRequests = 1000;

/** Q: the questions, which are not known here. */
export class Requests<Q = unknown> {
  /** The newest page of history by native id. */
  readonly pages = new BoundedMap<string, EarlierPage>(100);
  /** The newest search of the history for each purpose and task. */
  readonly searches = new SparseMap<string, TaskSearch>();
  readonly #inFlight = new SparseMap<string, DaemonRequest<Q>>();

  get size(): number {
    return this.#inFlight.size;
  }

  get isFull(): boolean {
    return this.size >= maxRequests;
  }

  get(requestId: string): DaemonRequest<Q> | undefined {
    return this.#inFlight.get(requestId);
  }

  /** Adds the waiter to the request in flight with this key. Returns whether there is such a request. */
  join(key: string | undefined, waiter: Waiter): boolean {
    if (key === undefined) return false;
    for (const request of this.#inFlight.values()) {
      if (request.key !== key) continue;
      request.waiters.push(waiter);
      return true;
    }
    return false;
  }

  add(requestId: string, request: DaemonRequest<Q>): void {
    this.#inFlight.set(requestId, request);
  }

  settle(requestId: string, reply: Reply, rest?: string): void {
    const request = this.#inFlight.get(requestId);
    if (!request) return;
    this.#inFlight.delete(requestId);
    clearTimeout(request.timer);
    for (const waiter of request.waiters) waiter(reply, rest);
  }

  /** Settles all requests, or all that a frame of the type `answer` answers. */
  settleAll(reply: Reply, answer?: string): void {
    for (const [id, request] of [...this.#inFlight])
      if (answer === undefined || request.answer === answer) this.settle(id, reply);
  }

  /** The connection closed. */
  clear(): void {
    for (const search of this.searches.values()) clearTimeout(search.timer);
    this.searches.clear();
  }
}
