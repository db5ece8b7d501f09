/**
 * Markdown as top-level blocks. While text grows, only its last block is lexed again; earlier blocks keep their tokens, so that nothing of
 * them is rendered again. The raw texts of the blocks, one after another, are the whole text.
 */
import { Lexer, type Token, Tokenizer, type Tokens, type TokensList } from 'marked';
import type { RemendOptions } from 'remend';
import { budget, inlineCost, isCostly, mostPieces } from './cost.ts';

export interface Blocks {
  /** The whole text. */
  text: string;
  tokens: readonly Token[];
  /** Length of the closed blocks in characters, and their number of tokens. */
  closedCharacters: number;
  closedTokens: number;
  links: TokensList['links'];
}

export const noBlocks: Blocks = { text: '', tokens: [], closedCharacters: 0, closedTokens: 0, links: {} };

function lexed(text: string, links: TokensList['links']): Token[] {
  if (isCostly(text)) return [plain(text)];
  try {
    const lexer = new Lexer({ gfm: true, tokenizer: new AgentTokenizer() });
    lexer.tokens.links = links;
    lexer.blockTokens(text, lexer.tokens);
    // Like `Lexer.lex`, within a budget: text that would cost too much stays as it was written.
    const queue = lexer.inlineQueue.splice(0);
    if (queue.length > mostPieces) return [plain(text)];
    let left = budget.inline;
    for (const { src, tokens } of queue) {
      left -= inlineCost(src);
      if (left < 0) tokens.push({ type: 'text', raw: src, text: src, escaped: false });
      else lexer.inlineTokens(src, tokens);
    }
    return [...lexer.tokens];
  } catch {
    // Nested deeper than the stack: still text.
    return [plain(text)];
  }
}

/** Text that the page shows unchanged. */
const plain = (raw: string): Token => ({ type: 'plain', raw });

/** Hides trailing marks that the next characters can complete. */
export function withoutLooseEnd(text: string): string {
  const lineStart = text.lastIndexOf('\n') + 1;
  const line = text.slice(lineStart);
  // A fence that opens or closes.
  if (/^\s{0,3}(?:`{1,2}|~{1,2})$/.test(line)) return text.slice(0, lineStart);
  const fences = text.match(/^ {0,3}(?:`{3,}|~{3,})/gm)?.length ?? 0;
  if (fences % 2 === 1) return text;
  const beforeTable = withoutOpenTable(text);
  if (beforeTable !== undefined) return beforeTable;
  // A heading, a list or a quote without text, and marks of emphasis.
  if (/^\s*(?:#{1,6}|[-+*]|\d{1,9}[.)]|>|[-+*] \[[ xX]?\]?)\s*$/.test(line) || /^ {0,3}(?:=+|-+)$/.test(line))
    return text.slice(0, lineStart);
  const unlinked = text.replace(/\[([^\][\n]*)\]$/, '$1');
  return unlinked.replace(/(?:[*_~`]+|!?\[|\]\([^)\s]*|&[#\w]{0,8}|<[^>\n]{0,200}|\\)$/, (mark, at: number) =>
    isOpening(text, at, mark) ? '' : mark,
  );
}

/** The text before a table whose second line has not arrived: until then it is not a table. */
function withoutOpenTable(text: string): string | undefined {
  const lines = text.split('\n');
  const isGrowing = lines.at(-1) !== '';
  if (!isGrowing) lines.pop();
  let start = lines.length;
  while (start > 0 && /^ {0,3}\|/.test(lines[start - 1]!)) start -= 1;
  const count = lines.length - start;
  const isOpen = count === 1 || (count === 2 && isGrowing && !isDelimiter(lines[start]!, lines[start + 1]!));
  return isOpen ? lines.slice(0, start).join('\n') : undefined;
}

/** True if a trailing mark begins something, or is half of a closing mark. */
function isOpening(text: string, at: number, mark: string): boolean {
  const first = mark[0]!;
  if (!'*_~`'.includes(first))
    return !mark.startsWith('](') || !text.slice(0, at).includes('[') ? mark[0] !== ']' : false;
  const line = text.slice(text.lastIndexOf('\n', at) + 1, at);
  const before = line.split(mark).length - 1;
  return before % 2 === 0;
}

function isDelimiter(head: string, line: string): boolean {
  if (!/^ {0,3}\|?(?: *:?-+:? *\|)+ *(?::?-+:? *)?$/.test(line)) return false;
  const cells = (row: string) =>
    row
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|').length;
  return cells(head) === cells(line);
}

let mend: ((text: string, options: RemendOptions) => string) | undefined;

/** Loads the repair of open marks. Only text that grows needs it. */
export const loadMend = async (): Promise<void> => {
  mend ??= (await import('remend')).default;
};

/** Closes marks that are still open: bold, code, links. A fence closes itself. The first text that grows shows its marks until `mend` is here. */
function closed(text: string): string {
  const shown = withoutLooseEnd(text);
  if (mend) return mend(shown, { linkMode: 'text-only', images: false, katex: false });
  loadMend().catch(() => undefined);
  return shown;
}

const isSpace = ({ type }: Token) => type === 'space' || type === 'def';

/**
 * The blocks of a text that was `before` and is `text` now.
 * @param open more text can follow: incomplete syntax is shown without its marks
 */
export function blocksOf(text: string, open: boolean, before: Blocks = noBlocks): Blocks {
  const source = text.replace(/\r\n?/g, '\n');
  const goesOn = before.closedCharacters > 0 && source.startsWith(before.text.slice(0, before.closedCharacters));
  const start = goesOn ? before.closedCharacters : 0;
  const kept = goesOn ? before.tokens.slice(0, before.closedTokens) : [];
  const links = goesOn ? before.links : {};
  const rest = source.slice(start);
  const fresh = lexed(rest, links);

  // All before the last block can no longer change, if raw texts and text agree.
  let last = fresh.length - 1;
  while (last > 0 && isSpace(fresh[last]!)) last -= 1;
  const ahead = fresh.slice(0, Math.max(last, 0));
  const aheadCharacters = ahead.reduce((sum, { raw }) => sum + raw.length, 0);
  const agrees = ahead.map(({ raw }) => raw).join('') === rest.slice(0, aheadCharacters);
  const closedNow = agrees ? ahead : [];
  const closedCharacters = start + (agrees ? aheadCharacters : 0);
  const shown = open ? [...closedNow, ...lexed(closed(rest.slice(closedCharacters - start)), links)] : fresh;
  return {
    text: source,
    tokens: [...kept, ...shown],
    closedCharacters,
    closedTokens: kept.length + closedNow.length,
    links,
  };
}

/** Emphasis with a mark outside of ASCII as its first or last character: `**注意：**请`. The rules do not close it, because no space follows. */
const besideWide = /^(\*{1,2})(?=[^\s*])([^*\n]*[^\s*])\1(?!\*)/;
const wide = /^[^\0-\x7f\p{L}\p{N}]|[^\0-\x7f\p{L}\p{N}]$/u;

/** Where Markdown, as agents write it, differs from the rules of GitHub: tildes, addresses and emphasis beside full-width marks. */
class AgentTokenizer extends Tokenizer {
  /** Two tildes: one is "about" and the folder of a person. */
  override del(src: string, maskedSrc: string, prevChar?: string): Tokens.Del | undefined {
    return src.startsWith('~~') ? super.del(src, maskedSrc, prevChar) : undefined;
  }

  /** A bare address stops at the first character outside of ASCII: marks of other scripts follow it without a space. */
  override url(src: string): Tokens.Link | undefined {
    const found = super.url(src);
    const at = found ? found.raw.search(/[^\0-\x7f]/) : -1;
    return at === -1 ? found : super.url(src.slice(0, at));
  }

  override emStrong(src: string, maskedSrc: string, prevChar?: string): Tokens.Em | Tokens.Strong | undefined {
    const [, marks = '', inside = ''] = besideWide.exec(maskedSrc.slice(-src.length)) ?? [];
    if (!wide.test(inside)) return super.emStrong(src, maskedSrc, prevChar);
    const text = src.slice(marks.length, marks.length + inside.length);
    const raw = marks + text + marks;
    return { type: marks.length === 2 ? 'strong' : 'em', raw, text, tokens: this.lexer.inlineTokens(text) };
  }
}
