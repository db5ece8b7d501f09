/** File changes as content of a tool call. */
import type { ToolCallContent } from '@agentclientprotocol/sdk';
import { type Paths, localPath } from './paths.ts';

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** Returns the objects in a list; an empty list if `value` is not a list. */
export const fieldsIn = (value: unknown): Fields[] => listOf(value).filter(isFields);

export const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } });

/**
 * One diff per hunk: the lines before and after it, like agents that edit a part of a file. A change without lines (a binary file,
 * a move) becomes a sentence. Shapes are checked here because the relay does not check them.
 */
export function contentOfDiffs(diffs: unknown, cwd: string, paths: Paths): ToolCallContent[] {
  return fieldsIn(diffs).flatMap((diff) => contentOf(diff, cwd, paths));
}

function contentOf(diff: Fields, cwd: string, paths: Paths): ToolCallContent[] {
  if (typeof diff.path !== 'string') return [];
  const path = localPath(diff.path, cwd, paths);
  const contents: ToolCallContent[] = [];
  if (diff.change === 'move' && typeof diff.from === 'string')
    contents.push(textContent(`Moved ${localPath(diff.from, cwd, paths)} to ${path}.`));
  for (const { lines } of fieldsIn(diff.hunks)) {
    const all = listOf(lines).filter((line): line is string => typeof line === 'string');
    const side = (other: string) =>
      all
        .filter((line) => !line.startsWith(other))
        .map((line) => line.slice(1))
        .join('\n');
    const isNew = diff.change === 'add' && all.every((line) => line.startsWith('+'));
    contents.push({ type: 'diff', path, oldText: isNew ? null : side('+'), newText: side('-') });
  }
  if (contents.length > 0) return contents;
  const verbs: Readonly<Record<string, string>> = { add: 'Added', delete: 'Deleted' };
  const verb = Object.hasOwn(verbs, String(diff.change)) ? verbs[String(diff.change)] : undefined;
  return [textContent(`${verb ?? 'Changed'} ${path}.`)];
}
