/**
 * The documents name what is there: links lead to files, commands are scripts of package.json, paths exist. Whether a sentence
 * is true no test can tell; whether it points at something that was renamed, this one does.
 */
import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

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
  return [...named, ...run].filter((path) => !existsSync(join(root, source(path))));
}

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

  it('are all reached from docs/README.md', () => {
    const linked = found(read('docs/README.md'), /\]\(([^()\s#]+)/g).map((target) => join('docs', target));
    expect(documents.filter((document) => document !== 'docs/README.md' && !linked.includes(document))).toEqual([]);
  });
});

describe('the check of the documents', () => {
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
});
