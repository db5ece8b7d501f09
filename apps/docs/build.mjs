// Writes the documents as pages: `node build.mjs [folder]`, by default into dist. The folder is emptied first.
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { protocolMarkdown } from '@relay/protocol/documents';
import { readContents } from './site/contents.mjs';
import { home, pictures } from './site/own-pages.mjs';
import { readPage, wordsOf } from './site/markdown.mjs';
import { frame } from './site/page.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const words = process.argv.slice(2);
const [folder] = words.filter((word) => !word.startsWith('--'));
const into = folder === undefined ? fileURLToPath(new URL('dist', import.meta.url)) : resolve(folder);

/** The search index: `[page, anchor, heading, text]` for each section. */
function sectionsOf({ html, title }, index) {
  return html.split(/(?=<h[1-3] id=")/).flatMap((part) => {
    const [all = '', id = '', heading = ''] = /^<h[1-3] id="([^"]*)">([\s\S]*?)<\/h[1-3]>/.exec(part) ?? [];
    const words = wordsOf(part.slice(all.length).replace(/<a class="anchor"[\s\S]*?<\/a>/g, ''));
    const name = wordsOf(heading.replace(/<a class="anchor"[\s\S]*?<\/a>/, ''));
    return all === '' && words === '' ? [] : [[index, id, name || title, words]];
  });
}

function build() {
  const contents = readContents(root, { 'docs/protocol.md': protocolMarkdown() });
  const documents = contents.flatMap(({ pages }) => pages);
  const rules = documents.find(({ file }) => file === 'docs/rules.md')?.text ?? '';
  const site = {
    root,
    copied: new Map(),
    rules: new Set([...rules.matchAll(/^- \*\*(\d+\.\d+)\*\* /gm)].map(([, number]) => number)),
    decisions: new Map(
      documents.flatMap(({ file, address }) => {
        const number = /^docs\/adr\/0*(\d+)-/.exec(file)?.[1];
        return number === undefined ? [] : [[number, address]];
      }),
    ),
  };
  const pages = [
    home(contents, readFileSync(join(root, 'docs/README.md'), 'utf8')),
    ...documents.map((document) => ({ address: document.address, ...readPage(document, site) })),
    pictures(join(root, 'docs/pictures'), site.copied),
  ];

  const twice = pages.map(({ address }) => address).filter((address, at, all) => all.indexOf(address) !== at);
  if (twice.length > 0)
    throw new Error(`Two documents are at ${twice.join(', ')}: give one another address in site/contents.mjs.`);

  const write = (path, text) => {
    mkdirSync(dirname(join(into, path)), { recursive: true });
    writeFileSync(join(into, path), text);
  };
  mkdirSync(into, { recursive: true });
  const old = readdirSync(into);
  if (old.length > 0 && !old.includes('search.json'))
    throw new Error(`${into} has files that are no documents of the relay, and would lose them: name an empty folder.`);
  for (const name of old) rmSync(join(into, name), { recursive: true });
  for (const page of pages) write(page.address, frame(page, contents));
  for (const [place, path] of site.copied) write(place, readFileSync(join(root, path)));
  write(
    'search.json',
    JSON.stringify({ pages: pages.map(({ address, title }) => [address, title]), sections: pages.flatMap(sectionsOf) }),
  );
  for (const name of ['site.css', 'site.js']) cpSync(new URL(`site/${name}`, import.meta.url), join(into, name));
  cpSync(join(root, 'apps/web/src/styles/icon.svg'), join(into, 'icon.svg'));
  return pages.length;
}

const count = build();
if (words.includes('--say')) console.log(`${count} pages in ${into}`);
