/** Applies operations to a list of items. Pure, and without schemas: browsers use it too. */
import type { AnyPart, Item } from './item.ts';
import type { Operation } from './operations.ts';

/** Deeper objects replace the earlier value, as lists do. No part of ours is half as deep; one from outside must not crash the program. */
const mergedLevels = 32;

/** RFC 7396 down to 32 levels, without keys that could reach the prototype of an object. */
export function merged(target: unknown, patch: unknown, levels = mergedLevels): unknown {
  if (!isObject(patch) || levels === 0) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (name === '__proto__') continue;
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value, levels - 1);
  }
  return result;
}
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The item after one operation on it, with the version of that operation; undefined for an operation on a missing item,
 * or of a kind that this release does not know.
 */
export function itemAfter(item: Item | undefined, operation: Operation, v?: number): Item | undefined {
  const stamp = v === undefined ? {} : { v };
  switch (operation.op) {
    case 'put':
      return { ...operation.item, seq: item?.seq ?? operation.item.seq, ...stamp };
    case 'add': {
      if (!item) return undefined;
      if (operation.to !== 'output') return { ...item, content: item.content + operation.text, ...stamp };
      const { output } = item.part;
      const before = typeof output === 'string' ? output : '';
      return { ...item, part: { ...item.part, output: before + operation.text }, ...stamp };
    }
    case 'set': {
      if (!item) return undefined;
      const content = operation.content ?? item.content;
      return { ...item, content, part: merged(item.part, operation.part) as AnyPart, ...stamp };
    }
    default:
      return item;
  }
}

/** The item that an operation is about; undefined for a kind that this release does not know. */
export const uuidOf = (operation: Operation): string | undefined =>
  operation.op === 'put' ? operation.item.uuid : operation.op === 'print' ? undefined : operation.uuid;

/** The order of a list: by place, and by uuid where two share one. */
export const inOrder = (one: Item, other: Item): number =>
  one.seq - other.seq || (one.uuid < other.uuid ? -1 : one.uuid > other.uuid ? 1 : 0);

/**
 * The list after the operations of one frame. Pure: keeps the order, and replaces changed items by new objects. `v`:
 * the version of the frame, which the changed items carry afterwards.
 */
export function applyOperations(items: readonly Item[], ops: readonly Operation[], v?: number): Item[] {
  const byUuid = new Map(items.map((item) => [item.uuid, item]));
  for (const operation of ops) {
    const uuid = uuidOf(operation);
    const after = uuid === undefined ? undefined : itemAfter(byUuid.get(uuid), operation, v);
    if (uuid !== undefined && after) byUuid.set(uuid, after);
  }
  return [...byUuid.values()].sort(inOrder);
}

/** The list after a `changed` answer: the items of the page replace items with the same uuid. */
export function mergeItems(items: readonly Item[], changed: readonly Item[]): Item[] {
  const byUuid = new Map(items.map((item) => [item.uuid, item]));
  for (const item of changed) byUuid.set(item.uuid, item);
  return [...byUuid.values()].sort(inOrder);
}

/** Whether a value from the wire is an item: its shape, not its bounds. */
export function isItem(value: unknown): value is Item {
  if (!isObject(value)) return false;
  const { uuid, role, content, timestamp, seq, part } = value;
  const isText = [uuid, role, content, timestamp].every((field) => typeof field === 'string');
  return isText && uuid !== '' && Number.isSafeInteger(seq) && isObject(part) && typeof part.kind === 'string';
}

/** Whether a value from the wire is an operation that this release knows. The relay does not check: the app does. */
export function isOperation(value: unknown): value is Operation {
  if (!isObject(value)) return false;
  const { op, uuid, item, text: words, to, part, content } = value;
  if (op === 'put') return isItem(item);
  if (op === 'print') return typeof words === 'string';
  if (typeof uuid !== 'string' || uuid === '') return false;
  if (op === 'add') return typeof words === 'string' && (to === undefined || to === 'output' || to === 'thought');
  return op === 'set' && isObject(part) && (content === undefined || typeof content === 'string');
}

/**
 * The text of a frame's operations for a reader that keeps no items, '' for a frame without text: `print`, else the
 * text that they add. The start of a text comes with its new item; an item replaced as a whole, or sent by the user, is
 * not new. Skips thoughts.
 * Shapes are unchecked.
 */
export function shownText(ops: unknown): string {
  let added = '';
  let printed: string | undefined;
  for (const operation of Array.isArray(ops) ? (ops as unknown[]) : []) {
    const { op, text: words, to, item } = isObject(operation) ? operation : {};
    if (op === 'print' && typeof words === 'string') printed = (printed ?? '') + words;
    const more = op === 'add' && to !== 'thought' ? words : op === 'put' ? firstWords(item) : undefined;
    if (typeof more === 'string') added += more;
  }
  return printed ?? added;
}

function firstWords(item: unknown): unknown {
  const { role, content, part } = isObject(item) ? item : {};
  const { kind, open } = isObject(part) ? part : {};
  return role === 'AGENT' && kind === 'text' && open === true ? content : undefined;
}
