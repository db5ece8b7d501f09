import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { loadWords } from '../src/catalogue.ts';
import { blocksOf, loadMend, noBlocks, withoutLooseEnd } from '../src/transcript/markdown/blocks.ts';
import { decoded } from '../src/transcript/markdown/entities.ts';
import { safeAddress } from '../src/transcript/markdown/inline.tsx';
import { Markdown } from '../src/transcript/markdown/markdown.tsx';

beforeAll(async () => {
  await loadWords('frame', 'session');
  await loadMend();
});

const html = (text: string, open = false) => renderToStaticMarkup(createElement(Markdown, { text, open }));
/** The visible text. */
const read = (text: string, open = false) =>
  html(text, open)
    .replace(/<svg.*?<\/svg>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

const sample = `# Heading

Some **bold** and *slanted* words, \`inline_code\` and ~~gone~~.

- one
- two
  - nested **deep**
- [x] done task
- [ ] open task

1. first
2. second

| Case | Now |
| --- | ---: |
| 6 MB | 12 ms |
| Empty | 422 |

> A quote with [a link](https://example.com/a?b=c).

\`\`\`ts
const a = 1 < 2 && "x";
\`\`\`

The end.`;

describe('markdown', () => {
  it('shows headings, emphasis, lists, tasks, tables, quotes, links and fences', () => {
    const shown = html(sample);
    for (const part of [
      '<h2>Heading</h2>',
      '<strong>bold</strong>',
      '<em>slanted</em>',
      '<code>inline_code</code>',
      '<del>gone</del>',
      '<th scope="col" class="to-right">Now</th>',
      '<td class="to-right">12 ms</td>',
      '<a href="https://example.com/a?b=c" target="_blank" rel="noopener noreferrer">a link</a>',
      'class="task done"',
      '<span class="grow">TypeScript</span>',
      '1 &lt; 2 &amp;&amp; &quot;x&quot;',
      '<ol start="1">',
      '<blockquote>',
    ])
      expect(shown).toContain(part);
    expect(shown.match(/<ul>/g)).toHaveLength(2);
  });

  it('shows HTML as text, and links only to web and mail addresses', () => {
    const shown = html(
      '<img src=x onerror=alert(1)>\n\nInline <b onclick="x()">bold</b>\n\n[a](javascript:alert(1)) [b](data:text/html,x) ![c](https://a.example/c.png) [d](java&#x73;cript:alert(1)) [e](//a.example) [f](mailto:a@b.example)',
    );
    expect(shown).not.toContain('<img');
    expect(shown).not.toContain('<b');
    expect(shown).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect([...shown.matchAll(/href="([^"]*)"/g)].map(([, address]) => address)).toEqual([
      'https://a.example/c.png',
      'mailto:a@b.example',
    ]);
    expect(safeAddress('JaVaScRiPt:alert(1)')).toBeUndefined();
    expect(safeAddress(' https://a.example ')).toBe('https://a.example/');
  });

  it('decodes character references in text, but not in code', () => {
    expect(decoded('a &amp;&lt;&#65;&#x1F600;&hellip; &nonsense; &#0; &constructor;')).toBe(
      'a &<A😀… &nonsense; &#0; &constructor;',
    );
    expect(html('&copy; `&copy;`')).toContain('<p>© <code>&amp;copy;</code></p>');
  });

  it('shows the same result, at once or in pieces', () => {
    let known = noBlocks;
    for (let end = 0; end <= sample.length; end += 7) known = blocksOf(sample.slice(0, end), true, known);
    const grown = blocksOf(sample, false, known);
    expect(grown.tokens.map(({ raw }) => raw).join('')).toBe(sample);
    expect(grown.tokens.map(({ type }) => type)).toEqual(blocksOf(sample, false).tokens.map(({ type }) => type));
  });

  it('keeps the tokens of closed blocks while more text arrives', () => {
    const before = blocksOf('One.\n\nTwo.\n\nThr', true);
    const after = blocksOf('One.\n\nTwo.\n\nThree and mo', true, before);
    expect(after.tokens.slice(0, 4)).toEqual(before.tokens.slice(0, 4));
    after.tokens.slice(0, 4).forEach((token, index) => expect(token).toBe(before.tokens[index]));
  });

  it('never shows incomplete marks', () => {
    const loose: string[] = [];
    for (let end = 1; end <= sample.length; end++) {
      const shown = read(sample.slice(0, end), true);
      const mark = ['**', '~~', '`', '|', '---', '](', '# ', '*', '['].find((one) => shown.includes(one));
      if (mark !== undefined) loose.push(`${mark} after ${JSON.stringify(sample.slice(Math.max(0, end - 24), end))}`);
    }
    expect(loose).toEqual([]);
    expect(withoutLooseEnd('2 * 3 is 6')).toBe('2 * 3 is 6');
  });

  it('accepts any text of any length without an error or a loss', () => {
    const marks = fc.constantFrom(
      '*',
      '**',
      '_',
      '`',
      '```',
      '\n',
      '\n\n',
      '|',
      '> ',
      '- ',
      '[',
      '](',
      ')',
      '<',
      '&',
      '#',
      '\\',
      'a',
      ' ',
      '1. ',
      '\r\n',
      '---',
      '~~',
      '!',
    );
    fc.assert(
      fc.property(fc.array(marks, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('');
        html(text, true);
        html(text);
        expect(
          blocksOf(text, false)
            .tokens.map(({ raw }) => raw)
            .join('').length,
        ).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 300 },
    );
    expect(read('>'.repeat(20_000)).length).toBeGreaterThan(0);
  });
});

describe('B9: Markdown as agents write it', () => {
  it('B9: strikes through between two tildes, never between single ones', () => {
    for (const text of [
      'a fix (~2000 lines), an old file (~5000 lines)',
      '0.3~8mm and 0.3~4.5mm',
      '~/.config and ~/.local',
    ])
      expect(html(text)).not.toContain('<del>');
    expect(html('this is ~~gone~~ now')).toContain('<del>gone</del>');
  });

  it('B9: stops a bare address at the first non-ASCII character', () => {
    const links = (text: string) => [...html(text).matchAll(/href="([^"]+)"/g)].map(([, href]) => href);
    expect(
      links('见 https://example.com/guide，详见 https://example.com/docs（中文）。结尾 https://example.com。谢谢'),
    ).toEqual(['https://example.com/guide', 'https://example.com/docs', 'https://example.com/']);
    expect(links('www.example.com。然后')).toEqual(['http://www.example.com/']);
    expect(links('https://example.com/a_(b) and https://example.com/x.')).toEqual([
      'https://example.com/a_(b)',
      'https://example.com/x',
    ]);
  });

  it('B9: shows the address of a link whose text is another one', () => {
    expect(read('[https://bank.example/login](https://thief.example/)')).toContain('https://thief.example/');
    expect(read('[https://bank.example/login](https://thief.example/)')).not.toContain('bank');
    expect(read('<https://exämple.com/>')).toContain('https://xn--exmple-cua.com/');
    expect(read('[the docs](https://example.com/docs) https://example.com')).toContain('the docs');
  });

  it('B9: counts a list from zero, and from its first number', () => {
    expect(html('0. zero\n1. one')).toContain('<ol start="0">');
    expect(html('1. one')).toContain('<ol start="1">');
    expect(html('7. seven')).toContain('<ol start="7">');
  });

  it('B9: is bold beside full-width marks', () => {
    expect(html('**注意：**请先备份。这是**“重要”**的。').match(/<strong>/g)).toHaveLength(2);
    expect(html('看*「这里」*吧')).toContain('<em>「这里」</em>');
    expect(html('**用 `a**b` ：**然后')).toContain('<code>a**b</code>');
    expect(html('2 * 3 * 4 and **bold** words')).toContain('<strong>bold</strong>');
  });
});
