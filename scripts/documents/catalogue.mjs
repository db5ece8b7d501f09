/** Every text of the pages comes from the catalogue, in two complete languages (rules, 17.5). Reads the sources. */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import ts from 'typescript';
import { read, root } from './tree.mjs';

const web = join(root, 'apps/web/src');
export const parse = (file, text) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);

function readSources() {
  const files = readdirSync(web, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('languages/'))
    .toSorted();
  return new Map(files.map((file) => [file, parse(file, readFileSync(join(web, file), 'utf8'))]));
}

/** Attributes that a person sees, or that a screen reader announces. */
const seen = /^(?:aria-label|aria-description|title|placeholder|alt|label|hint|lead|what|action|doing|busyText|text)$/;
/** Names that every language shares: the service, a key, a setting. */
const names = ['Relay', 'ntfy', 'XXXX-XXXX'];
/** Texts for a program or a terminal. */
const isOfProgram = (tag) => ['kbd', 'code', 'pre'].includes(tag);
const isText = (text) => /\p{L}/u.test(text) && !names.includes(text.trim()) && !/^https?:/.test(text);
const isSentence = (text) => /^\p{Lu}[\p{Ll}’']+ \p{Ll}/u.test(text);

/** The possible texts of an expression: branches of a choice, parts of a template. */
function textsOf(node) {
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

const tagOf = (node) => (ts.isJsxElement(node) ? node.openingElement.tagName.getText() : '');

function ownTexts(node) {
  if (ts.isJsxText(node)) return isOfProgram(tagOf(node.parent)) ? [] : [node.text].filter(isText);
  if (ts.isJsxAttribute(node) && seen.test(node.name.getText())) {
    const { initializer } = node;
    if (initializer && ts.isStringLiteral(initializer)) return [initializer.text].filter(isText);
    if (initializer && ts.isJsxExpression(initializer) && initializer.expression)
      return textsOf(initializer.expression).filter(isText);
  }
  if (ts.isJsxExpression(node) && node.expression && (ts.isJsxElement(node.parent) || ts.isJsxFragment(node.parent)))
    return isOfProgram(tagOf(node.parent)) ? [] : textsOf(node.expression).filter(isText);
  // A sentence that reaches the page in another way. Thrown errors appear only in the log of a browser.
  if (ts.isStringLiteralLike(node) && isSentence(node.text) && !ts.isNewExpression(node.parent)) return [node.text];
  return [];
}

function walk(node, visit) {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

const at = (file, node, text) => {
  const line = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
  return `${file}:${line} ${text.trim().slice(0, 60)}`;
};

/** Texts in a source that the catalogue lacks. */
export function strays(file, source) {
  const found = new Set();
  walk(source, (node) => ownTexts(node).forEach((text) => found.add(at(file, node, text))));
  return [...found];
}

const isFunction = (node) => ts.isFunctionLike(node) || ts.isClassDeclaration(node);
/** The local name of the catalogue in a file that renames its import. */
const nameOf = ({ text }) => /\bwords as (\w+)/.exec(text)?.[1] ?? 'words';
/** Visits each `words.key`, with the key. */
function readWords(source, visit) {
  walk(source, (node) => {
    if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return;
    if (node.expression.text === nameOf(source) && !ts.isTypeQueryNode(node.parent)) visit(node, node.name.text);
  });
}

const importsCatalogue = (source) => /\bwords\b[^}]*\} from '[./]+catalogue\.ts'/.test(source.text);

/** Modules that load together with `from`, without lazily loaded ones. */
function reached(from, sources) {
  const found = new Set();
  const todo = [from];
  for (let file = todo.pop(); file !== undefined; file = todo.pop()) {
    if (found.has(file) || !sources.has(file)) continue;
    found.add(file);
    for (const statement of sources.get(file).statements) {
      const isType = ts.isImportDeclaration(statement) && statement.importClause?.isTypeOnly === true;
      if (!(ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) || isType) continue;
      const { moduleSpecifier } = statement;
      if (moduleSpecifier && ts.isStringLiteral(moduleSpecifier) && moduleSpecifier.text.startsWith('.'))
        todo.push(join(dirname(file), moduleSpecifier.text));
    }
  }
  return found;
}

/** Texts that a module reads while it loads, when the language is still missing. */
export function early(file, source) {
  const found = [];
  if (!importsCatalogue(source)) return found;
  readWords(source, (node, key) => {
    let outer = node;
    while (!ts.isSourceFile(outer) && !isFunction(outer)) outer = outer.parent;
    const isType = ts.findAncestor(node, ts.isTypeNode) !== undefined;
    if (ts.isSourceFile(outer) && !isType) found.push(at(file, node, key));
  });
  return found;
}

/** The parts of the catalogue that each entry loads. */
const entries = [
  ['root.tsx', ['frame', 'errors']],
  ['pages/conversation.tsx', ['frame', 'errors', 'session']],
  ['pages/machines.ts', ['frame', 'errors', 'machines']],
  ['pages/settings.ts', ['frame', 'errors', 'settings', 'here']],
  // Parts of the page of notifications, and the history, which loads without that page.
  ['pages/notify.ts', ['frame', 'errors', 'settings', 'notify', 'here']],
  ['pages/notification-history.tsx', ['frame', 'errors', 'notify', 'here']],
  ['offline/background.tsx', ['frame', 'errors', 'here']],
  ['offline/last-page.tsx', ['frame', 'errors', 'here']],
  ['pages/door.tsx', ['frame', 'errors', 'door']],
  ['palette/palette.tsx', ['frame', 'errors', 'keys']],
  ['palette/help.tsx', ['frame', 'errors', 'keys']],
  // Pages of several parts use it.
  ['push/browser.ts', ['frame', 'errors']],
];

/** Texts that an entry reads and its parts lack. */
function missingWords(entry, loaded, sources, catalogue) {
  const known = new Set(loaded.flatMap((part) => Object.keys(catalogue[part])));
  const missing = [];
  for (const file of reached(entry, sources))
    if (importsCatalogue(sources.get(file)))
      readWords(sources.get(file), (node, key) => {
        if (!known.has(key)) missing.push(at(file, node, key));
      });
  return missing;
}

const parts = readdirSync(join(web, 'languages/en')).map((file) => file.replace('.ts', ''));

/** The texts of each language and part: `{ en: { frame: {…} }, de: {…} }`. */
async function loadLanguages() {
  const languages = ['en', 'de'];
  const names = languages.flatMap((language) => parts.map((part) => `${language}/${part}`));
  const entry = names
    .map((name) => `export { words as '${name}' } from '${join(web, 'languages', name)}.ts';`)
    .join('\n');
  const bundle = await rolldown({
    input: 'catalogue',
    plugins: [
      {
        name: 'catalogue',
        resolveId: (id) => (id === 'catalogue' ? id : undefined),
        load: (id) => (id === 'catalogue' ? entry : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  const all = await import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`);
  const of = (language) => Object.fromEntries(parts.map((part) => [part, all[`${language}/${part}`]]));
  return Object.fromEntries(languages.map((language) => [language, of(language)]));
}

/** Each text by its path; a function counts as its number of parameters. */
function flat(texts, path = '') {
  return Object.entries(texts).flatMap(([key, text]) => {
    if (typeof text === 'string') return [[`${path}${key}`, text]];
    if (typeof text === 'function') return [[`${path}${key}`, text.length]];
    return flat(text, `${path}${key}.`);
  });
}
const places = (text) => [...String(text).matchAll(/\{\w+\}/g)].map(String).toSorted();

/** Keys that one language lacks, or has with other parameters or in another order. */
export function shapeProblems(english, other) {
  const shape = (texts) => flat(texts).map(([key, text]) => JSON.stringify([key, typeof text, places(text)]));
  const [first, second] = [shape(english), shape(other)];
  const odd = [
    ...first.filter((row) => !second.includes(row)).map((row) => `only English has ${row}`),
    ...second.filter((row) => !first.includes(row)).map((row) => `English does not have ${row}`),
  ];
  return odd.length > 0 || first.join() === second.join() ? odd : ['the keys have another order than in English'];
}

/** Keys of a part that no source reads. `code` is the text of all sources. */
export function unread(texts, code) {
  return Object.entries(texts).flatMap(([name, value]) =>
    typeof value === 'object'
      ? Object.keys(value).filter((key) => !new RegExp(`[.'"[]${key}\\b|[.]${name}\\b(?![.])`).test(code))
      : new RegExp(`[.]${name}\\b`).test(code)
        ? []
        : [name],
  );
}

/** Files with the sentences that explain an undelivered notification. */
const reasonsIn = [
  ...['outcome', 'verdict', 'sender', 'guard'].map((name) => `apps/api/src/push/${name}.ts`),
  ...['deliveries', 'held-deliveries'].map((name) => `packages/database/src/${name}.ts`),
];

/** The pages translate each reason; an unknown reason stays unchanged. */
function reasonProblems(translate) {
  const reasons = reasonsIn.flatMap((source) =>
    read(source)
      .split('\n')
      .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line))
      .flatMap((line) => [...line.matchAll(/'([A-Z][^']* [^']*\.|the address was removed)'|`([A-Z][^`]* [^`]*\.)`/g)])
      .map(([, plain, template]) => plain ?? template)
      .map((text) => text.replace('${code}', ' (ECONNRESET)').replaceAll(/\$\{\w+\}/g, '404')),
  );
  const german = [
    ['The service answered 404. Check the address.', 'Der Dienst antwortete 404. Prüfe die Adresse.'],
    ['A new reason.', 'A new reason.'],
  ];
  return [
    ...(reasons.length > 30 ? [] : [`found only ${reasons.length} reasons in ${reasonsIn.join(', ')}`]),
    ...reasons.filter((text) => translate(text) === text).map((text) => `German lacks the reason "${text}"`),
    ...german
      .filter(([text, translated]) => translate(text) !== translated)
      .map(([text]) => `German translates "${text}" as "${translate(text)}"`),
  ];
}

export async function problems() {
  const sources = readSources();
  const { en, de } = await loadLanguages();
  const code = [...sources.values()].map(({ text }) => text).join('\n');
  return [
    ...[...sources].flatMap(([file, source]) => [
      ...strays(file, source).map((text) => `not in the catalogue: ${text}`),
      ...early(file, source).map((key) => `read while the module loads: ${key}`),
    ]),
    ...entries.flatMap(([entry, loaded]) =>
      missingWords(entry, loaded, sources, en).map((key) => `${entry} does not load the part with ${key}`),
    ),
    ...parts.flatMap((part) => [
      ...shapeProblems(en[part], de[part]).map((problem) => `languages/de/${part}.ts: ${problem}`),
      ...unread(en[part], code).map((key) => `languages/en/${part}.ts: nothing reads ${key}`),
    ]),
    ...reasonProblems(de.here.here.reason),
  ];
}
