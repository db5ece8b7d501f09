/**
 * Notifies this process of inboxes that a transaction changed. The trigger that raises a head (ADR 45) sends a notice
 * to the committing connection: this needs no extra statement, and a transaction without inbox changes costs nothing.
 */
import type pg from 'pg';

/** Text of the notice; its detail is the person. */
const notice = 'relay inbox';

/** Is called after a commit, with the people whose inbox has a new version. Must not throw. */
export type OnInboxRaised = (userIds: readonly string[]) => void;

export interface RaisedInboxes {
  /** Collects the people of the transaction that runs on this connection. */
  on(line: Pick<pg.ClientBase, 'on' | 'removeListener'>): { publish(): void; stop(): void };
  /** Calls `listener` from now on, until the returned function is called. */
  watch(listener: OnInboxRaised): () => void;
}

export function raisedInboxes(): RaisedInboxes {
  const listeners = new Set<OnInboxRaised>();
  return {
    on: (line) => {
      const people = new Set<string>();
      const collect = ({ message, detail }: { message?: string | undefined; detail?: string | undefined }) => {
        if (message === notice && detail !== undefined) people.add(detail);
      };
      line.on('notice', collect);
      return {
        publish: () => {
          if (people.size > 0) for (const listener of listeners) listener([...people]);
        },
        stop: () => void line.removeListener('notice', collect),
      };
    },
    watch: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
