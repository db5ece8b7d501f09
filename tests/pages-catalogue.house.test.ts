/** Every text of the pages comes from the catalogue, in two whole languages (rules, 17.5): read from the sources. */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const root = fileURLToPath(new URL('../apps/web/src/', import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('languages/'))
  .toSorted();
const sources = new Map(
  files.map((file) => [
    file,
    ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true),
  ]),
);

/** Attributes that a person sees or hears. */
const seen = /^(?:aria-label|aria-description|title|placeholder|alt|label|hint|lead|what|action|doing|busyText|text)$/;
/** Names that are the same in every language: of the service, of a key, of a setting. */
const names = ['Relay', 'ntfy', 'XXXX-XXXX'];
/** Texts for a program or a terminal. */
const isOfProgram = (tag: string) => ['kbd', 'code', 'pre'].includes(tag);
const isText = (text: string) => /\p{L}/u.test(text) && !names.includes(text.trim()) && !/^https?:/.test(text);
const isSentence = (text: string) => /^\p{Lu}[\p{Ll}’']+ \p{Ll}/u.test(text);

/** The texts that an expression may be: branches of a choice, parts of a template. */
function textsOf(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node)) return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  if (ts.isBinaryExpression(node))
    return [
      ...(node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken ? [] : textsOf(node.left)),
      ...textsOf(node.right),
    ];
  return [];
}

const tagOf = (node: ts.Node): string => (ts.isJsxElement(node) ? node.openingElement.tagName.getText() : '');

function ownTexts(node: ts.Node): string[] {
  if (ts.isJsxText(node)) return isOfProgram(tagOf(node.parent)) ? [] : [node.text].filter(isText);
  if (ts.isJsxAttribute(node) && seen.test(node.name.getText())) {
    const { initializer } = node;
    if (initializer && ts.isStringLiteral(initializer)) return [initializer.text].filter(isText);
    if (initializer && ts.isJsxExpression(initializer) && initializer.expression)
      return textsOf(initializer.expression).filter(isText);
  }
  if (ts.isJsxExpression(node) && node.expression && (ts.isJsxElement(node.parent) || ts.isJsxFragment(node.parent)))
    return isOfProgram(tagOf(node.parent)) ? [] : textsOf(node.expression).filter(isText);
  // A sentence that reaches the page by another way. Errors that are thrown are for readers of the log of a browser.
  if (ts.isStringLiteralLike(node) && isSentence(node.text) && !ts.isNewExpression(node.parent)) return [node.text];
  return [];
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

const at = (file: string, node: ts.Node, text: string) => {
  const line = sources.get(file)!.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  return `${file}:${line} ${text.trim().slice(0, 60)}`;
};

/** Texts in the sources that the catalogue does not have. */
function strays(file: string, source: ts.SourceFile): string[] {
  const found = new Set<string>();
  walk(source, (node) => ownTexts(node).forEach((text) => found.add(at(file, node, text))));
  return [...found];
}

const isFunction = (node: ts.Node) => ts.isFunctionLike(node) || ts.isClassDeclaration(node);
/** The name of the words in a file that has a variable of that name itself. */
const nameOf = ({ text }: ts.SourceFile) => /\bwords as (\w+)/.exec(text)?.[1] ?? 'words';
/** `words.key`, by key. */
function readWords(source: ts.SourceFile, visit: (node: ts.PropertyAccessExpression, key: string) => void): void {
  walk(source, (node) => {
    if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return;
    if (node.expression.text === nameOf(source) && !ts.isTypeQueryNode(node.parent)) visit(node, node.name.text);
  });
}

const importsCatalogue = (source: ts.SourceFile) => /\bwords\b[^}]*\} from '[./]+catalogue\.ts'/.test(source.text);

/** Modules that come with `from`, without those that are loaded later. */
function reached(from: string): Set<string> {
  const found = new Set<string>();
  const todo = [from];
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (found.has(file) || !sources.has(file)) continue;
    found.add(file);
    for (const statement of sources.get(file)!.statements) {
      const isType = ts.isImportDeclaration(statement) && statement.importClause?.isTypeOnly === true;
      if (!(ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) || isType) continue;
      const { moduleSpecifier } = statement;
      if (moduleSpecifier && ts.isStringLiteral(moduleSpecifier) && moduleSpecifier.text.startsWith('.'))
        todo.push(join(dirname(file), moduleSpecifier.text));
    }
  }
  return found;
}

type Texts = { readonly [key: string]: unknown };
const parts = readdirSync(join(root, 'languages/en')).map((file) => file.replace('.ts', ''));
async function textsIn(language: string, part: string): Promise<Texts> {
  const { words } = (await import(`../apps/web/src/languages/${language}/${part}.ts`)) as { words: Texts };
  return words;
}

/** Each text by its path; a function counts as its number of parameters. */
function flat(texts: Texts, path = ''): [key: string, text: string | number][] {
  return Object.entries(texts).flatMap(([key, text]) => {
    if (typeof text === 'string') return [[`${path}${key}`, text]];
    if (typeof text === 'function') return [[`${path}${key}`, text.length]];
    return flat(text as Texts, `${path}${key}.`);
  });
}
const places = (text: string | number) => [...String(text).matchAll(/\{\w+\}/g)].map(String).toSorted();

describe('the texts of the pages', () => {
  it('come from the catalogue', () => {
    expect([...sources].flatMap(([file, source]) => strays(file, source))).toEqual([]);
  });

  it('are read while a component renders: the language is not there before', () => {
    const early: string[] = [];
    for (const [file, source] of sources)
      if (importsCatalogue(source))
        readWords(source, (node, key) => {
          let outer: ts.Node = node;
          while (!ts.isSourceFile(outer) && !isFunction(outer)) outer = outer.parent;
          const isType = ts.findAncestor(node, ts.isTypeNode) !== undefined;
          if (ts.isSourceFile(outer) && !isType) early.push(at(file, node, key));
        });
    expect(early).toEqual([]);
  });

  it.each([
    ['root.tsx', ['frame', 'errors']],
    ['pages/conversation.tsx', ['frame', 'errors', 'session']],
    ['pages/machines.ts', ['frame', 'errors', 'machines']],
    ['pages/settings.ts', ['frame', 'errors', 'settings', 'here']],
    // Parts of the page of notifications, and the history, which comes without that page.
    ['pages/notify.ts', ['frame', 'errors', 'settings', 'notify', 'here']],
    ['pages/notification-history.tsx', ['frame', 'errors', 'notify', 'here']],
    ['offline/background.tsx', ['frame', 'errors', 'here']],
    ['offline/last-page.tsx', ['frame', 'errors', 'here']],
    ['pages/door.ts', ['frame', 'errors', 'door']],
    ['palette/palette.tsx', ['frame', 'errors', 'keys']],
    ['palette/help.tsx', ['frame', 'errors', 'keys']],
    // Pages of more than one part use it.
    ['push/browser.ts', ['frame', 'errors']],
  ])('of %s are in the parts %j', async (entry, loaded) => {
    const known = new Set<string>();
    for (const part of loaded) for (const key of Object.keys(await textsIn('en', part))) known.add(key);
    const missing: string[] = [];
    for (const file of reached(entry))
      if (importsCatalogue(sources.get(file)!))
        readWords(sources.get(file)!, (node, key) => {
          if (!known.has(key)) missing.push(at(file, node, key));
        });
    expect(missing).toEqual([]);
  });
});

describe.each(parts)('the words %s', (part) => {
  it('are the same in both languages, with the same places', async () => {
    const shape = async (language: string) =>
      flat(await textsIn(language, part)).map(([key, text]) => [key, typeof text, places(text)]);
    expect(await shape('de')).toEqual(await shape('en'));
  });

  it('have no key that nothing reads', async () => {
    const all = [...sources.values()].map(({ text }) => text).join('\n');
    const unread = Object.entries(await textsIn('en', part)).flatMap(([name, value]) =>
      typeof value === 'object'
        ? Object.keys(value as Texts).filter((key) => !new RegExp(`[.'"[]${key}\\b|[.]${name}\\b(?![.])`).test(all))
        : new RegExp(`[.]${name}\\b`).test(all)
          ? []
          : [name],
    );
    expect(unread).toEqual([]);
  });
});

/** The places of the sentences in which the relay says why a notification was not delivered. */
const reasonsIn = [
  ...['outcome', 'verdict', 'sender', 'guard'].map((name) => `apps/api/src/push/${name}.ts`),
  ...['deliveries', 'held-deliveries'].map((name) => `packages/database/src/${name}.ts`),
];

it('say in German why a notification was not delivered', async () => {
  const file = new URL('../apps/web/src/languages/de/here.ts', import.meta.url).href;
  const { words } = (await import(file)) as { words: { here: { reason: (said: string) => string } } };
  const said = reasonsIn.flatMap((source) =>
    readFileSync(join(root, '../../..', source), 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line))
      .flatMap((line) => [...line.matchAll(/'([A-Z][^']* [^']*\.|the address was removed)'|`([A-Z][^`]* [^`]*\.)`/g)])
      .map(([, plain, template]) => plain ?? template!)
      .map((text) => text.replace('${code}', ' (ECONNRESET)').replaceAll(/\$\{\w+\}/g, '404')),
  );
  expect(said.length).toBeGreaterThan(30);
  expect(said.filter((text) => words.here.reason(text) === text)).toEqual([]);
  expect(words.here.reason('The service answered 404. Check the address.')).toBe(
    'Der Dienst antwortete 404. Prüfe die Adresse.',
  );
  expect(words.here.reason('A new reason.')).toBe('A new reason.');
});
