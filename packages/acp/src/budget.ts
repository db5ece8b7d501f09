/** The memory for the clients of one user: sent entries, copies of transcripts, histories in transfer, and open requests. */

/** Limit for sent entries of one user on one instance. */
const personBytes = 16 * 1024 * 1024;
/** Limits for the copies of all sessions, and for one copy. */
const copiesBytes = 16 * 1024 * 1024;
const copyMostBytes = 2 * 1024 * 1024;
/** Limit for the frames of requests without an answer. */
const requestsBytes = 64 * 1024 * 1024;

export interface Budget {
  /** Bytes of the sent entries. */
  used: number;
  /** Open sessions. */
  sessions: number;
  /** Characters of the frames whose requests wait for an answer. */
  requests: number;
  readonly limit: number;
  /** Runs `work` in sequence: reading a history holds it in memory as a whole. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** Returns the share of one session. */
export const copyBytes = ({ sessions }: Budget): number => Math.min(copyMostBytes, copiesBytes / Math.max(sessions, 1));

/** Returns true if the user can send one more request of this size. The first one always fits. */
export const hasRoomFor = ({ requests }: Budget, size: number): boolean =>
  requests === 0 || requests + size <= requestsBytes;

export function createBudget(limit = personBytes): Budget {
  let last: Promise<unknown> = Promise.resolve();
  return {
    used: 0,
    sessions: 0,
    requests: 0,
    limit,
    inTurn(work) {
      const done = last.then(work);
      last = done.catch(() => undefined);
      return done;
    },
  };
}
