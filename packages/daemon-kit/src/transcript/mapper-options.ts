/** The settings for turning updates of an agent into items. */
import type { Keep } from '../contents.ts';
import type { NewItem, StoreChange } from '../store.ts';

/** The level of detail of a transcript. `outline`: of tools only the title and the state. */
export type Detail = 'full' | 'outline';

export interface MapperOptions {
  sessionId: string;
  cwd: string;
  /** The turn that runs: the item of the user that began it, or an id of its own. */
  turn?: string | undefined;
  /** The name of a message, in the form of this agent's reader: the same live and read. `part`: from 1, more than one around a tool call. */
  idOf?: ((role: 'USER' | 'AGENT', messageId: string, part: number) => string) | undefined;
  detail: Detail;
  thoughts: boolean;
  /** Milliseconds, to limit how often long output is sent. */
  now: () => number;
  /** For a replay: text of the user is included and begins a turn. */
  replay?: boolean;
  /** An update created no item and changed no item. */
  dropped?: ((why: string) => void) | undefined;
  /** Whether an earlier turn has an item with this uuid: some agents count their messages from one in each. */
  isTaken?: (uuid: string) => boolean;
  /** The entries of the newest plan of earlier turns, as JSON. */
  newestPlan?: () => string | undefined;
  /** Receives content that the items reference but do not hold. If absent, they reference nothing. */
  keep?: Keep | undefined;
  /** A name for an item without an id of the agent and without a neighbour that has one. Default: a random uuid. */
  unnamed?: () => string;
}

/** Makes an item of the turn that runs. `at`: when it happened, ISO 8601. */
export type MakeItem = (
  uuid: string,
  more: Pick<NewItem, 'role' | 'content' | 'part'>,
  at: string | undefined,
) => StoreChange;
