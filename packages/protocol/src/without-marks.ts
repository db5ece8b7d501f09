/**
 * The text of markdown without the marks of fences, headings, quotes, links, emphasis and code: for a line of a list and for a
 * notification, which show text as it is. Text without such marks is returned unchanged.
 */
export const withoutMarks = (markdown: string): string =>
  markdown
    .replace(/^ {0,3}(?:```|~~~).*\n?/gm, '')
    .replace(/^ {0,3}(?:#{1,6}|>) +/gm, '')
    .replace(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, '$1')
    .replace(/(\*\*|~~|`)(\S|\S.*?\S)\1/g, '$2')
    // Slanted text stands alone: `a_b_c` and `2*3*4` keep their marks.
    .replace(/(?<![\p{L}\p{N}*_])([*_])(?![\s*_])([^*_\n]*[^\s*_])\1(?![\p{L}\p{N}*_])/gu, '$2');
