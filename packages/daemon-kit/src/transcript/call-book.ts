/** The call that an id means (rules, 20.3). Agents repeat ids, and name a call differently in its permission. */
import { type Fields, recordOf, wordsOf } from './content.ts';
import { bareTitle, commandOf } from './tool.ts';

/** `call`: an announcement; `update`: news of a call; `question`: the call as a permission shows it. */
export type Source = 'call' | 'update' | 'question';

export interface BookedCall {
  id: string;
  fields: Fields;
  /** The turn that was running when the call began. */
  turn: number;
  /** The agent has reported its result. */
  reported: boolean;
  /** Its turn is over, or the person rejected it. */
  closed: boolean;
  /** The agent has announced it; else only a permission showed it. */
  announced: boolean;
  rejected: boolean;
  answered: boolean;
}

interface CallBook<T extends BookedCall> {
  /** The call that this is about; undefined when it begins one. */
  find: (update: Fields, source: Source, turn: number) => T | undefined;
  add: (call: T) => void;
  remove: (call: T) => void;
  /** News of a call that was removed: there were too many to remember. */
  isGone: (update: Fields, source: Source) => boolean;
  /** Oldest first. */
  all: () => T[];
  readonly size: number;
}

const maxGone = 20_000;

export function createCallBook<T extends BookedCall>(): CallBook<T> {
  /** Every call with the ids that name it, oldest first. */
  const calls = new Map<T, string[]>();
  const byId = new Map<string, T>();
  /** Calls that only a permission showed when they began: few, while a turn can have thousands of others. */
  const shown = new Set<T>();
  const gone = new Set<string>();

  const newestOpen = (among: Iterable<T>, is: (call: T) => boolean): T | undefined => {
    let newest: T | undefined;
    for (const call of among) if (!call.reported && !call.closed && is(call)) newest = call;
    return newest;
  };
  const name = (call: T, id: string) => {
    calls.set(call, [...(calls.get(call) ?? []), id]);
    byId.set(id, call);
  };

  const named = (id: string, update: Fields, source: Source, turn: number): T | undefined => {
    const call = byId.get(id);
    if (!call || source === 'update') return call;
    if (source === 'question') {
      if (call.reported || call.closed) return undefined;
      return call.announced || isSameCall(call.fields, update) ? call : undefined;
    }
    if (call.reported || call.turn !== turn) return undefined;
    // The agent can still report the result of a rejected call; any other update is another try.
    return call.rejected && !isEnd(update.status) ? undefined : call;
  };

  return {
    find(update, source, turn) {
      const id = wordsOf(update.toolCallId);
      const found = named(id, update, source, turn);
      if (found) return found;
      const isSame = (call: T) => call.turn === turn && isSameCall(call.fields, update);
      if (source === 'question')
        return newestOpen(calls.keys(), (call) => (call.announced || !call.answered) && isSame(call));
      const same = newestOpen(shown, (call) => !call.announced && isSame(call));
      if (same && id !== '') name(same, id);
      return same;
    },
    add(call) {
      name(call, call.id);
      if (!call.announced) shown.add(call);
      gone.delete(call.id);
    },
    remove(call) {
      for (const id of calls.get(call) ?? []) {
        if (byId.get(id) !== call) continue;
        byId.delete(id);
        gone.add(id);
      }
      calls.delete(call);
      shown.delete(call);
      for (const id of gone) {
        if (gone.size <= maxGone) break;
        gone.delete(id);
      }
    },
    isGone: (update, source) => source === 'update' && gone.has(wordsOf(update.toolCallId)),
    all: () => [...calls.keys()],
    get size() {
      return calls.size;
    },
  };
}

export const isEnd = (status: unknown): boolean => status === 'completed' || status === 'failed';

/** Whether both are about the same action: the same command, else the same input, else the same title. */
function isSameCall(one: Fields, other: Fields): boolean {
  const [command, otherCommand] = [commandOf(one), commandOf(other)];
  if (command !== undefined || otherCommand !== undefined) return command === otherCommand;
  const [input, given] = [recordOf(one.rawInput), recordOf(other.rawInput)];
  if (Object.keys(input).length > 0 && Object.keys(given).length > 0)
    return JSON.stringify(input) === JSON.stringify(given);
  const title = bareTitle(one);
  return title !== '' && title === bareTitle(other);
}
