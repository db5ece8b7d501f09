/** The rows of a log: items, calls of tools in a row, and lines between them. */
import { dayKey } from '../catalogue.ts';
import { type LogItem, isGrowing } from './items.ts';
import { type ToolShape, markOf, picture, planOf, questionIn, questionOf, toolOf } from './parts/shape.ts';

export type TranscriptRow =
  | { key: string; kind: 'earlier' }
  | { key: string; kind: 'day' | 'new'; at: string }
  | { key: string; kind: 'item'; item: LogItem; tookMs: number | undefined }
  | { key: string; kind: 'tools'; calls: readonly ToolCall[] }
  | { key: string; kind: 'folded'; calls: readonly ToolCall[]; tookMs: number | undefined };

/**
 * Decisions about items when they were first seen: nothing is regrouped under the reader's eyes, neither by new items
 * nor by older pages.
 */
interface RowMemory {
  /** Whether a call can be folded. */
  folds: Map<string, boolean>;
  /** The first items of groups. */
  starts: Set<string>;
}
export const noMemory = (): RowMemory => ({ folds: new Map(), starts: new Set() });

/** A call as its line shows it. */
export interface ToolCall {
  uuid: string;
  at: string;
  tool: ToolShape;
}

type Questions = ReadonlyMap<LogItem, LogItem>;
/** One object per call and question, so that a line that did not change is not rendered again. */
const cache = new WeakMap<LogItem, { question: LogItem | undefined; call: ToolCall }>();
function callOf(item: LogItem, questions: Questions): ToolCall {
  const question = questions.get(item);
  const before = cache.get(item);
  if (before && before.question === question) return before.call;
  const tool = toolOf(item.part, question && questionOf(question.part));
  const call = { uuid: item.uuid, at: item.timestamp, tool };
  cache.set(item, { question, call });
  return call;
}

/** The question about each call. Older daemons do not link them: the call is the last one before its question, with the same command. */
function questionsOf(items: readonly LogItem[]): Questions {
  const byUuid = new Map(items.filter(({ part }) => part.kind === 'question').map((item) => [item.uuid, item]));
  const questions = new Map<LogItem, LogItem>();
  let last: LogItem | undefined;
  for (const item of items) {
    const { part } = item;
    const linked = part.kind === 'tool' ? byUuid.get(questionIn(part) ?? '') : undefined;
    if (linked) {
      questions.set(item, linked);
      byUuid.delete(linked.uuid);
    }
  }
  for (const item of items) {
    if (item.part.kind === 'tool') last = item;
    if (!last || !byUuid.has(item.uuid) || questions.has(last) || last.part['asked'] !== undefined) continue;
    const { command } = questionOf(item.part);
    if (command !== undefined && command === last.part['command']) questions.set(last, item);
  }
  return questions;
}

const reads = new Set(['read', 'search', 'fetch']);
/** It only read, and it worked. */
const isQuiet = ({ status, does, diffs, exit, asked }: ToolShape): boolean =>
  status === 'completed' && reads.has(does ?? '') && diffs.length === 0 && (exit ?? 0) === 0 && !asked;

/** Whether there is anything to see: open questions are shown above the composer, figures below it. */
export function isShown(item: LogItem): boolean {
  const { kind } = item.part;
  if (kind === 'usage') return false;
  if (kind === 'question') return questionOf(item.part).state !== 'open';
  if (kind === 'mark')
    return markOf(item.part).text !== '' || ['cancelled', 'interrupted', 'compacted'].includes(markOf(item.part).what);
  if (kind === 'plan') return planOf(item.part).length > 0;
  if (kind === 'image') return picture(item.part) !== undefined;
  return ['tool', 'user', 'error'].includes(kind) || item.content.trim() !== '' || isGrowing(item);
}

const placeholder = /^\[image: [^\]\n]*\]$/gm;
const bare = (text: string) => text.replace(placeholder, ' ').replace(/\s+/g, ' ').trim();
const unrepeated = new WeakMap<LogItem, LogItem>();
/** Older daemons sent an answer with images again as one text, with a placeholder for each image: only the new text is shown. */
function withoutRepeats(items: readonly LogItem[]): LogItem[] {
  let shownText = '';
  let hasImage = false;
  return items.map((item) => {
    const { kind } = item.part;
    if (kind === 'user') [shownText, hasImage] = ['', false];
    hasImage ||= kind === 'image';
    if (kind !== 'text' || isGrowing(item)) return item;
    const end = hasImage ? [...item.content.matchAll(placeholder)].at(-1) : undefined;
    const after = end && end.index + end[0].length;
    const repeats = after !== undefined && shownText.includes(bare(item.content.slice(0, after)));
    const rest = item.content.slice(after).trim();
    const isNew = !shownText.includes(bare(rest));
    shownText += ` ${bare(item.content)}`;
    if (!repeats) return item;
    const shown = unrepeated.get(item) ?? { ...item, content: isNew ? rest : '' };
    unrepeated.set(item, shown);
    return shown;
  });
}

const between = (from: string, to: string | undefined): number | undefined => {
  const ms = to === undefined ? Number.NaN : Date.parse(to) - Date.parse(from);
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
};

interface RowOptions {
  memory: RowMemory;
  /** Older items follow: the first one here might not be the first of its day. */
  hasMore: boolean;
  /** Older items could not be loaded. */
  earlierFailed?: boolean;
  /** The first item that was not there when the person left. */
  newFrom?: string | undefined;
}

export function rowsOf(
  all: readonly LogItem[],
  { memory, hasMore, earlierFailed = false, newFrom }: RowOptions,
): TranscriptRow[] {
  const questions = questionsOf(all);
  /** Questions that the line of their call answers. */
  const inCalls = new Set([...questions.values()].filter(({ part }) => questionOf(part).answer));
  // The line of a question shows its answer, and the line of a call only the choice: the message with the answer would repeat it.
  const isAnswered = ({ part: { answers }, content }: LogItem) => {
    const question = answers ? all.find(({ uuid }) => uuid === answers) : undefined;
    const answer = question && questionOf(question.part).answer;
    return answer && answer.text === content && (answer.option !== undefined || !inCalls.has(question));
  };
  const items = withoutRepeats(all).filter((item) => isShown(item) && !inCalls.has(item) && !isAnswered(item));
  const rows: TranscriptRow[] = earlierFailed ? [{ key: 'earlier', kind: 'earlier' }] : [];
  let day = hasMore && items[0] ? dayKey(items[0].timestamp) : '';
  for (let at = 0; at < items.length;) {
    const item = items[at]!;
    const own = dayKey(item.timestamp);
    if (own !== '' && own !== day) rows.push({ key: `day ${item.uuid}`, kind: 'day', at: item.timestamp });
    if (own !== '') day = own;
    if (item.uuid === newFrom) rows.push({ key: `new ${item.uuid}`, kind: 'new', at: item.timestamp });
    if (item.part.kind !== 'tool') {
      rows.push({ key: item.uuid, kind: 'item', item, tookMs: between(item.timestamp, items[at + 1]?.timestamp) });
      at += 1;
      continue;
    }
    const { calls, isFold } = groupAt(items, at, { questions, memory, newFrom });
    const end = items[at + calls.length]?.timestamp;
    rows.push(
      isFold
        ? { key: item.uuid, kind: 'folded', calls, tookMs: between(item.timestamp, end) }
        : { key: item.uuid, kind: 'tools', calls },
    );
    at += calls.length;
  }
  return rows;
}

/** A call that the person saw running stays unchanged until they return; an update of a folded call can unfold it. */
function folds({ uuid, tool }: ToolCall, { folds: decided }: RowMemory): boolean {
  const isFold = isQuiet(tool) && decided.get(uuid) !== false;
  if (!decided.has(uuid)) decided.set(uuid, isFold);
  return isFold;
}

interface GroupOptions {
  questions: Questions;
  memory: RowMemory;
  newFrom: string | undefined;
}
/** Adjacent calls: at least two that fold, or other calls with the items between them. */
function groupAt(items: readonly LogItem[], from: number, { questions, memory, newFrom }: GroupOptions) {
  const callAt = (index: number): ToolCall | undefined => {
    const item = items[index];
    if (item?.part.kind !== 'tool') return undefined;
    const isFirst =
      memory.starts.has(item.uuid) ||
      item.uuid === newFrom ||
      dayKey(item.timestamp) !== dayKey(items[from]!.timestamp);
    return index > from && isFirst ? undefined : callOf(item, questions);
  };
  const foldable = (index: number) => {
    const call = callAt(index);
    return call !== undefined && folds(call, memory);
  };
  const isFold = foldable(from) && foldable(from + 1);
  const calls: ToolCall[] = [];
  for (let index = from; ; index++) {
    const call = callAt(index);
    if (!call || (isFold ? !foldable(index) : index > from && foldable(index) && foldable(index + 1))) break;
    calls.push(call);
  }
  memory.starts.add(items[from]!.uuid);
  return { calls, isFold };
}
