/** Decodes character references of HTML. A browser would decode them through `innerHTML`, which Trusted Types forbid. */
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  divide: '÷',
  deg: '°',
  plusmn: '±',
  euro: '€',
  pound: '£',
  sect: '§',
  para: '¶',
  larr: '←',
  rarr: '→',
  uarr: '↑',
  darr: '↓',
  le: '≤',
  ge: '≥',
  ne: '≠',
  check: '✓',
};

function ofNumber(code: number, written: string): string {
  if (!Number.isInteger(code) || code <= 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return written;
  return String.fromCodePoint(code);
}

/** Returns the text with its references decoded; unknown references stay unchanged. */
export const decoded = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (written, decimal, hex, name) => {
        if (decimal !== undefined) return ofNumber(Number(decimal), written);
        if (hex !== undefined) return ofNumber(Number.parseInt(hex as string, 16), written);
        return Object.hasOwn(named, name as string) ? named[name as string]! : written;
      })
    : text;
