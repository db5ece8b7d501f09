/** The state of a call, and its text. */
import { words } from '../../catalogue.ts';
import type { ToolShape } from './shape.ts';

export const workOfChange = (change: string): string =>
  change === 'add' ? 'create' : change === 'delete' || change === 'move' ? change : 'edit';
/** The kind of work of a call; changes of files name their own. */
function workOf({ does, diffs }: ToolShape): string | undefined {
  const [first] = diffs;
  if (!first || does === 'execute') return does;
  return diffs.every(({ change }) => change === first.change) ? workOfChange(first.change) : 'edit';
}

/** Only a call that the agent reported as completed reads as done. */
export function verbOf(tool: ToolShape): string {
  switch (tool.status) {
    case 'pending':
      return words.tool.waiting;
    case 'running':
      return words.tool.now(workOf(tool));
    case 'completed':
      return words.tool.past(workOf(tool));
    case 'failed':
      return words.tool.failed;
    case 'rejected':
      return words.tool.rejected;
    case 'cancelled':
      // A call whose permission is unanswered never ran. Any other might have been stopped halfway.
      return tool.asked && tool.asked.answer === undefined ? words.tool.notRun : words.tool.cancelled;
    default:
      return words.tool.unknown;
  }
}

/** The target of a call, in one line. */
export function targetOf({ command, paths, diffs, title, name }: ToolShape): { text: string; isCode: boolean } {
  if (command) return { text: command.split('\n')[0]!, isCode: true };
  const [path, ...others] = paths.length > 0 ? paths : diffs.map((diff) => diff.path);
  if (path !== undefined && others.length === 0) return { text: path, isCode: true };
  return { text: title === '' ? (name ?? '') : title, isCode: false };
}

/** The state and the target of an open call. */
export const nowOf = (tool: ToolShape): string => `${verbOf(tool)} ${targetOf(tool).text}`.trim();

const between = (from: string | undefined, to: string | undefined): number =>
  Date.parse(to ?? '') - Date.parse(from ?? '');

/** When the call began to run: waiting for the person's answer does not count. */
export const beganAt = ({ asked }: ToolShape, at: string): string =>
  asked?.answer === 'allowed' && between(at, asked.at) > 0 ? asked.at! : at;

/** How long a call took, in milliseconds; undefined where it is unknown. */
export function tookOf(tool: ToolShape, at: string): number | undefined {
  if (tool.status !== 'completed' && tool.status !== 'failed') return undefined;
  const ms = between(beganAt(tool, at), tool.ended);
  return ms >= 0 ? ms : undefined;
}
