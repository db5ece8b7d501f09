/** A tool call of ACP as the part of an item. Pure; reads by shape. */
import { relative } from 'node:path';
import { type Diff, type Hunk, type Part, type Subject, transcriptLimits } from '@relay/protocol';
import { keepHead } from '../bounds.ts';
import { type Fields, listOf, recordOf, wordsOf } from './content.ts';
import { diffOf } from './diff.ts';

export type ToolPart = Omit<Part<'tool'>, 'output' | 'left'>;

/** `call`: with its state as in an item. `outline`: title and state alone. The output is separate (`output.ts`). */
export function toolPart(call: Fields, cwd: string, outline: boolean): ToolPart {
  const title = keepHead(titleOf(call), transcriptLimits.inputBytes);
  const status = keepHead(wordsOf(call.status), 64) || 'pending';
  const kind = wordsOf(call.kind);
  const part: ToolPart = {
    kind: 'tool',
    id: keepHead(wordsOf(call.toolCallId), 512),
    ...(kind === '' ? {} : { does: keepHead(kind, 64) }),
    title,
    status,
  };
  if (outline) return part;
  const meta = recordOf(recordOf(call._meta).claudeCode);
  const name = wordsOf(meta.toolName) || wordsOf(call.name);
  const parent = wordsOf(meta.parentToolUseId) || wordsOf(call.parent);
  const command = commandOf(call);
  const input = recordOf(call.rawInput);
  const folder = wordsOf(input.cwd) || wordsOf(input.workdir);
  const exit = exitOf(call);
  const diffs = diffsOf(call, cwd);
  const places = listOf(call.locations)
    .filter(({ path }) => typeof path === 'string' && path !== '')
    .slice(0, transcriptLimits.places)
    .map(({ path, line }) => ({
      path: below(wordsOf(path), cwd),
      ...(Number.isSafeInteger(line) && Number(line) >= 0 ? { line: Number(line) } : {}),
    }));
  const summary = command === undefined && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
  return {
    ...part,
    ...(name === '' ? {} : { name: keepHead(name, 512) }),
    ...(summary === '' ? {} : { input: keepHead(summary, transcriptLimits.inputBytes) }),
    ...(command === undefined ? {} : { command: keepHead(command, transcriptLimits.inputBytes) }),
    ...(folder === '' ? {} : { cwd: folder.slice(0, 4096) }),
    ...(exit === undefined ? {} : { exit }),
    ...(places.length === 0 ? {} : { places }),
    ...(diffs.length === 0 ? {} : { diffs }),
    ...(parent === '' ? {} : { parent: keepHead(parent, 512) }),
  };
}

/** The title of a call, without the backticks around it; empty if untitled. */
export const bareTitle = (call: Fields): string =>
  wordsOf(call.title)
    .trim()
    .replace(/^`([^`]+)`$/, '$1');

const titleOf = (call: Fields): string => bareTitle(call) || commandOf(call) || wordsOf(call.kind) || 'Tool';

/** The command that a call runs, as one line. */
export function commandOf(call: Fields): string | undefined {
  const { command, cmd } = recordOf(call.rawInput);
  for (const value of [command, cmd]) {
    if (typeof value === 'string' && value !== '') return value;
    if (Array.isArray(value) && value.length > 0) return value.map(String).join(' ');
  }
  return undefined;
}

function exitOf(call: Fields): number | undefined {
  const output = recordOf(call.rawOutput);
  const terminal = recordOf(recordOf(call._meta).terminal_exit);
  const { exit } = recordOf(output.metadata);
  return [terminal.exit_code, output.exit_code, output.exitCode, output.exit, exit].find(
    (code): code is number => typeof code === 'number' && Number.isSafeInteger(code),
  );
}

/** The changes of a call: the agent's own lines, else computed from the texts before and after. */
function* changesOf(call: Fields, cwd: string): Generator<Diff> {
  const patch = patchOf(call, cwd);
  if (patch) yield patch;
  for (const block of patch ? [] : listOf(call.content)) {
    if (block.type !== 'diff' || typeof block.path !== 'string') continue;
    // Some agents give a new file an empty text before.
    const [before, after] = [block.oldText, block.newText].map((text) => (typeof text === 'string' ? text : undefined));
    yield diffOf(below(block.path, cwd), before === '' ? undefined : before, after);
  }
}

/** The patch that Claude Code sends beside a call, with the true numbers of its lines. */
function patchOf(call: Fields, cwd: string): Diff | undefined {
  const patch = recordOf(recordOf(recordOf(call._meta).claudeCode).toolResponse);
  const path = wordsOf(patch.filePath);
  const hunks = listOf(patch.structuredPatch).flatMap(({ oldStart, newStart, lines }): Hunk[] => {
    const isWhole = [oldStart, newStart].every((line) => Number.isSafeInteger(line) && Number(line) >= 0);
    const texts = Array.isArray(lines) ? lines.filter((line): line is string => typeof line === 'string') : [];
    return isWhole && texts.length > 0 ? [{ old: Number(oldStart), new: Number(newStart), lines: texts }] : [];
  });
  if (path === '' || hunks.length === 0) return undefined;
  const count = (sign: string) => hunks.flatMap(({ lines }) => lines).filter((line) => line.startsWith(sign)).length;
  return { path: below(path, cwd), change: 'edit', added: count('+'), removed: count('-'), hunks };
}

/** Within the bound of all of them: hunks are left out first, then whole files. */
function diffsOf(call: Fields, cwd: string): Diff[] {
  let left: number = transcriptLimits.diffBytes;
  const diffs: Diff[] = [];
  for (const diff of changesOf(call, cwd)) {
    if (diffs.length === transcriptLimits.diffFiles) break;
    const size = Buffer.byteLength(JSON.stringify(diff), 'utf8');
    if (size > left) delete diff.hunks;
    left -= Math.min(size, left);
    diffs.push(diff);
  }
  return diffs;
}

/** The subject of a permission for this call. */
export function subjectOf(call: Fields, cwd: string): Subject {
  const { command, cwd: folder, diffs, name, input, title } = toolPart(call, cwd, false);
  if (command !== undefined) return { type: 'command', command, cwd: folder ?? cwd };
  if (diffs) return { type: 'edit', diffs };
  return { type: 'tool', tool: name ?? keepHead(title, 1000), ...(input === undefined ? {} : { input }) };
}

/** Relative when the path lies below the folder of the session. */
export function below(path: string, cwd: string): string {
  if (!path.startsWith('/') || cwd === '') return path;
  const inside = relative(cwd, path);
  return inside === '' || inside.startsWith('..') ? path : inside;
}
