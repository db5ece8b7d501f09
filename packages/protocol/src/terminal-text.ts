/**
 * Makes untrusted text safe for a terminal. Pure. Every program of ours that writes to a terminal has one function for all its
 * output, which uses this (rules, 16.1).
 */

/**
 * C0, DEL and C1, line and paragraph separators, what reorders text in the eye of the reader (Unicode TR 36), halves of
 * characters, and whatever else has no picture of its own. Not among them: newline and tab, the two joiners that languages and
 * emoji need, and variation selectors, which only choose between pictures.
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
 * The same text with every control and invisible character written as JSON writes it (`\u001b`), so that it is seen and does
 * nothing. A line that ends with CR LF ends with LF. Text that is a JSON document stays one, with the same meaning.
 * Applying it twice changes nothing more.
 */
export const visible = (text: string): string => text.replaceAll('\r\n', '\n').replace(hidden, escaped);
