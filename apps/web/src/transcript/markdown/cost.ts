/**
 * The cost of reading a text as Markdown, estimated in one pass. Some texts take time that grows with the square of their length,
 * or worse: an agent can print such a text by accident, and the author of a text that the agent reads can do it on purpose. Such
 * texts are shown as written.
 */

/** Counted in steps of the estimates below; measured to stay under the cost of 100 kB of ordinary Markdown. */
export const budget = { blocks: 400_000, inline: 10_000_000 } as const;
/** Lines of one text, and paragraphs, items and cells in it: each is an element of the page. */
const mostLines = 5000;
export const mostPieces = 5000;
/** Lists and quotes inside of each other. */
const deepest = 60;

const marks = /[*_~[\]<&`\\!]/g;
const words = /\S+/g;
const addresses = /:\/\/|www\.|@/gi;

/**
 * The cost of a paragraph: marks are compared with each other, each long word is tried as an address from each of its characters,
 * and each address becomes three elements.
 */
export function inlineCost(text: string): number {
  const count = text.match(marks)?.length ?? 0;
  const links = text.match(addresses)?.length ?? 0;
  let cost = count * count + links * links;
  for (const { 0: word } of text.matchAll(words)) if (word.length > 100) cost += word.length * word.length;
  return cost;
}

const prefix = /^(?:[ \t]|>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*/;
const marker = /[->+*]|\d+[.)]/g;
/** A prefix is not read further than this: nothing is that deep. */
const prefixCharacters = 4096;

/** Whether it has too many lines, or lines that are read again for each of too many lists and quotes around them. */
export function isCostly(text: string): boolean {
  let cost = 0;
  let lines = 0;
  /** Lists and quotes around the line before. */
  let around = 0;
  let wasBlank = true;
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    const [before] = prefix.exec(text.slice(start, Math.min(end, start + prefixCharacters)))!;
    const isBlank = before.length === end - start && before.trim() === '';
    const markers = before.match(marker)?.length ?? 0;
    const indent = Math.floor((before.length - markers) / 2);
    // A line without its own mark belongs to the block around it, as far as it is indented, or at once.
    if (markers > 0) around = markers + indent;
    else if (wasBlank) around = Math.min(around, indent);
    cost += isBlank ? 0 : (end - start) * around;
    if (around > deepest || cost > budget.blocks || (lines += 1) > mostLines) return true;
    wasBlank = isBlank;
    start = end + 1;
  }
  return false;
}
