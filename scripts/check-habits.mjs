/** A ratchet for the language: ten habits. Each room has a rate for each habit, which can only fall. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const usage = `Usage: node scripts/check-habits.mjs [--lower | --write-initial | --print] [--root <folder>]

Counts ten habits (CONTRIBUTING.md, "Plain English") in comments, test titles and Markdown, and compares each room with its
ceilings in scripts/habits.json. A ceiling is a rate per 1,000 words and a count. A room fails when both are exceeded: a room that
loses other text keeps its count, a room that grows keeps its rate. A room without ceilings starts at the goals of this script.

  --lower          writes lower ceilings where a room improved; raises none
  --write-initial  measures all ceilings again; refused once they are on origin/main
  --print          prints the rates of all rooms
  --root <folder>  checks another working tree
`;

/** The habits: name, pattern, and the rate that a new room can have (twice the highest rate of comparable projects). */
const habits = [
  ['1 said/told/say/words/heard', /\b(?:said|says?|saying|tells?|told|hears?|heard|speaks?|spoken|words)\b/gi, 0.8],
  ['2 what/whatever clause as noun', /\b(?:what|whatever|whichever|whom)\b/gi, 2],
  ['3 ends / an end', /\bends?\b|\bended\b/gi, 1.4],
  [
    '4 one that, those that',
    /\b(?:one|the one|those|ones|that) (?:that|which|who|whose|of which|with which)\b|\bthose (?:of|with|without|in|behind)\b/gi,
    0.6,
  ],
  ['5 is none, is no X', /\b(?:is|are|was|has|have|be) (?:none|no [a-z]+)\b|\bnone\b/gi, 2.2],
  ['6 of which, by which', /\b(?:of|by|to|in|with|behind|from|for|on|under|after) (?:which|whom|whose)\b/gi, 0.4],
  [
    '7 passive',
    /\b(?:is|are|was|were|be|been|being) (?:not |never |no longer |only |then |also |still )?[a-z]+(?:ed|en|wn|ld|pt|nt|ght|ut|id|de|ne|ung|un)\b/gi,
    26,
  ],
  ['8 may', /\bmay\b/gi, 4.2],
  ['9 fronted Of/With/Without/Behind', /^(?:Of|In|By|With|Without|For|From|Behind|Beyond|Until|Beside) /g, 2.8],
  [
    '10 meanwhile, behind, in the place of',
    /\b(?:meanwhile|by then|since then|thereby|in its place|in the place of|anybody|everybody)\b|\bbehind (?:the|a|it|that|its|all|them|each|others?)\b/gi,
    0.6,
  ],
];
const file = 'scripts/habits.json';

/** Data, texts of other authors, or files that name the habits. */
const leftOut =
  /(?:^|\/)(?:node_modules|dist|generated|artefacts)\/|^(?:docs\/interface-specification\.md|CODE_OF_CONDUCT\.md|prisma\/migrations\/|k8s\/chart\/templates\/|scripts\/check-words\.mjs|tests\/(?:plain-english|check-habits|check-subjects|check-documents)\.test\.ts)/;
const isTest = (path) => /(?:^|\/)(?:__tests__|tests?|e2e)\/|\.(?:test|spec)\./.test(path);

/** The room of a file: its folder, and the kind of its text. Undefined for a file without our text. */
export function roomOf(path) {
  if (leftOut.test(path)) return undefined;
  const parts = path.split('/');
  const nested = ['apps', 'packages', 'docs'].includes(parts[0]) && parts.length > 2;
  const folder = parts.length === 1 ? 'top' : parts.slice(0, nested ? 2 : 1).join('/');
  if (path.endsWith('.md')) return `${folder} documents`;
  if (!/(?<!\.d)\.(?:tsx?|[cm]?js|ya?ml|sh|env|example|prisma|cfg)$|(?:^|\/)(?:Dockerfile|docker\/relay)$/.test(path))
    return undefined;
  return isTest(path) && folder !== 'tests' ? `${folder} tests` : folder;
}

function* comments(text, titles) {
  for (const line of text.split('\n')) {
    const whole = /^\s*(?:\/\/+|\/?\*+)\s?(.*?)(?:\*\/)?$/.exec(line);
    const found =
      whole ??
      /\/\*\* (.*?) \*\//.exec(line) ??
      /(?<![:"'`/])\/\/\s+([A-Z].*)$/.exec(line) ??
      (titles ? titleOf(line) : null);
    yield found?.[1].trim() ? found[1] : '';
  }
}
const titleOf = (line) => {
  const found = /(?:\b(?:it|test|describe)(?:With)?(?:\.\w+)?\(|\]\)\()(?:needs, )?(['"`])(.+?)\1,/.exec(line);
  return found && [found[0], found[2]];
};

function* prose(text) {
  let fenced = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    const isText = !fenced && !line.startsWith('```') && !line.startsWith('|');
    yield isText ? line.replace(/^[\s>*#\d.-]+/, '') : '';
  }
}

function* marked(text) {
  for (const line of text.split('\n')) yield /^\s*#+(?!!)\s?(.*)$/.exec(line)?.[1] ?? '';
}

/** The text of each line of a file; empty for lines without comments, titles or prose. */
function sentences(path, text) {
  if (path.endsWith('.md')) return prose(text);
  return /\.(?:[tj]sx?|[cm]js|prisma)$/.test(path) ? comments(text, isTest(path)) : marked(text);
}

/** The length of a text, and the lines of each habit, once per occurrence. */
export function measure(path, text) {
  let words = 0;
  const lines = Object.fromEntries(habits.map(([name]) => [name, []]));
  let number = 0;
  for (const sentence of sentences(path, text)) {
    number += 1;
    if (sentence === '') continue;
    words += sentence.split(/\s+/).filter(Boolean).length;
    for (const [name, pattern] of habits)
      for (const _ of sentence.matchAll(pattern)) lines[name].push({ number, sentence: sentence.trim() });
  }
  return { words, lines };
}

const up = (rate) => Math.ceil(rate * 100 - 1e-6) / 100;
const rateOf = (count, words) => up((1000 * count) / Math.max(words, 1));
/** The rate of each habit in a new room, and its count. The rate counts occurrences in a thousand. */
export const goals = Object.fromEntries(habits.map(([name, , rate]) => [name, { rate, count: 1 }]));
const read = (text) => JSON.parse(text);
const write = ({ initial, rooms }) => {
  const room = ([name, ceilings]) =>
    `    ${JSON.stringify(name)}: {\n${Object.entries(ceilings)
      .map(([habit, { rate, count }]) => `      ${JSON.stringify(habit)}: { "rate": ${rate}, "count": ${count} }`)
      .join(',\n')}\n    }`;
  const sorted = Object.entries(rooms).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{\n  "initial": ${JSON.stringify(initial)},\n  "rooms": {\n${sorted.map(room).join(',\n')}\n  }\n}\n`;
};

/** Ceilings that are higher than in an earlier version, or missing although their room `exists`, as sentences. */
export function raised(before, now, exists = () => true) {
  const found = [];
  for (const room of new Set([...Object.keys(before.rooms), ...Object.keys(now.rooms)]))
    for (const [habit, goal] of Object.entries(goals)) {
      const [known, ceiling] = [before.rooms[room]?.[habit], now.rooms[room]?.[habit]];
      const old = known ?? goal;
      if (ceiling === undefined && known !== undefined && exists(room))
        found.push(`${room}: "${habit}" has no ceiling now`);
      if (ceiling !== undefined && (ceiling.rate > old.rate || ceiling.count > old.count))
        found.push(`${room}: "${habit}" was ${old.rate} (${old.count}), now ${ceiling.rate} (${ceiling.count})`);
    }
  return found;
}

/** The working tree: its git, its rooms, and the version to compare with. */
function tree(root) {
  const git = (...args) => {
    try {
      return execFileSync('git', args, {
        cwd: root,
        encoding: 'utf8',
        maxBuffer: 1e8,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    } catch {
      return undefined;
    }
  };
  const resolved = (name) => git('rev-parse', '--verify', '--quiet', `${name}^{commit}`)?.trim();
  const head = resolved('HEAD');
  const fork = resolved('origin/main') && git('merge-base', 'HEAD', 'origin/main')?.trim();
  const isBranch = fork !== undefined && fork !== '' && fork !== head;
  const bases = isBranch ? [fork] : [head, resolved('HEAD^')].filter(Boolean);
  const ceilingsAt = (commit) => {
    const text = git('show', `${commit}:${file}`);
    return text === undefined ? undefined : read(text);
  };

  function rooms() {
    const listed = git('ls-files', '-z', '--cached', '--others', '--exclude-standard') ?? '';
    const found = new Map();
    for (const path of new Set(listed.split('\0'))) {
      const room = path === '' ? undefined : roomOf(path);
      if (room === undefined || !existsSync(join(root, path))) continue;
      const { words, lines } = measure(path, readFileSync(join(root, path), 'utf8'));
      const sum = found.get(room) ?? { words: 0, files: [] };
      sum.words += words;
      sum.files.push({ path, lines });
      found.set(room, sum);
    }
    return found;
  }

  /** The numbers of the added lines of each file; a new file has only added lines. */
  function added() {
    // On a clean main the change is its last commit.
    const isClean = git('status', '--porcelain', '--untracked-files=no') === '';
    const base = isBranch || !isClean ? bases[0] : bases.at(-1);
    const lines = new Map();
    let numbers = new Set();
    for (const line of (
      git('diff', '-U0', '--no-color', '--no-ext-diff', '--src-prefix=a/', '--dst-prefix=b/', base) ?? ''
    ).split('\n')) {
      const path = /^\+\+\+ b\/(.*)$/.exec(line)?.[1];
      if (path) lines.set(path, (numbers = new Set()));
      const [, from, count = '1'] = /^@@ \S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
      for (let number = Number(from); number < Number(from) + Number(count); number += 1) numbers.add(number);
    }
    const untracked = new Set((git('ls-files', '-z', '--others', '--exclude-standard') ?? '').split('\0'));
    return (path, number) => untracked.has(path) || lines.get(path)?.has(number) === true;
  }
  return { isBranch, bases, ceilingsAt, rooms, added };
}

const countOf = (files, habit) => files.reduce((sum, { lines }) => sum + lines[habit].length, 0);

const measured = (rooms) =>
  Object.fromEntries(
    [...rooms].map(([room, { words, files }]) => [
      room,
      Object.fromEntries(
        habits.map(([habit]) => {
          const count = countOf(files, habit);
          return [habit, { rate: rateOf(count, words), count }];
        }),
      ),
    ]),
  );

/** Lines to rewrite: added ones, or else the files with the most occurrences. */
function placesOf(files, habit, isAdded) {
  const all = files.flatMap(({ path, lines }) => lines[habit].map((line) => ({ path, ...line })));
  const mine = all.filter(({ path, number }) => isAdded(path, number));
  if (mine.length > 0) {
    const shown = mine.slice(0, 20).map(({ path, number, sentence }) => `    ${path}:${number}  ${sentence}`);
    return [`  lines of this change:`, ...shown, ...(mine.length > 20 ? [`    … ${mine.length - 20} more`] : [])];
  }
  const worst = files.toSorted((a, b) => b.lines[habit].length - a.lines[habit].length).slice(0, 5);
  return [`  most of them are in:`, ...worst.map(({ path, lines }) => `    ${path}  ${lines[habit].length}`)];
}

function problems({ added, isBranch, bases, ceilingsAt }, rooms, ceilings) {
  const found = [];
  for (const base of bases) {
    const before = ceilingsAt(base);
    // Main can start over, a branch cannot.
    if (before === undefined || (!isBranch && before.initial !== ceilings.initial)) continue;
    for (const sentence of raised(before, ceilings, (room) => rooms.has(room)))
      found.push(`${file} raises a ceiling. ${sentence}`);
  }
  let isAdded;
  for (const [room, habitsOf] of Object.entries(measured(rooms)))
    for (const [habit, { rate, count }] of Object.entries(habitsOf)) {
      const ceiling = ceilings.rooms[room]?.[habit] ?? goals[habit];
      if (rate <= ceiling.rate || count <= ceiling.count) continue;
      isAdded ??= added();
      found.push(
        `${room}: "${habit}" is at ${rate} per 1,000 words (${count} times), its ceiling is ${ceiling.rate} (${ceiling.count})`,
        ...placesOf(rooms.get(room).files, habit, isAdded),
      );
    }
  return [...new Set(found)];
}

/** The lower of the ceilings and the current rates. A room without ceilings starts at the goals. */
function lowered(ceilings, now) {
  const rooms = Object.entries(now).map(([room, rates]) => {
    const lower = ([habit, { rate, count }]) => {
      const old = ceilings.rooms[room]?.[habit] ?? goals[habit];
      return [habit, { rate: Math.min(old.rate, rate), count: Math.min(old.count, count) }];
    };
    return [room, Object.fromEntries(Object.entries(rates).map(lower))];
  });
  return { initial: ceilings.initial, rooms: Object.fromEntries(rooms) };
}

function print(rooms) {
  for (const [room, { words }] of [...rooms].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(
      `${room.padEnd(32)} ${String(words).padStart(7)} words `,
      ...habits.map(([habit]) =>
        ((1000 * countOf(rooms.get(room).files, habit)) / Math.max(words, 1)).toFixed(1).padStart(6),
      ),
    );
}

function run(root, option) {
  const at = tree(root);
  const rooms = at.rooms();
  const place = join(root, file);
  if (option === '--print') return (print(rooms), 0);
  const landed = at.isBranch ? at.ceilingsAt(at.bases[0]) : undefined;
  if (option === '--write-initial' && landed !== undefined) {
    console.log(
      `The ceilings are on main already. Rewrite the lines that the check names; --lower writes what improved.`,
    );
    return 1;
  }
  if (option === '--write-initial')
    writeFileSync(place, write({ initial: new Date().toISOString(), rooms: measured(rooms) }));
  if (!existsSync(place)) {
    console.log(`${file} is missing: restore it from git.`);
    return 1;
  }
  let ceilings = read(readFileSync(place, 'utf8'));
  if (option === '--lower') {
    ceilings = lowered(ceilings, measured(rooms));
    writeFileSync(place, write(ceilings));
  }
  const lines = problems(at, rooms, ceilings);
  for (const line of lines) console.log(line);
  console.log(`${lines.filter((line) => !line.startsWith(' ')).length} problems in ${rooms.size} rooms`);
  return lines.length === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const args = process.argv.slice(2);
  const index = args.indexOf('--root');
  const [, root = dirname(dirname(fileURLToPath(import.meta.url)))] = index < 0 ? [] : args.splice(index, 2);
  const isKnown = args.length < 2 && args.every((arg) => ['--lower', '--write-initial', '--print'].includes(arg));
  if (!isKnown) process.stdout.write(usage);
  process.exitCode = isKnown ? run(root, args[0]) : args.includes('--help') ? 0 : 2;
}
