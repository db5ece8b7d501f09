// The frame of a page: head, menu, contents of the page, the pages before and after.
import { dirname, posix } from 'node:path';
import { escaped } from './markdown.mjs';

const name = 'Agent session relay';

const menu = (contents, here, to) =>
  contents
    .map(({ title, pages, isFolded }) => {
      const links = pages
        .map(
          (page) =>
            `<li><a href="${to(page.address)}"${page.address === here ? ' aria-current="page"' : ''}>${escaped(page.name)}</a></li>`,
        )
        .join('');
      const isOpen = !isFolded || pages.some(({ address }) => address === here);
      return `<details${isOpen ? ' open' : ''}><summary>${escaped(title)}</summary><ul>${links}</ul></details>`;
    })
    .join('');

const outline = (headings) => {
  const shown = headings.filter(({ depth }) => depth === 2);
  if (shown.length < 2) return '';
  const links = shown.map(({ id, words }) => `<li><a href="#${id}">${escaped(words)}</a></li>`).join('');
  return `<nav class="outline" aria-label="On this page"><p>On this page</p><ul>${links}</ul></nav>`;
};

/** The whole page. `page` has `address`, `title`, `html` and `headings`; `contents` are the groups of the menu. */
export function frame(page, contents) {
  const to = (address) => posix.relative(dirname(page.address), address) || posix.basename(address);
  const all = contents.flatMap(({ pages }) => pages);
  const at = all.findIndex(({ address }) => address === page.address);
  const beside = (other, label, kind) =>
    other === undefined
      ? ''
      : `<a class="${kind}" rel="${kind}" href="${to(other.address)}"><small>${label}</small> ${escaped(other.name)}</a>`;
  const around =
    at < 0
      ? ''
      : `<nav class="around" aria-label="Pages beside this one">${beside(all[at - 1], 'Before', 'prev')}${beside(all[at + 1], 'Next', 'next')}</nav>`;
  return `<!doctype html>
<html lang="en" data-root="${to('index.html').replace(/index\.html$/, '')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f7f6f3" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#131210" media="(prefers-color-scheme: dark)">
<title>${page.address === 'index.html' ? `${name}: documents` : `${escaped(page.title)} · ${name}`}</title>
<link rel="icon" href="${to('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${to('site.css')}">
<script src="${to('site.js')}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="brand" href="${to('index.html')}"><img src="${to('icon.svg')}" alt="" width="24" height="24"><span>${name}</span></a>
<div class="search" hidden><input type="search" placeholder="Search the documents" aria-label="Search the documents" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list"><kbd>/</kbd><div id="found" role="listbox" aria-label="Found" hidden></div></div>
<a class="to-menu" href="#menu">Menu</a>
</header>
<div class="columns">
<nav id="menu" class="menu" aria-label="Documents">${menu(contents, page.address, to)}</nav>
<main id="content"${page.kind === undefined ? '' : ` class="${page.kind}"`}>
${page.html}${around}
</main>
${outline(page.headings)}
</div>
</body>
</html>
`;
}
