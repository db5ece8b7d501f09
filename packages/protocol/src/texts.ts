/** Texts made safe for a terminal, and cut to a size. Pure. */

/**
 * C0, DEL and C1, line and paragraph separators, bidirectional controls (Unicode TR 36), lone surrogates, and all other
 * characters without a glyph. Excludes newline and tab, the two joiners that languages and emoji need, and variation
 * selectors, which only choose between glyphs.
 */
const hidden =
  /(?![\n\t\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

const escaped = (character: string): string => {
  let shown = '';
  for (let at = 0; at < character.length; at += 1)
    shown += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return shown;
};

/**
 * Makes untrusted text safe for a terminal. Every program of ours that writes to a terminal has one function for all its output, which
 * uses this (rules, 16.1). Returns the same text with every control and invisible character in JSON notation (`\u001b`), which makes it
 * visible and harmless. Converts CR LF to LF. A JSON document keeps its meaning. Idempotent.
 */
export const visible = (text: string): string => text.replaceAll('\r\n', '\n').replace(hidden, escaped);

/** The first `bytes` bytes of a text in UTF-8, never half a character. Returns the same string when it fits. */
export function cutText(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const encoded = Buffer.from(text, 'utf8');
  if (encoded.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && (encoded[end]! & 0xc0) === 0x80) end -= 1;
  return encoded.toString('utf8', 0, end);
}
