/** The memory of one person's clients: the entries that were sent, copies of transcripts, and histories that are being sent. */

/** The entries of one person at one instance. */
const personBytes = 16 * 1024 * 1024;
/** The copies of all sessions, and the copy of one. */
const copiesBytes = 16 * 1024 * 1024;
const copyMostBytes = 2 * 1024 * 1024;

export interface Budget {
  /** Bytes of the entries that were sent. */
  used: number;
  /** Open sessions. */
  sessions: number;
  readonly limit: number;
  /** Runs one `work` after the other: a history that is read for a client is in memory as a whole. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** The share of one session. */
export const copyBytes = ({ sessions }: Budget): number => Math.min(copyMostBytes, copiesBytes / Math.max(sessions, 1));

export function createBudget(limit = personBytes): Budget {
  let last: Promise<unknown> = Promise.resolve();
  return {
    used: 0,
    sessions: 0,
    limit,
    inTurn(work) {
      const done = last.then(work);
      last = done.catch(() => undefined);
      return done;
    },
  };
}
