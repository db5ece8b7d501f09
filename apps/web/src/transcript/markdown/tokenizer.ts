/** Where Markdown, as agents write it, differs from the rules of GitHub: tildes, addresses and emphasis beside full-width marks. */
import { Tokenizer, type Tokens } from 'marked';

/** Emphasis with a mark outside of ASCII as its first or last character: `**注意：**请`. The rules do not close it, because no space follows. */
const besideWide = /^(\*{1,2})(?=[^\s*])([^*\n]*[^\s*])\1(?!\*)/;
const wide = /^[^\0-\x7f\p{L}\p{N}]|[^\0-\x7f\p{L}\p{N}]$/u;

export class AgentTokenizer extends Tokenizer {
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
