/**
 * Makes untrusted text safe for a terminal. Pure. Every program of ours that writes to a terminal has one function for all its
 * output, which uses this (rules, 16.1).
 */

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
 * The same text with every control and invisible character in JSON notation (`\u001b`), which makes it visible and
 * harmless. Converts CR LF to LF. A JSON document keeps its meaning.
 * Idempotent.
 */
export const visible = (text: string): string => text.replaceAll('\r\n', '\n').replace(hidden, escaped);
