/** Two texts → unified hunks. Pure. */
import { type Diff, type Hunk, transcriptLimits } from '@relay/protocol';

const context = 3;
/** Product of the differing lines of both sides: beyond that all of them count as replaced. */
const maxCells = 1_000_000;

/** The change of a file; `before` is undefined for a new one, `after` for a deleted one. Without hunks when it is binary or too large. */
export function diffOf(path: string, before: string | undefined, after: string | undefined): Diff {
  const change = before === undefined ? 'add' : after === undefined ? 'delete' : 'edit';
  const [old, now] = [linesOf(before ?? ''), linesOf(after ?? '')];
  const isBinary = `${before ?? ''}${after ?? ''}`.includes('\u0000');
  const script = scriptOf(old, now);
  const added = script.filter(({ sign }) => sign === '+').length;
  const removed = script.filter(({ sign }) => sign === '-').length;
  const hunks = isBinary ? [] : hunksOf(script);
  const isLarge = Buffer.byteLength(JSON.stringify(hunks), 'utf8') > transcriptLimits.diffBytes;
  return { path, change, added, removed, ...(isBinary || isLarge ? {} : { hunks }) };
}

interface Step {
  sign: ' ' | '-' | '+';
  line: string;
}

/** The lines of a text; an empty list for an empty text. */
export const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Equal, removed and added lines in order: the common head and tail, and a longest common subsequence between them. */
function scriptOf(old: readonly string[], now: readonly string[]): Step[] {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const same = (line: string): Step => ({ sign: ' ', line });
  return [
    ...old.slice(0, head).map(same),
    ...middle(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...old.slice(old.length - tail).map(same),
  ];
}

function middle(old: readonly string[], now: readonly string[]): Step[] {
  const gone = (line: string): Step => ({ sign: '-', line });
  const come = (line: string): Step => ({ sign: '+', line });
  if (old.length * now.length > maxCells) return [...old.map(gone), ...now.map(come)];
  const width = now.length + 1;
  /** Length of a longest common subsequence from here on. */
  const common = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      common[i * width + j] =
        old[i] === now[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const steps: Step[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      steps.push({ sign: ' ', line: old[i]! });
      i++;
      j++;
    } else if (j === now.length || (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      steps.push(gone(old[i++]!));
    else steps.push(come(now[j++]!));
  }
  return steps;
}

function hunksOf(script: readonly Step[]): Hunk[] {
  const hunks: Hunk[] = [];
  let [old, now] = [0, 0];
  let hunk: Hunk | undefined;
  let quiet = 0;
  for (const [index, { sign, line }] of script.entries()) {
    if (sign === ' ') {
      const isNear = script.slice(index + 1, index + 1 + context).some((step) => step.sign !== ' ');
      quiet++;
      if (hunk && quiet > context && !isNear) hunk = undefined;
      else if (!hunk && isNear) hunks.push((hunk = { old: old + 1, new: now + 1, lines: [] }));
    } else {
      quiet = 0;
      if (!hunk) hunks.push((hunk = { old: old + 1, new: now + 1, lines: [] }));
    }
    hunk?.lines.push(`${sign}${line}`);
    if (sign !== '+') old++;
    if (sign !== '-') now++;
  }
  // A side without lines has no first line.
  for (const one of hunks) {
    if (one.lines.every((line) => line.startsWith('+'))) one.old--;
    if (one.lines.every((line) => line.startsWith('-'))) one.new--;
  }
  return hunks;
}
