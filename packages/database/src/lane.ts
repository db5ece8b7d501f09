/** Work on the database, one piece after another: a flood of one kind then takes one connection, and leaves the others to requests. */

/** Runs `work` after all that came before it, whether that succeeded or not. Resolves and rejects as `work` does. */
export type Lane = <T>(work: () => Promise<T>) => Promise<T>;

export function createLane(): Lane {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work, work);
    last = done.catch(() => {});
    return done;
  };
}
