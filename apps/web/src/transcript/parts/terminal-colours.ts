/** Colours of a terminal as classes, never HTML: a chunk of its own, loaded with the first output that has any. */
import Anser from 'anser';
import { type TermStretch, cleaned } from './terminal-text.ts';

const classOf = (name: string | null | undefined) =>
  name ? `a-${name.replace(/^ansi-(?:bright-)?/, '').replace(/-fg$/, '')}` : '';

export function colouredLines(text: string): TermStretch[][] {
  const lines: TermStretch[][] = [[]];
  const entries = Anser.ansiToJson(cleaned(text), { json: true, remove_empty: true, use_classes: true });
  for (const { content, fg, decorations } of entries) {
    const classes = [fg, ...(decorations ?? [])]
      .map(classOf)
      .filter((name) => /^a-[a-z]+$/.test(name))
      .join(' ');
    content
      .replaceAll('\u001b', '')
      .split('\n')
      .forEach((piece, index) => {
        if (index > 0) lines.push([]);
        if (piece !== '') lines.at(-1)!.push([piece, classes]);
      });
  }
  return lines;
}
