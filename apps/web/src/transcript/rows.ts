/** The rows of a log: items, calls of tools in a row, and lines between them. */
import { dayKey } from '../catalogue.ts';
import { type LogItem, isGrowing } from './items.ts';
import { isFinished } from './parts/tool-state.ts';
import { type ToolShape, markOf, picture, planOf, questionOf, toolOf } from './parts/shape.ts';

export type Row =
  | { key: string; kind: 'earlier' }
  | { key: string; kind: 'day' | 'new'; at: string }
  | { key: string; kind: 'item'; item: LogItem; tookMs: number | undefined }
  | { key: string; kind: 'tools'; items: readonly LogItem[] }
  | { key: string; kind: 'folded'; items: readonly LogItem[]; tookMs: number | undefined };

/**
 * Decisions about items when they were first seen: nothing is regrouped under the reader's eyes, neither by new items
 * nor by older pages.
 */
interface RowMemory {
  /** Whether a call may be folded. */
  folds: Map<string, boolean>;
  /** Items with which a group began. */
  starts: Set<string>;
}
export const noMemory = (): RowMemory => ({ folds: new Map(), starts: new Set() });

const tools = new WeakMap<LogItem, ToolShape>();
export function toolShape(item: LogItem): ToolShape {
  const known = tools.get(item);
  if (known) return known;
  const shape = toolOf(item.part);
  tools.set(item, shape);
  return shape;
}

/** Agents report a call that a person rejected as failed, just before its question: it never ran. */
function markRejected(items: readonly LogItem[]): void {
  items.forEach(({ part }, at) => {
    if (part.kind !== 'question') return;
    const { answer, command } = questionOf(part);
    if (!answer?.isNo) return;
    const call = items.slice(0, at).findLast((item) => item.part.kind === 'tool');
    const shape = call && toolShape(call);
    if (shape?.command === command && shape?.status === 'failed') tools.set(call!, { ...shape, status: 'rejected' });
  });
}

const loud = new Set(['edit', 'delete', 'move']);
/** Finished, and nothing of it needs a look. */
const isQuiet = (item: LogItem): boolean => {
  const { status, does, diffs, exit } = toolShape(item);
  return status === 'completed' && diffs.length === 0 && !loud.has(does ?? '') && (exit ?? 0) === 0;
};

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

const between = (from: string, to: string | undefined): number | undefined => {
  const ms = to === undefined ? Number.NaN : Date.parse(to) - Date.parse(from);
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
};

interface RowOptions {
  memory: RowMemory;
  /** Older items are to come: the first one may not be the first of its day. */
  hasMore: boolean;
  /** Older items could not be loaded. */
  earlierFailed?: boolean;
  /** The first item that was not there when the person left. */
  newFrom?: string | undefined;
}

export function rowsOf(
  all: readonly LogItem[],
  { memory, hasMore, earlierFailed = false, newFrom }: RowOptions,
): Row[] {
  // The line of an answered question shows the choice: the message that was the choice would say it a second time.
  const isSaid = ({ part: { answers }, content }: LogItem) =>
    answers && questionOf(all.find(({ uuid }) => uuid === answers)?.part).answer?.text === content;
  const items = all.filter((item) => isShown(item) && !isSaid(item));
  markRejected(items);
  const rows: Row[] = earlierFailed ? [{ key: 'earlier', kind: 'earlier' }] : [];
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
    const group = groupAt(items, at, memory, newFrom);
    rows.push(
      group.length >= 2 && folds(group[0]!, memory)
        ? {
            key: item.uuid,
            kind: 'folded',
            items: group,
            tookMs: between(item.timestamp, items[at + group.length]?.timestamp),
          }
        : { key: item.uuid, kind: 'tools', items: group },
    );
    at += group.length;
  }
  return rows;
}

function folds(item: LogItem, { folds: known }: RowMemory): boolean {
  const before = known.get(item.uuid);
  if (before !== undefined) return before;
  // Seen at work, it stays as it is until the person comes back.
  const now = isFinished(toolShape(item)) && isQuiet(item);
  known.set(item.uuid, now);
  return now;
}

/** Calls that stand together: at least two that fold, or others with what stands between them. */
function groupAt(items: readonly LogItem[], from: number, memory: RowMemory, newFrom: string | undefined): LogItem[] {
  const belongs = (index: number) => {
    const item = items[index];
    if (item?.part.kind !== 'tool') return false;
    if (index === from) return true;
    return (
      !memory.starts.has(item.uuid) &&
      item.uuid !== newFrom &&
      dayKey(item.timestamp) === dayKey(items[from]!.timestamp)
    );
  };
  const foldable = (index: number) => belongs(index) && folds(items[index]!, memory);
  const isFold = foldable(from) && foldable(from + 1);
  const group: LogItem[] = [];
  for (let index = from; belongs(index); index++) {
    if (isFold ? !foldable(index) : index > from && foldable(index) && foldable(index + 1)) break;
    group.push(items[index]!);
  }
  memory.starts.add(items[from]!.uuid);
  return group;
}
