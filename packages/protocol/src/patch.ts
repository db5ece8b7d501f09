/** Differences of files as a patch for `git apply`. */
import type { FileDiff } from './routes/changes.ts';

const linesIn = (lines: readonly string[], other: '+' | '-') =>
  lines.filter((line) => !line.startsWith(other) && !line.startsWith('\\')).length;

/** Returns the patch of one file; empty without lines. Joins adjacent hunks. */
export function patchOf({ path, change, hunks }: Pick<FileDiff, 'path' | 'change' | 'hunks'>): string {
  if (hunks.length === 0) return '';
  const from = change.from ?? path;
  const [isNew, isGone] = [change.change === 'add', change.change === 'delete'];
  const joined: FileDiff['hunks'] = [];
  for (const hunk of hunks) {
    const last = joined.at(-1);
    const begins = last?.new === undefined ? -1 : last.new + linesIn(last.lines, '-');
    if (last && begins === hunk.new && !last.lines.at(-1)?.startsWith('\\')) last.lines.push(...hunk.lines);
    else joined.push({ ...hunk, lines: [...hunk.lines] });
  }
  const texts = joined.map(({ old, new: now, lines }) => {
    const head = `@@ -${old},${linesIn(lines, '+')} +${now},${linesIn(lines, '-')} @@`;
    return `${head}\n${lines.map((line) => `${line}\n`).join('')}`;
  });
  const mode = isNew ? 'new file mode 100644\n' : isGone ? 'deleted file mode 100644\n' : '';
  const moved = change.from === undefined ? '' : `rename from ${from}\nrename to ${path}\n`;
  const sides = `--- ${isNew ? '/dev/null' : `a/${from}`}\n+++ ${isGone ? '/dev/null' : `b/${path}`}\n`;
  return `diff --git a/${from} b/${path}\n${mode}${moved}${sides}${texts.join('')}`;
}
