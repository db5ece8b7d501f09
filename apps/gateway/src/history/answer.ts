/**
 * Decides whether a page of a daemon's history completes a task (rules, 3.5). Pure, because everything depends on it.
 * It never guesses an outcome: a doubtful page counts as no answer.
 */
import type { Message, TaskKind } from '@relay/protocol';

export interface SearchedTask {
  kind: TaskKind;
  /**
   * The uuid of the task's message, at a daemon that keeps uuids: then equal text proves nothing. Absent for any other
   * daemon.
   */
  uuid?: string;
  /** The user's message; '' once the relay has deleted it. */
  instruction: string;
  /** The known part of the answer, which identifies the turn if the user's message is missing; '' if unknown. */
  result?: string;
  /** When it was written to the daemon, by the relay's clock. */
  sentAtMs: number;
  /** The result of the task before it; '' without one. */
  previous: string;
  /** When that task finished, by the relay's clock; absent without such a task. */
  previousEndedAtMs?: number | undefined;
  /** The uuids of the messages that were sent into its turn. */
  steers?: readonly string[];
  /**
   * When the last event of the task arrived, by the relay's clock; absent before the first event on this connection.
   */
  lastEventAtMs?: number | undefined;
}

export interface TurnAnswer {
  uuid: string;
  content: string;
  timestamp: string;
  /** Messages since the instruction: an answer that grows has more of them the next time. */
  length: number;
  /** The texts of the agent before it, since the instruction. */
  earlier: Message[];
}

export interface MessageSlice {
  messages: readonly Message[];
  hasMore: boolean;
}

/** Tolerance for the clocks of daemons before a message counts as too old. */
const clockMs = 60_000;

const isSame = (one: string, other: string) => one.trim() === other.trim();
const timeOf = ({ timestamp }: { timestamp: string }) => Date.parse(timestamp);
const isOld = (message: Message, { sentAtMs }: SearchedTask) => timeOf(message) < sentAtMs - clockMs;

/** Where the turn of this task begins in the page: the index of its instruction, -1 for a page that is all of it. Undefined: not here. */
function beginning({ messages, hasMore }: MessageSlice, task: SearchedTask): number | undefined {
  if (task.uuid !== undefined) {
    const at = messages.findIndex(({ uuid }) => uuid === task.uuid);
    return at < 0 ? undefined : at;
  }
  const last = messages.findLastIndex(({ role }) => role === 'USER');
  const words = task.instruction.trim();
  const exact =
    words === '' ? -1 : messages.findLastIndex(({ role, content }) => role === 'USER' && isSame(content, words));
  // A local message came later: the same text from long ago belongs to another turn.
  if (exact >= 0) return exact === last || !isOld(messages[exact]!, task) ? exact : undefined;
  const { result = '' } = task;
  const partial =
    words !== '' || result === '' ? -1 : messages.findLastIndex((m) => m.role === 'AGENT' && isSame(m.content, result));
  if (partial >= 0) return messages.findLastIndex(({ role }, at) => at < partial && role === 'USER');
  // Some daemons wrap the text they forward, and the relay deletes the text of a completed task.
  const wrapped = last >= 0 && !isOld(messages[last]!, task) && messages[last]!.content.includes(words);
  if (wrapped) return last;
  // A session that the task began starts with its turn.
  if (task.kind === 'start' && !hasMore) return messages.findIndex(({ role }) => role === 'USER');
  return undefined;
}

/**
 * Whether an unconfirmed task reached the daemon: its instruction is in the page, after the answer to the previous
 * task. The previous task can have the same text, so the match must follow its answer, or be later by both clocks.
 * `aheadMs`: minimum by which the daemon's clock is ahead.
 */
export function hasArrived(page: MessageSlice, task: SearchedTask, aheadMs: number): boolean {
  const { messages } = page;
  const from = beginning(page, task);
  if (from === undefined || from < 0) return false;
  const { uuid, kind, previous, sentAtMs } = task;
  if (uuid !== undefined) return true;
  // The history stores each of several texts separately.
  const isPrevious = ({ role, content }: Message) =>
    role === 'AGENT' && content.trim() !== '' && previous.trimEnd().endsWith(content.trimEnd());
  const before = messages.findLastIndex(isPrevious);
  if (before >= 0) return before < from;
  const sinceMs = task.previousEndedAtMs ?? (kind === 'start' ? sentAtMs - clockMs : sentAtMs);
  return timeOf(messages[from]!) - aheadMs >= sinceMs;
}

/**
 * The agent's last message on this instruction; undefined if it is missing from the page, or if the agent continued
 * after it.
 */
export function answerIn(page: MessageSlice, task: SearchedTask): TurnAnswer | undefined {
  const { messages } = page;
  const from = beginning(page, task);
  if (from === undefined) return undefined;
  const next = messages.findIndex(
    ({ role, uuid }, at) => at > from && role === 'USER' && task.steers?.includes(uuid) !== true,
  );
  const turn = messages.slice(from + 1, next < 0 ? undefined : next);
  const last = turn.findLast(({ role, content }) => role === 'AGENT' && content.trim() !== '');
  if (!last) return undefined;
  // This turn contains the previous task's answer: that task had the same text, and continued after its question was
  // withdrawn.
  const isPrevious = (text: string) => task.previous.trim() !== '' && isSame(text, task.previous);
  if (turn.slice(0, turn.indexOf(last)).some(({ role, content }) => role === 'AGENT' && isPrevious(content)))
    return undefined;
  const instruction = messages[from];
  if (instruction) {
    // The user sent the same text twice, and the daemon kept only the first: this is the previous turn.
    if (isOld(instruction, task) && isPrevious(last.content)) return undefined;
    // Use the daemon's clock, calibrated by the instruction: a message older than a later event is not the last one.
    const lastAtMs = timeOf(last) - (timeOf(instruction) - task.sentAtMs);
    if (task.lastEventAtMs !== undefined && lastAtMs < task.lastEventAtMs) return undefined;
  }
  const { uuid, content, timestamp } = last;
  const earlier = turn
    .slice(0, turn.indexOf(last))
    .filter(({ role, content }) => role === 'AGENT' && content.trim() !== '');
  return { uuid, content, timestamp, length: turn.length, earlier };
}

/** Facts that are known in addition to the page. */
export interface Circumstances {
  /** The answer in the previous page; undefined if that page had no answer, or was not requested. */
  before: TurnAnswer | undefined;
  now: TurnAnswer | undefined;
  /** The daemon confirms that the task stopped: its `status` omits it. */
  omitted: boolean;
  /** Its `status` lists the task, and never listed a finished task. */
  listed: boolean;
  /** Its newest report marks the session as active. Often this only means "touched a moment ago". */
  active: boolean;
  /** No page follows. */
  last: boolean;
}

/**
 * Whether the answer completes the task: it stopped growing, for longer the more evidence shows the task as running.
 */
export function isEnd({ before, now, omitted, listed, active, last }: Circumstances): boolean {
  if (now === undefined) return false;
  if (omitted && !active) return true;
  if (before?.content !== now.content || before.length !== now.length) return false;
  if (active) return omitted && last;
  return !listed || last;
}
