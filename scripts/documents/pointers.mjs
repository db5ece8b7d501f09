/** Links, commands, paths, rules and ADRs in documents and code: each must exist. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describeVariables } from '@relay/config';
import { filesIn, found, isBuilt, read, root } from './tree.mjs';

const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));
const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...inDocs];
const { scripts } = JSON.parse(read('package.json'));

const fenced = /^ *(```+)[^\n]*\n[\s\S]*?^ *\1 *$/gm;
const prose = (text) => text.replace(fenced, '');

/** The source of a built file: a fresh clone lacks dist. */
const source = (path) => path.replace(/^((?:apps|packages)\/[^/]+)\/dist\/(.*)\.js$/, '$1/src/$2.ts');

/** Links to missing files of this repository. `document` is the path of the text from the top. */
export function brokenLinks(text, document) {
  const targets = found(prose(text), /\]\(([^()\s]+)\)/g).filter((target) => !/^([a-z]+:|#)/.test(target));
  const fileOf = (target) => join(root, dirname(document), decodeURIComponent(target.split('#', 1)[0]));
  return targets.filter((target) => !existsSync(fileOf(target)));
}

/** Names after `npm run` that are missing in package.json. */
export function unknownScripts(text) {
  return found(text, /\bnpm run (?:--silent |-s )?([\w:-]+)/g).filter((name) => !(name in scripts));
}

const folders = 'apps|packages|prisma|scripts|tests|conformance|examples|bench|docs';

/** Missing paths from the top of the repository, in backticks or run with node. */
export function missingPaths(text) {
  const named = found(prose(text), new RegExp(`\`((?:${folders})/[\\w@./-]*)\``, 'g'));
  const run = found(text, new RegExp(`\\bnode ((?:${folders})/[\\w@./-]+)`, 'g'));
  return [...named, ...run].filter((path) => !isBuilt(path) && !existsSync(join(root, source(path))));
}

/** Reads of logs by a selector without `--tail`: kubectl then shows ten lines of each pod, with any `--since`. */
export const shortLogs = (text) =>
  found(text, /(\bkubectl logs\b[^`|\n]*)/g).filter((line) => line.includes('--selector') && !line.includes('--tail'));

const numbersOf = (rules) => found(rules, /^- \*\*(\d+\.\d+)\*\* /gm);
const chaptersOf = (rules) => found(rules, /^## (\d+)\. /gm);
const rules = {
  numbers: new Set(numbersOf(read('docs/rules.md'))),
  chapters: new Set(chaptersOf(read('docs/rules.md'))),
};
const adrs = new Set(readdirSync(join(root, 'docs/adr')).map((name) => String(Number(name.slice(0, 4)))));

/**
 * Cited rules, chapters and ADRs that do not exist, and sections of documents that the rules replaced: `rules, 2.4 and 2.5`,
 * `rules, chapter 7`, `rule('2.4'`, `ADR 6, 13`.
 */
export function unknownCitations(text) {
  const cited = found(text, /\b[Rr]ules,[\s*]+(\d+\.\d+(?:(?:,| and)[\s*]+\d+\.\d+)*)/g).concat(
    found(text, /\brule\(\s*'(\d+\.\d+)/g),
  );
  const chapters = found(text, /\b[Rr]ules,[\s*]+chapter (\d+)/g);
  const gone = found(text, /\b((?:contract|transcript)(?:\.md)?,? (?:§|section )\d+)/gi);
  const reasons = found(text, /\bADRs? (\d+(?:(?:,| and) \d+)*)/g);
  return [
    ...gone,
    ...cited.flatMap((list) => found(list, /(\d+\.\d+)/g)).filter((number) => !rules.numbers.has(number)),
    ...chapters.filter((chapter) => !rules.chapters.has(chapter)).map((chapter) => `chapter ${chapter}`),
    ...reasons
      .flatMap((list) => found(list, /(\d+)/g))
      .filter((adr) => !adrs.has(adr))
      .map((adr) => `ADR ${adr}`),
  ];
}

/** Numbers of rules that appear twice, or under the heading of another chapter. */
export function misplacedRules(text) {
  const chapters = text.split(/^(?=## \d+\. )/m).slice(1);
  const all = numbersOf(text);
  return [
    ...all.filter((number, index) => all.indexOf(number) !== index),
    ...chapters.flatMap((chapter) =>
      numbersOf(chapter).filter((number) => !number.startsWith(`${chaptersOf(chapter).join()}.`)),
    ),
  ];
}

/** A section of CONTRIBUTING.md that walks through the files of an example: `follows \`name\`` in its first paragraph, then numbered steps. */
export function walk(text, heading) {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const [introduction = '', ...rest] = section.split(/^(?=1\. )/m);
  const steps = rest.join('').split(/\n\n(?! )/, 1)[0] ?? '';
  const follows = introduction.slice(introduction.search(/\bfollows\b/));
  return {
    examples: found(follows, /`(\w+)`/g),
    files: found(steps, /`((?:apps|packages|docs|examples)\/[\w./-]+\.\w+)`/g),
  };
}

/** Files of a walk that are missing, or do not mention its examples. */
export function strayFiles({ examples, files }) {
  const mentions = (text) => examples.some((example) => text.toLowerCase().includes(example.toLowerCase()));
  return files.filter((file) => !existsSync(join(root, file)) || !mentions(file + read(file)));
}

/** The walks of CONTRIBUTING.md: heading, examples, and the number of files under apps and packages. */
const walks = [
  ['Add a frame', ['stopping'], 8],
  ['Add a route', ['markUnread'], 6],
  ['Add a kind of address to notify', ['ntfy'], 12],
];

function walkProblems(text) {
  const problems = walks.flatMap(([heading, examples, count]) => {
    const walked = walk(text, heading);
    const byHand = new Set(walked.files.filter((file) => /^(?:apps|packages)\//.test(file)));
    return [
      ...(walked.examples.join() === examples.join()
        ? []
        : [`"${heading}" follows ${walked.examples}, not ${examples}`]),
      ...(byHand.size === count ? [] : [`"${heading}" names ${byHand.size} files of code, not ${count}`]),
      ...strayFiles(walked).map((file) => `"${heading}": ${file} is missing or does not mention the example`),
    ];
  });
  const rows = read('packages/protocol/src/routes/sessions.ts');
  const [, method, path] = /\bmarkUnread: {\s+method: '(\w+)',\s+path: '([^']+)'/.exec(rows) ?? [];
  const sentence = `\`markUnread\`, which is \`${method} ${path}\``;
  return text.includes(sentence) ? problems : [...problems, `"Add a route" lacks "${sentence}"`];
}

/** Limits whose table omits a role that reads them. */
function roleProblems() {
  const numbers = describeVariables().filter(({ group }) => group === 'Limits');
  return ['api', 'gateway'].flatMap((role) => {
    const code = filesIn(`apps/${role}/src`).map(read).join('\n');
    const fieldOf = (name) => name.toLowerCase().replace(/_./g, (part) => part.charAt(1).toUpperCase());
    const used = numbers.filter(({ name }) => new RegExp(`\\b${fieldOf(name)}\\b`).test(code));
    return [
      ...(used.length > 3 ? [] : [`the ${role} reads only ${used.length} limits`]),
      ...used.filter(({ readBy }) => !readBy.includes(role)).map(({ name }) => `${name} lacks its reader ${role}`),
    ];
  });
}

/** Each file that can cite a rule or an ADR. The specification has its own numbers; the test has wrong ones. */
const citing = () =>
  filesIn('.')
    .filter((name) => /\.(?:m?[jt]sx?|cjs|md|prisma|sql|ya?ml|sh)$/.test(name))
    .filter((name) => !['docs/interface-specification.md', 'tests/check-documents.house.test.ts'].includes(name));

export function problems() {
  const linked = found(read('docs/README.md'), /\]\(([^()\s#]+)/g).map((target) => join('docs', target));
  const unreached = documents.filter((document) => document !== 'docs/README.md' && !linked.includes(document));
  return [
    ...documents.flatMap((document) => {
      const text = read(document);
      return [
        ...brokenLinks(text, document).map((link) => `${document}: the link ${link} leads nowhere`),
        ...unknownScripts(text).map((name) => `${document}: package.json has no script ${name}`),
        ...missingPaths(text).map((path) => `${document}: ${path} does not exist`),
        ...shortLogs(text).map((line) => `${document}: add --tail to "${line}"`),
      ];
    }),
    ...unreached.map((document) => `docs/README.md has no link to ${document}`),
    ...(rules.numbers.size > 100 ? [] : [`docs/rules.md has only ${rules.numbers.size} rules`]),
    ...misplacedRules(read('docs/rules.md')).map(
      (number) => `docs/rules.md: ${number} is there twice or in another chapter`,
    ),
    ...citing().flatMap((name) => unknownCitations(read(name)).map((citation) => `${name} cites ${citation}`)),
    ...walkProblems(read('CONTRIBUTING.md')).map((problem) => `CONTRIBUTING.md: ${problem}`),
    ...roleProblems(),
  ];
}
