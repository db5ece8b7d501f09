/** Texts of machines and agents with every character made visible that could show them as something else. */

/**
 * The same set as in notifications and terminals (packages/protocol/src/texts.ts): hidden characters, except those needed
 * by scripts and emoji.
 */
const hidden =
  /(?![\n\t\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/gu;

const marked = (sign: string): string => `\\u{${sign.codePointAt(0)!.toString(16)}}`;

/** A text of several lines. */
export const visibleText = (text: string): string => text.replaceAll('\r\n', '\n').replace(hidden, marked);

/** A name: it has one line. */
export const visible = (name: string): string => name.replace(hidden, marked).replace(/[\n\t]/g, marked);
