// Markdown → HTML of one page: anchors as GitHub makes them, links between documents, rules and decisions that are cited, code in colours.
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import hljs from 'highlight.js/lib/common';
import { Marked } from 'marked';
import { addressOf } from './contents.mjs';

export const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const unescaped = (text) =>
  text
    .replace(/&#(\d+);/g, (_all, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

/** Returns the text of a piece of HTML. */
export const wordsOf = (html) =>
  unescaped(
    html
      .replace(/<pre[\s\S]*?<\/pre>/g, ' ')
      .replace(/<\/?(?:p|li|td|th|tr|h\d|div|br)\b[^>]*>/g, ' ')
      .replace(/<[^>]+>/g, ''),
  )
    .replace(/\s+/g, ' ')
    .trim();

const slugOf = (words) =>
  words
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');

/** Pages load nothing from elsewhere: text files, as they are. */
const isText = (file) => /\.(?:json|yaml|yml|ts|mjs|js|py|sh|txt|env)$/.test(file) || !extname(file);
const isPicture = (file) => /\.(?:webp|png|svg)$/.test(file);

/**
 * Where a path of the repository is on the site; undefined for a folder without a page. `copied` collects the files that are not pages.
 */
function placeOf(root, path, copied) {
  if (path === 'docs/adr') return addressOf('docs/README.md') + '#decisions';
  if (path === 'docs/pictures') return 'pictures.html';
  // A link that leads nowhere stays as it is, for the test that walks all of them.
  if (!existsSync(join(root, path))) return path;
  if (statSync(join(root, path)).isDirectory()) return undefined;
  if (path.endsWith('.md')) return addressOf(path);
  const place = isPicture(path)
    ? `pictures/${basename(path)}`
    : `files/${path}${isText(path) && !path.endsWith('.json') ? '.txt' : ''}`;
  copied.set(place, path);
  return place;
}

/** Rewrites link targets: a link to a file of the repository leads to its page on the site. */
function withLinks(html, { file, root, copied }) {
  const here = dirname(addressOf(file));
  const move = (target) => {
    if (/^(?:[a-z]+:|#|\/\/)/.test(target)) return target;
    const [path = '', anchor] = target.split('#', 2);
    const found = placeOf(
      root,
      posix.normalize(posix.join(dirname(file), decodeURIComponent(path))).replace(/\/$/, ''),
      copied,
    );
    if (found === undefined) return undefined;
    return (posix.relative(here, found) || basename(found)) + (anchor === undefined ? '' : `#${anchor}`);
  };
  return html
    .replace(/<a href="([^"]*)"([^>]*)>([\s\S]*?)<\/a>/g, (_all, target, more, words) => {
      const moved = move(target);
      if (moved === undefined) return words;
      return `<a href="${moved}"${more}${/^https?:/.test(moved) ? ' rel="noreferrer"' : ''}>${words}</a>`;
    })
    .replace(
      /(<(?:img|source)\b[^>]*?\s(?:src|srcset)=")([^"]*)"/g,
      (_all, before, target) => `${before}${move(target)}"`,
    );
}

/** Rules and decisions that a text cites become links: `rules, 2.4 and 2.5`, `ADR 6`. Not in code, headings and other links. */
function withCitations(html, { file, decisions, rules }) {
  const here = dirname(addressOf(file));
  const to = (address, words) => `<a href="${posix.relative(here, address) || basename(address)}">${words}</a>`;
  const rule = (number) => (rules.has(number) ? to(`rules.html#${number}`, number) : number);
  let closed = '';
  return html
    .split(/(<[^>]+>)/)
    .map((part) => {
      const [, end, tag] = /^<(\/?)(a|pre|code|h[1-6])\b/.exec(part) ?? [];
      if (tag && closed === '' && end === '') closed = tag;
      else if (tag === closed && end === '/') closed = '';
      if (part.startsWith('<') || closed !== '') return part;
      return part
        .replace(
          /\b([Rr]ules,\s+)(\d+\.\d+(?:(?:,| and)\s+\d+\.\d+)*)/g,
          (_all, before, list) => before + list.replace(/\d+\.\d+/g, rule),
        )
        .replace(/\bADR (\d+)\b/g, (all, number) => (decisions.has(number) ? to(decisions.get(number), all) : all));
    })
    .join('');
}

function code({ text, lang }) {
  const language = { console: 'sh', jsonc: 'json' }[lang] ?? lang;
  const known = language && hljs.getLanguage(language);
  const html = known ? hljs.highlight(text, { language, ignoreIllegals: true }).value : escaped(text);
  return `<pre tabindex="0"><code>${html}</code></pre>\n`;
}

/**
 * Returns the page of a document: `{ title, html, headings }`. A heading has its depth, its id and its text. `site` has `root`, `copied`,
 * `decisions` (number → address) and `rules` (numbers).
 */
export function readPage({ file, text }, site) {
  const headings = [];
  const seen = new Map();
  const marked = new Marked({
    // An address without a link around it is an example.
    tokenizer: { url: () => undefined },
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens);
        const words = wordsOf(html);
        const slug = slugOf(words);
        const count = seen.get(slug) ?? 0;
        seen.set(slug, count + 1);
        const id = count === 0 ? slug : `${slug}-${count}`;
        headings.push({ depth, id, words });
        const anchor =
          depth === 1 ? '' : `<a class="anchor" href="#${id}" aria-label="Link to “${escaped(words)}”">#</a>`;
        return `<h${depth} id="${id}">${html}${anchor}</h${depth}>\n`;
      },
      code,
    },
  });
  const context = { ...site, file };
  let html = marked
    .parse(text.replace(/^<!--[\s\S]*?-->\n/gm, ''))
    .replaceAll('<table>', '<div class="table" tabindex="0" role="region" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>');
  if (file === 'docs/rules.md')
    html = html.replace(/<li>(<p>)?<strong>(\d+\.\d+)<\/strong>/g, '<li id="$2">$1<strong>$2</strong>');
  html = withCitations(withLinks(html, context), context);
  return { title: headings[0]?.words ?? '', html, headings };
}
