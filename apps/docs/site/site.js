/* The search: one file with the text of all pages, loaded on the first use of the field. Everything else works without this script. */
const box = document.querySelector('.search');
const field = box.querySelector('input');
const list = box.querySelector('#found');
const root = document.documentElement.dataset.root;
const shownAtMost = 12;
let index;
let chosen = -1;

const load = () =>
  (index ??= fetch(`${root}search.json`)
    .then((answer) => answer.json())
    .catch((error) => {
      index = undefined;
      throw error;
    }));

/** Every search term must match. A heading scores more than its page title, the title more than text; a match inside a word scores half. */
function scoreOf([page, , heading, words], terms, pages) {
  const [title, name, text] = [pages[page][1], heading, words].map((value) => value.toLowerCase());
  let score = 0;
  for (const term of terms) {
    const weigh = (value, weight) =>
      ` ${value}`.includes(` ${term}`) ? weight : value.includes(term) ? weight / 2 : 0;
    const best = weigh(name, 12) + weigh(title, 6) + weigh(text, 2);
    if (best === 0) return 0;
    score += best;
  }
  return score + (name === title ? 1 : 0);
}

/** Returns the text around the first match. */
function excerpt(words, terms) {
  const lower = words.toLowerCase();
  const at = Math.min(...terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0), words.length);
  const start = at === words.length ? 0 : Math.max(0, lower.lastIndexOf(' ', Math.max(0, at - 40)) + 1);
  return `${start > 0 ? '… ' : ''}${words.slice(start, start + 140)}${words.length > start + 140 ? ' …' : ''}`;
}

function marked(text, terms) {
  const element = document.createElement('small');
  const lower = text.toLowerCase();
  let from = 0;
  while (from < text.length) {
    const next = terms
      .map((term) => [lower.indexOf(term, from), term.length])
      .filter(([at]) => at >= 0)
      .toSorted((one, other) => one[0] - other[0])[0];
    if (next === undefined) break;
    const mark = document.createElement('mark');
    mark.textContent = text.slice(next[0], next[0] + next[1]);
    element.append(text.slice(from, next[0]), mark);
    from = next[0] + next[1];
  }
  element.append(text.slice(from));
  return element;
}

function show(children) {
  list.replaceChildren(...children);
  list.hidden = children.length === 0;
  field.setAttribute('aria-expanded', String(!list.hidden));
  choose(-1);
}

function choose(place) {
  const options = [...list.querySelectorAll('a')];
  chosen = options.length === 0 ? -1 : (place + options.length + 1) % (options.length + 1);
  if (chosen === options.length || place < 0) chosen = -1;
  options.forEach((option, at) => option.setAttribute('aria-selected', String(at === chosen)));
  if (chosen < 0) field.removeAttribute('aria-activedescendant');
  else {
    field.setAttribute('aria-activedescendant', options[chosen].id);
    options[chosen].scrollIntoView({ block: 'nearest' });
  }
}

function notice(words) {
  const paragraph = document.createElement('p');
  paragraph.textContent = words;
  return paragraph;
}

async function search() {
  const asked = field.value;
  const terms = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (terms.length === 0) return show([]);
  let found;
  try {
    found = await load();
  } catch {
    return show([notice('The search did not load. Type again to try again.')]);
  }
  if (field.value !== asked) return;
  const { pages, sections } = found;
  const best = sections
    .map((section) => [scoreOf(section, terms, pages), section])
    .filter(([score]) => score > 0)
    .toSorted((one, other) => other[0] - one[0])
    .slice(0, shownAtMost);
  if (best.length === 0) return show([notice(`No page has “${asked.trim()}”.`)]);
  show(
    best.map(([, [page, anchor, heading, words]], at) => {
      const link = document.createElement('a');
      const [address, title] = pages[page];
      link.href = `${root}${address}${anchor === '' ? '' : `#${anchor}`}`;
      link.id = `found-${at}`;
      link.setAttribute('role', 'option');
      const name = document.createElement('b');
      name.textContent = heading === title ? title : `${title} › ${heading}`;
      link.append(name, marked(excerpt(words, terms), terms));
      return link;
    }),
  );
}

box.hidden = false;
field.addEventListener('focus', () => load().catch(() => undefined), { once: true });
field.addEventListener('input', search);
field.addEventListener('keydown', (event) => {
  const options = list.querySelectorAll('a');
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    if (event.key === 'ArrowDown') choose(chosen + 1);
    else choose(chosen < 0 ? options.length - 1 : chosen - 1);
  } else if (event.key === 'Enter') options[Math.max(chosen, 0)]?.click();
  else if (event.key === 'Escape') {
    field.value = '';
    show([]);
    field.blur();
  }
});
list.addEventListener('click', () => show([]));
document.addEventListener('click', (event) => {
  if (!box.contains(event.target)) show([]);
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});

// Scrolls the menu to the open page.
const menu = document.querySelector('.menu');
const open = menu.querySelector('[aria-current]');
if (open) menu.scrollTop = open.offsetTop - menu.offsetTop - menu.clientHeight / 2;
