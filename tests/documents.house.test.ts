/**
 * The documents name what is there: links lead to files, commands are scripts of package.json, paths exist, cited rules and ADRs too. Whether
 * a sentence is true no test can tell; whether it points at something that was renamed, this one does.
 */
import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describeVariables } from '@relay/config';

const root = resolve(import.meta.dirname, '..');
const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name));
const documents = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...inDocs];
const read = (document: string) => readFileSync(join(root, document), 'utf8');

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

const fenced = /^ *(```+)[^\n]*\n[\s\S]*?^ *\1 *$/gm;
const prose = (text: string) => text.replace(fenced, '');
const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, match = '']) => match);

/** The source of a built file: a fresh clone has no dist. */
const source = (path: string) => path.replace(/^((?:apps|packages)\/[^/]+)\/dist\/(.*)\.js$/, '$1/src/$2.ts');

/** Links to files of this repository that lead nowhere. `document` is where the text stands, from the top. */
function brokenLinks(text: string, document: string): string[] {
  const targets = found(prose(text), /\]\(([^()\s]+)\)/g).filter((target) => !/^([a-z]+:|#)/.test(target));
  const fileOf = (target: string) => join(root, dirname(document), decodeURIComponent(target.split('#', 1)[0] ?? ''));
  return targets.filter((target) => !existsSync(fileOf(target)));
}

/** Names after `npm run` that are no script. */
function unknownScripts(text: string): string[] {
  return found(text, /\bnpm run (?:--silent |-s )?([\w:-]+)/g).filter((name) => !(name in scripts));
}

const folders = 'apps|packages|prisma|scripts|tests|conformance|examples|bench|docs';

/** Paths from the top of the repository, in backticks or run with node, that do not exist. */
function missingPaths(text: string): string[] {
  const named = found(prose(text), new RegExp(`\`((?:${folders})/[\\w@./-]*)\``, 'g'));
  const run = found(text, new RegExp(`\\bnode ((?:${folders})/[\\w@./-]+)`, 'g'));
  return [...named, ...run].filter((path) => !isBuilt(path) && !existsSync(join(root, source(path))));
}

const built = new Set(['node_modules', 'dist', 'generated', 'artefacts', 'data', '.git', '.turbo']);
/** Whether a path leads to what a run makes, which a fresh clone has not. `dist` has a source, which is looked at. */
const isBuilt = (path: string) => path.split('/').some((name) => name !== 'dist' && built.has(name));
/** Files below a folder, but what is built or installed. Without git: a machine may have Node alone. */
const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return built.has(entry.name) ? [] : filesIn(path);
    return entry.isFile() ? [path] : [];
  });

/** Every text that may cite a rule or an ADR, but the rules themselves as the source of their numbers. */
const citing = filesIn('.')
  .filter((name) => /\.(?:m?[jt]sx?|cjs|md|prisma|sql|ya?ml|sh)$/.test(name))
  .filter((name) => !['docs/interface-specification.md', 'tests/documents.house.test.ts'].includes(name));

/** A section of CONTRIBUTING.md that walks through the files of an example: `follows \`name\`` in its first paragraph, then numbered steps. */
function walk(text: string, heading: string) {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const [introduction = '', ...rest] = section.split(/^(?=1\. )/m);
  const steps = rest.join('').split(/\n\n(?! )/, 1)[0] ?? '';
  const follows = introduction.slice(introduction.search(/\bfollows\b/));
  return {
    examples: found(follows, /`(\w+)`/g),
    files: found(steps, /`((?:apps|packages|docs|examples)\/[\w./-]+\.\w+)`/g),
  };
}

/** Files of a walk that do not exist, or mention none of its examples. */
function strayFiles({ examples, files }: { examples: string[]; files: string[] }): string[] {
  const mentions = (text: string) => examples.some((example) => text.toLowerCase().includes(example.toLowerCase()));
  return files.filter((file) => !existsSync(join(root, file)) || !mentions(file + read(file)));
}

/** Reads of logs by a selector that do not say how much: kubectl then shows ten lines of each pod, whatever `--since` asks for. */
const shortLogs = (text: string) =>
  found(text, /(\bkubectl logs\b[^`|\n]*)/g).filter((line) => line.includes('--selector') && !line.includes('--tail'));

const numbersOf = (rules: string) => found(rules, /^- \*\*(\d+\.\d+)\*\* /gm);
const chaptersOf = (rules: string) => found(rules, /^## (\d+)\. /gm);
const rules = {
  numbers: new Set(numbersOf(read('docs/rules.md'))),
  chapters: new Set(chaptersOf(read('docs/rules.md'))),
};
const adrs = new Set(readdirSync(join(root, 'docs/adr')).map((name) => String(Number(name.slice(0, 4)))));

/** Rules, chapters and ADRs that a text cites and that do not exist, and sections of documents that the rules replaced: `rules, 2.4 and 2.5`, `rules, chapter 7`, `rule('2.4'`, `ADR 6, 13`. */
function unknownCitations(text: string): string[] {
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

/** Numbers of rules that come twice, or under the heading of another chapter. */
function misplacedRules(text: string): string[] {
  const chapters = text.split(/^(?=## \d+\. )/m).slice(1);
  const all = numbersOf(text);
  return [
    ...all.filter((number, index) => all.indexOf(number) !== index),
    ...chapters.flatMap((chapter) =>
      numbersOf(chapter).filter((number) => !number.startsWith(`${chaptersOf(chapter).join()}.`)),
    ),
  ];
}

describe('rules and ADRs', () => {
  it('have each a number of their own, rules in the chapter that it names', () => {
    expect(rules.numbers.size).toBeGreaterThan(100);
    expect(misplacedRules(read('docs/rules.md'))).toEqual([]);
  });

  it('exist where code, tests and documents cite them', () => {
    const unknown = citing.flatMap((name) => unknownCitations(read(name)).map((citation) => `${name}: ${citation}`));
    expect(unknown).toEqual([]);
  });
});

describe('the documents', () => {
  it.each(documents)('%s links only to files that exist', (document) => {
    expect(brokenLinks(read(document), document)).toEqual([]);
  });

  it.each(documents)('%s names only scripts of package.json', (document) => {
    expect(unknownScripts(read(document))).toEqual([]);
  });

  it.each(documents)('%s names only paths that exist', (document) => {
    expect(missingPaths(read(document))).toEqual([]);
  });

  it.each(documents)('%s says how much of a log it wants where it names pods by a selector', (document) => {
    expect(shortLogs(read(document))).toEqual([]);
  });

  it('name each role that reads a limit or a timing', () => {
    const numbers = describeVariables().filter(({ group }) => group === 'Limits' || group === 'Timings');
    for (const role of ['api', 'gateway'] as const) {
      const code = filesIn(`apps/${role}/src`).map(read).join('\n');
      const fieldOf = (name: string) => name.toLowerCase().replace(/_./g, (found) => found.charAt(1).toUpperCase());
      const used = numbers.filter(({ name }) => new RegExp(`\\b${fieldOf(name)}\\b`).test(code));
      expect(used.length).toBeGreaterThan(10);
      expect(used.filter(({ readBy }) => !readBy.includes(role)).map(({ name }) => name)).toEqual([]);
    }
  });

  it('are all reached from docs/README.md', () => {
    const linked = found(read('docs/README.md'), /\]\(([^()\s#]+)/g).map((target) => join('docs', target));
    expect(documents.filter((document) => document !== 'docs/README.md' && !linked.includes(document))).toEqual([]);
  });
});

describe('the walks of CONTRIBUTING.md', () => {
  it.each([
    ['Add a frame', ['settings_activity', 'settings_changed'], 8],
    ['Add a route', ['markUnread'], 7],
    ['Add a kind of address to notify', ['ntfy'], 12],
  ])('%s: every file of its steps exists and mentions the example', (heading, examples, count) => {
    const walked = walk(read('CONTRIBUTING.md'), heading);
    const byHand = walked.files.filter((file) => /^(?:apps|packages)\//.test(file));
    expect(walked.examples).toEqual(examples);
    expect(new Set(byHand).size).toBe(count);
    expect(strayFiles(walked)).toEqual([]);
  });

  it('of the route names the method and path that the route has', () => {
    const endpoints = read('packages/protocol/src/endpoints.ts');
    const [, method, path] = /\bmarkUnread: { method: '(\w+)', path: '([^']+)'/.exec(endpoints) ?? [];
    expect(read('CONTRIBUTING.md')).toContain(`\`markUnread\`, which is \`${method} ${path}\``);
  });
});

describe('the check of the documents', () => {
  it('reports a file of a walk that does not exist, or does not mention the example', () => {
    const text =
      '## Go\n\nThis follows `markRead`.\n\n1. `packages/protocol/src/endpoints.ts`\n2. `apps/api/src/gone.ts`\n   `README.md` `apps/api/src/deps.ts`\n\nAfter: `packages/config/src/kinds.ts`\n';
    expect(strayFiles(walk(text, 'Go'))).toEqual(['apps/api/src/gone.ts', 'apps/api/src/deps.ts']);
  });

  it('reports a link that leads nowhere, seen from where it stands', () => {
    const text = '[a](../README.md) [b](nowhere.md#here) [c](https://example.com/x.md) [d](#below)';
    expect(brokenLinks(text, 'docs/page.md')).toEqual(['nowhere.md#here']);
  });

  it('reports a script that does not exist, in prose and in a code block', () => {
    expect(unknownScripts('`npm run check`\n\n```sh\nnpm run --silent cheque\n```\n')).toEqual(['cheque']);
  });

  it('reports a path that does not exist, and takes the source for what a build makes of it', () => {
    const text = '`apps/daemon/dist/main.js` `packages/nothing/src/a.ts`\n\n```sh\nnode scripts/gone.mjs\n```\n';
    expect(missingPaths(text)).toEqual(['packages/nothing/src/a.ts', 'scripts/gone.mjs']);
  });

  it('reports a log that kubectl would cut to ten lines, and not one of a single object', () => {
    const text =
      '`kubectl logs job/a`\n\n```sh\nkubectl logs --selector a=b --since 9m | tail --tail\nkubectl logs --selector a=b --tail=-1\n```\n';
    expect(shortLogs(text)).toEqual(['kubectl logs --selector a=b --since 9m ']);
  });

  it('reports a rule, a chapter and an ADR that do not exist, also the second one of a list and one after a line break', () => {
    const text =
      "(rules, 2.1 and 99.1) Rules, chapter 99: x (specification §5;\n * rules,\n * 98.2) rule('97.3 GET /', '') ADR 6, 999 (contract §9) (transcript.md §3)";
    expect(unknownCitations(text)).toEqual([
      'contract §9',
      'transcript.md §3',
      '99.1',
      '98.2',
      '97.3',
      'chapter 99',
      'ADR 999',
    ]);
  });

  it('reports a rule that comes twice, and one in another chapter', () => {
    expect(misplacedRules('## 1. One\n- **1.1** a\n- **1.1** b\n## 2. Two\n- **1.2** c\n')).toEqual(['1.1', '1.2']);
  });
});
