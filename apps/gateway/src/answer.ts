/**
 * Whether a page of a daemon's history is the end of a task (rules, 3.5). Pure, because everything depends on it: an outcome is
 * never guessed, so whatever is in doubt is no answer.
 */
import type { Message, TaskKind } from '@relay/protocol';

export interface Asked {
  kind: TaskKind;
  /** The uuid of its message at a daemon that keeps it: then the words prove nothing. Absent for any other daemon. */
  uuid?: string;
  /** The words of the user; '' when they are no longer known. */
  instruction: string;
  /** The part of its answer that is known, by which its turn is found when the words of the user are not; '' without any. */
  said?: string;
  /** When it was written to the daemon, by the relay's clock. */
  sentAtMs: number;
  /** The result of the task before it; '' without one. */
  previous: string;
  /** When that task ended, by the relay's clock; absent without one. */
  previousEndedAtMs?: number | undefined;
  /** The uuids of the messages that were sent into its turn. */
  steers?: readonly string[];
  /** When the last event of the task arrived, by the relay's clock; absent when none did on this connection. */
  heardAtMs?: number | undefined;
}

export interface Answer {
  uuid: string;
  content: string;
  timestamp: string;
  /** Messages since the instruction: an answer that grows has more of them the next time. */
  length: number;
  /** The texts of the agent before it, since the instruction. */
  earlier: Message[];
}

export interface Page {
  messages: readonly Message[];
  hasMore: boolean;
}

/** Clocks of daemons may be off by so much before a message counts as older than it is. */
const clockMs = 60_000;

const isSame = (one: string, other: string) => one.trim() === other.trim();
const timeOf = ({ timestamp }: { timestamp: string }) => Date.parse(timestamp);
const isOld = (message: Message, { sentAtMs }: Asked) => timeOf(message) < sentAtMs - clockMs;

/** Where the turn of this task begins in the page: the index of its instruction, -1 for a page that is all of it. Undefined: not here. */
function beginning({ messages, hasMore }: Page, asked: Asked): number | undefined {
  if (asked.uuid !== undefined) {
    const at = messages.findIndex(({ uuid }) => uuid === asked.uuid);
    return at < 0 ? undefined : at;
  }
  const last = messages.findLastIndex(({ role }) => role === 'USER');
  const words = asked.instruction.trim();
  const exact =
    words === '' ? -1 : messages.findLastIndex(({ role, content }) => role === 'USER' && isSame(content, words));
  // A message was sent locally since: the same words of long ago are another turn.
  if (exact >= 0) return exact === last || !isOld(messages[exact]!, asked) ? exact : undefined;
  const { said = '' } = asked;
  const known =
    words !== '' || said === '' ? -1 : messages.findLastIndex((m) => m.role === 'AGENT' && isSame(m.content, said));
  if (known >= 0) return messages.findLastIndex(({ role }, at) => at < known && role === 'USER');
  // Some daemons wrap what they pass on; and of an ended task the words are gone.
  const wrapped = last >= 0 && !isOld(messages[last]!, asked) && messages[last]!.content.includes(words);
  if (wrapped) return last;
  // A session that the task began has no other turn before it.
  if (asked.kind === 'start' && !hasMore) return messages.findIndex(({ role }) => role === 'USER');
  return undefined;
}

/**
 * Whether the daemon has a task of which it is not known that it arrived: its instruction is in the page, after the end of the task before
 * it. The same words may have begun that one, so they count behind its answer only, or when they are later by both clocks.
 * `aheadMs`: by how much the daemon's clock is ahead at least.
 */
export function hasArrived(page: Page, asked: Asked, aheadMs: number): boolean {
  const { messages } = page;
  const from = beginning(page, asked);
  if (from === undefined || from < 0) return false;
  const { uuid, kind, previous, sentAtMs } = asked;
  if (uuid !== undefined) return true;
  // Of several texts the history has each by itself.
  const isPrevious = ({ role, content }: Message) =>
    role === 'AGENT' && content.trim() !== '' && previous.trimEnd().endsWith(content.trimEnd());
  const before = messages.findLastIndex(isPrevious);
  if (before >= 0) return before < from;
  const sinceMs = asked.previousEndedAtMs ?? (kind === 'start' ? sentAtMs - clockMs : sentAtMs);
  return timeOf(messages[from]!) - aheadMs >= sinceMs;
}

/** The last words of the agent about this instruction; undefined when the page does not have it, or the agent went on after it. */
export function answerIn(page: Page, asked: Asked): Answer | undefined {
  const { messages } = page;
  const from = beginning(page, asked);
  if (from === undefined) return undefined;
  const next = messages.findIndex(
    ({ role, uuid }, at) => at > from && role === 'USER' && asked.steers?.includes(uuid) !== true,
  );
  const turn = messages.slice(from + 1, next < 0 ? undefined : next);
  const said = turn.findLast(({ role, content }) => role === 'AGENT' && content.trim() !== '');
  if (!said) return undefined;
  // The end of the task before it is in this turn: the same words began that one, which went on when its question was withdrawn.
  const isPrevious = (text: string) => asked.previous.trim() !== '' && isSame(text, asked.previous);
  if (turn.slice(0, turn.indexOf(said)).some(({ role, content }) => role === 'AGENT' && isPrevious(content)))
    return undefined;
  const instruction = messages[from];
  if (instruction) {
    // The same words said twice, and the daemon kept only the first: that is the turn before.
    if (isOld(instruction, asked) && isPrevious(said.content)) return undefined;
    // By the daemon's clock, set by when it noted the instruction: words before a later event are not the last ones.
    const saidAtMs = timeOf(said) - (timeOf(instruction) - asked.sentAtMs);
    if (asked.heardAtMs !== undefined && saidAtMs < asked.heardAtMs) return undefined;
  }
  const { uuid, content, timestamp } = said;
  const earlier = turn
    .slice(0, turn.indexOf(said))
    .filter(({ role, content }) => role === 'AGENT' && content.trim() !== '');
  return { uuid, content, timestamp, length: turn.length, earlier };
}

/** Facts that are known in addition to the page. */
export interface Circumstances {
  /** The answer in the page before; undefined when there was none, or none was asked for. */
  before: Answer | undefined;
  now: Answer | undefined;
  /** The daemon itself says that the task no longer runs: its `status` omits it. */
  omitted: boolean;
  /** Its `status` lists the task, and has never listed one that had ended. */
  listed: boolean;
  /** Its newest report says that the session is active. Often this means no more than "touched a moment ago". */
  active: boolean;
  /** Nothing is asked after this page. */
  last: boolean;
}

/** Whether the answer is the end of the task: it no longer grows, and the better the daemon says that it runs, the longer so. */
export function isEnd({ before, now, omitted, listed, active, last }: Circumstances): boolean {
  if (now === undefined) return false;
  if (omitted && !active) return true;
  if (before?.content !== now.content || before.length !== now.length) return false;
  if (active) return omitted && last;
  return !listed || last;
}
