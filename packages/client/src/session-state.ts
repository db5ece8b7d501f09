/** Types of a session copy: its options, its state, and the result of a read. */
import type { Item, Message, Session, SessionDetail } from '@relay/protocol';
import type { Client } from './client.ts';

export interface SessionCopyOptions {
  /** Absent if the program reads the state elsewhere: the copy then only applies frames. */
  client?: Pick<Client, 'call'>;
  /** Undefined if the app will create the session and `adopt` it. */
  id?: string | undefined;
  /** Approximate number of items or messages to keep, in addition to pages of `loadOlder`. Default 2000. */
  keep?: number;
  /** The limit of their bytes in memory. Default: unlimited. */
  keepBytes?: () => number;
  /** Items per page. Default 200. */
  pageItems?: number;
}

export interface SessionState {
  /** Undefined before the first load. */
  readonly session: Session | undefined;
  /** In display order: items with pending messages among them, or the messages of a daemon without a transcript. */
  readonly messages: readonly Message[];
  /** The daemon's list, if it keeps a transcript. */
  readonly items: readonly Item[] | undefined;
  /** The daemon has older entries. */
  readonly hasMore: boolean;
  /** The error of the last read of the history. */
  readonly messagesError: SessionDetail['messagesError'];
  /** The newest output of the running task, from a daemon without a transcript. */
  readonly output: string;
  readonly isRemoved: boolean;
  /** Frames were lost: read the changes. */
  readonly isBehind: boolean;
  /** The messages were restored from a read at this time. */
  readonly asOf: string | undefined;
}

/** The result of a read. */
export interface Loaded {
  /** New and changed items or messages, in order. */
  changed: readonly Message[];
  /** The list begins with this page: nothing links it to entries of an earlier read. */
  isWhole: boolean;
  hasMore: boolean;
  /** The first entry of the page. */
  oldestUuid: string | null;
}
