// The two pages without a source document: the first page, and the pictures.
import { readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { addressOf } from './contents.mjs';
import { escaped } from './markdown.mjs';

/** docs/README.md has a table of questions, each with the documents that answer it: address → question. */
function questions(text) {
  const found = new Map();
  for (const [, question = '', answers = ''] of text.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm))
    for (const [, target = ''] of answers.matchAll(/\]\(([^()\s#]+)\)/g)) {
      const address = addressOf(posix.normalize(posix.join('docs', target)));
      if (!found.has(address)) found.set(address, question.replace(/[*`]/g, '').trim());
    }
  return found;
}

/** The first page: every document, grouped by the reader's task. */
export function home(contents, text) {
  const asked = questions(text);
  const card = ({ address, name }) => {
    const question = asked.get(address);
    return `<li><a href="${address}">${escaped(name)}</a>${question === undefined ? '' : `<span>${escaped(question)}</span>`}</li>`;
  };
  const headings = [];
  const section = ({ title, pages, isFolded }) => {
    const id = title.toLowerCase().replaceAll(' ', '-');
    headings.push({ depth: 2, id, words: title });
    return `<section><h2 id="${id}">${escaped(title)}</h2><ul class="${isFolded ? 'list' : 'cards'}">${pages.map(card).join('')}</ul></section>`;
  };
  const picture = (name, alt, width, height) =>
    `<picture class="${name.includes('phone') ? 'phone' : 'desk'}"><source media="(prefers-color-scheme: dark)" srcset="pictures/${name}-dark.webp"><img src="pictures/${name}-light.webp" alt="${alt}" width="${width}" height="${height}"></picture>`;
  const html = `<div class="hero">
<div>
<h1 id="documents">Agents on your own machines, from anywhere</h1>
<p>A daemon runs beside your agent and keeps one connection to the relay. Your apps start sessions, send messages, and get every answer, question and failure as it happens.</p>
<p class="ways"><a class="first" href="readme.html">First steps</a><a href="reach.html">On the phone</a><a href="tour.html">With curl</a><a href="pictures.html">Pictures</a></p>
</div>
<div class="shots">${picture('conversation-desk', 'A session: what the agent read, what it changed, and its answer', 1280, 800)}${picture('question-phone', 'On a phone: the agent asks whether it may run a command', 390, 844)}</div>
</div>
${contents.map(section).join('\n')}
`;
  return { address: 'index.html', title: 'Documents', html, headings, kind: 'home' };
}

const sentence = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ');

/** Every picture of the pages: at desk and phone size, in the light or the dark of the reader where there are both. */
export function pictures(folder, copied) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.webp'));
  for (const name of names) copied.set(`pictures/${name}`, `docs/pictures/${name}`);
  const has = (name) => names.includes(`${name}.webp`);
  const subjects = [...new Set(names.map((name) => /^(.+)-(?:desk|phone)-(?:light|dark)\.webp$/.exec(name)?.[1]))];
  const headings = [];
  const figure = (subject, size) => {
    const [light, dark] = ['light', 'dark'].map((theme) => `${subject}-${size}-${theme}`);
    const shown = has(light) ? light : dark;
    if (!has(shown)) return '';
    const source =
      has(light) && has(dark) ? `<source media="(prefers-color-scheme: dark)" srcset="pictures/${dark}.webp">` : '';
    const alt = `${sentence(subject)}, ${size === 'desk' ? 'at a desk' : 'on a phone'}`;
    return `<a class="${size}" href="pictures/${shown}.webp"><picture>${source}<img src="pictures/${shown}.webp" alt="${alt}" loading="lazy"></picture></a>`;
  };
  const html = subjects
    .filter((subject) => subject !== undefined)
    .map((subject) => {
      headings.push({ depth: 2, id: subject, words: sentence(subject) });
      return `<h2 id="${subject}">${sentence(subject)}</h2><div class="figures">${figure(subject, 'desk')}${figure(subject, 'phone')}</div>`;
    })
    .join('\n');
  return {
    address: 'pictures.html',
    title: 'Pictures',
    html: `<h1 id="pictures">Pictures</h1>\n${html}\n`,
    headings,
    kind: 'gallery',
  };
}
