/** The call that an id means (rules, 20.3). Agents repeat ids, and name a call differently in its permission. */
import { type Fields, recordOf, wordsOf } from './content.ts';
import { bareTitle, commandOf } from './tool.ts';

/** `call`: an announcement; `update`: news of a call; `question`: the call as a permission shows it. */
export type Source = 'call' | 'update' | 'question';

export interface BookedCall {
  id: string;
  fields: Fields;
  /** The turn in which it began. */
  turn: number;
  /** The agent has reported its end. */
  reported: boolean;
  /** Its turn has ended, or the person rejected it. */
  closed: boolean;
  /** The agent has announced it; else only a permission showed it. */
  announced: boolean;
  rejected: boolean;
  answered: boolean;
}

export interface CallBook<T extends BookedCall> {
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
  const calls = new Set<T>();
  const byId = new Map<string, T>();
  const gone = new Set<string>();

  const newestOpen = (is: (call: T) => boolean): T | undefined =>
    [...calls].findLast((call) => !call.reported && !call.closed && is(call));

  const named = (id: string, update: Fields, source: Source, turn: number): T | undefined => {
    const known = byId.get(id);
    if (!known || source === 'update') return known;
    if (source === 'question') {
      if (known.reported || known.closed) return undefined;
      return known.announced || isSameCall(known.fields, update) ? known : undefined;
    }
    if (known.reported || known.turn !== turn) return undefined;
    // After a No the agent may still report how it ended; anything else is another try.
    return known.rejected && !isEnd(update.status) ? undefined : known;
  };

  return {
    find(update, source, turn) {
      const id = wordsOf(update.toolCallId);
      const known = named(id, update, source, turn);
      if (known) return known;
      const same = newestOpen(
        (call) =>
          call.turn === turn &&
          isSameCall(call.fields, update) &&
          (source === 'question' ? call.announced || !call.answered : !call.announced),
      );
      if (same && source !== 'question' && id !== '') byId.set(id, same);
      return same;
    },
    add(call) {
      calls.add(call);
      byId.set(call.id, call);
      gone.delete(call.id);
    },
    remove(call) {
      calls.delete(call);
      for (const [id, one] of byId)
        if (one === call) {
          byId.delete(id);
          gone.add(id);
        }
      for (const id of gone) {
        if (gone.size <= maxGone) break;
        gone.delete(id);
      }
    },
    isGone: (update, source) => source === 'update' && gone.has(wordsOf(update.toolCallId)),
    all: () => [...calls],
    get size() {
      return calls.size;
    },
  };
}

export const isEnd = (status: unknown): boolean => status === 'completed' || status === 'failed';

/** Whether both are about the same action: the same command, else the same input, else the same title. */
function isSameCall(one: Fields, other: Fields): boolean {
  const [command, asked] = [commandOf(one), commandOf(other)];
  if (command !== undefined || asked !== undefined) return command === asked;
  const [input, given] = [recordOf(one.rawInput), recordOf(other.rawInput)];
  if (Object.keys(input).length > 0 && Object.keys(given).length > 0)
    return JSON.stringify(input) === JSON.stringify(given);
  const title = bareTitle(one);
  return title !== '' && title === bareTitle(other);
}
