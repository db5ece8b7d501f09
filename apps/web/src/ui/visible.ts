/** A text of a machine with every character made visible that could show it as something else. */
export const visible = (text: string): string =>
  text.replace(
    /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu,
    (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`,
  );
