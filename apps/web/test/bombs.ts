/**
 * Texts of at most 256 KiB, the limit of one message for an app, that are slow to parse as Markdown in one way or
 * another.
 */
const bytes = 256 * 1024;
const filled = (piece: string) => piece.repeat(Math.floor(bytes / piece.length));
const nested = (levels: number) => Array.from({ length: levels }, (_, level) => `${'  '.repeat(level)}- x`).join('\n');

export const bombs: Readonly<Record<string, string>> = {
  'ten thousand lists in one line': `${'- '.repeat(10_000)}x`,
  'ten thousand quotes': `${'>'.repeat(10_000)} x`,
  'lists by indentation': nested(350),
  'many deep lists': `${nested(40)}\n`.repeat(100),
  'many deep quotes': `${'> '.repeat(50)}x\n\n`.repeat(2000),
  'open emphasis': filled('**a'),
  underscores: filled('_a'),
  'open brackets': filled('['),
  'open links': filled('[a]('),
  'open images': filled('![a]('),
  'open code': filled('`a'),
  'runs of backticks': Array.from({ length: 700 }, (_, length) => '`'.repeat(length)).join(' '),
  'open tags': filled('<a '),
  'open comments': filled('<!--'),
  'half an address': `${filled('a.')}@`,
  'words that look like addresses': filled(`${'a.'.repeat(900)}@ `),
  addresses: filled('http://a.b '),
  'a line of 256 KiB': filled('x'),
  'a wide table': `${'|a'.repeat(5000)}|\n${'|-'.repeat(5000)}|\n${`${'|b'.repeat(5000)}|\n`.repeat(5)}`,
  'a long table': `|a|b|\n|-|-|\n${'|x|y|\n'.repeat(20_000)}`,
  paragraphs: filled('x\n\n'),
  headings: filled('# x\n'),
  'check boxes': filled('- [ ] x\n'),
  numbers: Array.from({ length: 20_000 }, (_, index) => `${index}. x`).join('\n'),
  references: `${Array.from({ length: 10_000 }, (_, index) => `[${index}]: http://x`).join('\n')}\n\n${'[1]'.repeat(10_000)}`,
  'empty lines': filled('\n'),
  backslashes: filled('\\'),
  'entities without an end': filled('&'),
  fences: filled('```'),
};
