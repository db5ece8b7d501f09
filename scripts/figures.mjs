// Prints the size and shape of the code as a table: one revision next to the current tree, counted in the same way.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { goals, measure as habitsIn, roomOf as textRoomOf } from './check-habits.mjs';
import { roomsOf, subjectProblems } from './check-subjects.mjs';
import { wordProblems } from './check-words.mjs';
import { tiers } from './tiers.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const usage = `Usage: npm run figures [-- [--list] [--rooms] [revision …]]
       npm run figures -- --tests

Prints a table with one column per revision of git and one for the files of this folder. Product code is apps/*/src and
packages/*/src without generated files and without tests; a name counts as used when another file has it, a test included.
An importer is a product file of the same room. The habits are those of check-habits.mjs, in all text of the repository; the
subjects are the last 600 commits.
  --list    after the table, for the files of this folder: functions over 150 lines, files over 400, exported names without a user
  --rooms   after the table, the lines of each room in each column
  --tests   instead of all that: the CPU seconds of the last run of each tier of tests, and its ten most expensive files
`;

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30 });
const isCode = (path) => /\.(?:[cm]?tsx?|mjs)$/.test(path) && !path.endsWith('.d.mts');
const isProduct = (path) =>
  /^(?:apps|packages)\/[^/]+\/src\/.*\.tsx?$/.test(path) && !/\/generated\/|\.test\.tsx?$/.test(path);
const roomOf = (path) => path.split('/').slice(0, 2).join('/');

/** Every file of a revision, or of the folder, as path → text. Calls git once for all of them. */
function filesOf(revision) {
  if (revision === undefined)
    return new Map(
      git('ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate')
        .trim()
        .split('\n')
        .flatMap((path) => {
          try {
            return [[path, readFileSync(`${root}${path}`, 'utf8')]];
          } catch {
            return [];
          }
        }),
    );
  const paths = git('ls-tree', '-r', '--name-only', revision).trim().split('\n');
  const input = paths.map((path) => `${revision}:${path}\n`).join('');
  const all = execFileSync('git', ['cat-file', '--batch'], { cwd: root, input, maxBuffer: 1 << 30 });
  const files = new Map();
  let at = 0;
  for (const path of paths) {
    const headEnd = all.indexOf(10, at);
    const size = Number(all.subarray(at, headEnd).toString().split(' ').at(-1));
    files.set(path, all.subarray(headEnd + 1, headEnd + 1 + size).toString('utf8'));
    at = headEnd + 1 + size + 1;
  }
  return files;
}

const isFunction = (node) =>
  ts.isFunctionDeclaration(node) ||
  ts.isFunctionExpression(node) ||
  ts.isArrowFunction(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isConstructorDeclaration(node);

function nameOf(node) {
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  return parent?.name?.getText?.() ?? (ts.isConstructorDeclaration(node) ? 'constructor' : 'a function without a name');
}

/** Lines with code, neither blank nor only comments, as eslint counts them for max-lines and max-lines-per-function. */
function codeLines(source) {
  const { text } = source;
  const lines = new Set();
  const scan = (node) => {
    if (node.getChildCount(source) > 0 && !ts.isJsxText(node)) return node.getChildren(source).forEach(scan);
    if (ts.isJSDoc?.(node) || node.end === node.getStart(source)) return undefined;
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    const last = source.getLineAndCharacterOfPosition(node.end).line;
    for (let line = first; line <= last; line += 1) lines.add(line);
    return undefined;
  };
  if (text !== '') scan(source);
  return lines;
}

/** The module that a node imports, or re-exports from. */
function specifierOf(node) {
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const isStatic = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
  const module = isDynamic ? node.arguments[0] : isStatic ? node.moduleSpecifier : undefined;
  return module && ts.isStringLiteral(module) ? module.text : undefined;
}

/** Functions with their lines, exported names, imported modules, and every identifier except re-exports by `export … from`. */
function readSource(path, text) {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
  const functions = [];
  const exported = new Set();
  const identifiers = new Set();
  const imports = new Set();
  const visit = (node) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) imports.add(specifier);
    if (isFunction(node) && node.body !== undefined) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
      const last = source.getLineAndCharacterOfPosition(node.end).line;
      functions.push({ path, name: nameOf(node), line: first + 1, lines: last - first + 1 });
    }
    if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) return;
    if (ts.isIdentifier(node)) identifiers.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const statement of source.statements) {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    const has = (kind) => modifiers.some((modifier) => modifier.kind === kind);
    // Importers choose the name of a default export.
    if (!has(ts.SyntaxKind.ExportKeyword) || has(ts.SyntaxKind.DefaultKeyword)) continue;
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations)
        for (const part of ts.isIdentifier(name) ? [name] : name.elements.map((element) => element.name))
          exported.add(part.getText());
    } else if (statement.name !== undefined) exported.add(statement.name.text);
  }
  return { path, source, functions, exported, identifiers, imports };
}

/** The rooms and files in each of the three walks of ARCHITECTURE.md. */
function walksOf(files) {
  const text = files.get('ARCHITECTURE.md') ?? '';
  const begin = text.search(/^## Three walks/m);
  const section = begin === -1 ? '' : text.slice(begin).split(/^## /m)[1];
  return section
    .split(/^\*\*(?=[A-C]\.)/m)
    .slice(1)
    .map((walk) => {
      const named = new Set([...walk.matchAll(/`((?:apps|packages)\/[^`]+\.tsx?)`/g)].map(([, path]) => path));
      return { rooms: new Set([...named].map(roomOf)).size, files: named.size };
    });
}

/** The number of files that exactly one of these files imports. */
function importedOnce(sources) {
  const importers = new Map(sources.map((source) => [source.path, 0]));
  for (const { path: from, imports } of sources)
    for (const specifier of imports) {
      if (!specifier.startsWith('.')) continue;
      const to = path.posix.join(path.posix.dirname(from), specifier);
      const found = [to, `${to}.ts`, `${to}.tsx`, to.replace(/\.js$/, '.ts')].find((name) => importers.has(name));
      if (found !== undefined) importers.set(found, importers.get(found) + 1);
    }
  return [...importers.values()].filter((count) => count === 1).length;
}

/** The number of habits whose rate is above its goal. */
function habitsAbove(files) {
  let words = 0;
  const counts = {};
  for (const [name, text] of files) {
    if (textRoomOf(name) === undefined) continue;
    const found = habitsIn(name, text);
    words += found.words;
    for (const [habit, lines] of Object.entries(found.lines)) counts[habit] = (counts[habit] ?? 0) + lines.length;
  }
  return Object.entries(goals).filter(([habit, { rate }]) => (1000 * counts[habit]) / words > rate).length;
}

/** The percentage of the last 600 commits that check-subjects.mjs accepts. */
function goodSubjects(revision, paths) {
  const subjects = git('log', '-600', '--no-merges', '--format=%s', revision ?? 'HEAD')
    .trim()
    .split('\n');
  const good = subjects.filter((subject) => subjectProblems(subject, roomsOf(paths)).length === 0);
  return Math.round((100 * good.length) / subjects.length);
}

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const linesOf = (text) => text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
const most = (rows) => [...rows].sort((a, b) => b.lines - a.lines);

function measure(revision) {
  const files = filesOf(revision);
  const code = [...files].filter(([path]) => isCode(path) && !path.includes('/generated/'));
  const sources = code.map(([path, text]) => readSource(path, text));
  const users = new Map();
  for (const { identifiers } of sources)
    for (const identifier of identifiers) users.set(identifier, (users.get(identifier) ?? 0) + 1);
  const product = sources.filter(({ path }) => isProduct(path));
  const sizes = product.map(({ path, source }) => ({
    path,
    lines: linesOf(source.text),
    code: codeLines(source).size,
  }));
  const rooms = new Map();
  for (const { path, lines } of sizes) rooms.set(roomOf(path), (rooms.get(roomOf(path)) ?? 0) + lines);
  return {
    sizes: most(sizes),
    once: importedOnce(product),
    habits: habitsAbove(files),
    subjects: goodSubjects(revision, [...files.keys()]),
    functions: most(product.flatMap(({ functions }) => functions)),
    unused: product.flatMap(({ path, exported }) =>
      [...exported].filter((name) => (users.get(name) ?? 0) < 2).map((name) => ({ path, name })),
    ),
    words: [...files].flatMap(([path, text]) =>
      /\.(?:[cm]?[jt]sx?|md|ya?ml|sh|css|html|py|prisma|env)$/.test(path) ? wordProblems(path, text) : [],
    ).length,
    walks: walksOf(files),
    tests: code
      .filter(([path]) => /\.(?:test|cluster)\.tsx?$/.test(path))
      .reduce((sum, [, text]) => sum + linesOf(text), 0),
    rooms,
  };
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const rows = [
  ['product files', ({ sizes }) => sizes.length],
  ['product lines', ({ sizes }) => sum(sizes.map(({ lines }) => lines))],
  ['… without blank lines and comments', ({ sizes }) => sum(sizes.map(({ code }) => code))],
  ['median lines per file', ({ sizes }) => median(sizes.map(({ lines }) => lines))],
  ['longest file, lines', ({ sizes }) => sizes[0]?.lines ?? 0],
  ['files over 400 lines', ({ sizes }) => sizes.filter(({ lines }) => lines > 400).length],
  ['files with one importer, %', ({ once, sizes }) => Math.round((100 * once) / sizes.length)],
  ['longest function, lines', ({ functions }) => functions[0]?.lines ?? 0],
  ['functions over 150 lines', ({ functions }) => functions.filter(({ lines }) => lines > 150).length],
  ['exported names without a user', ({ unused }) => unused.length],
  ['words of the word list', ({ words }) => words],
  ['habits above their goal, of ten', ({ habits }) => habits],
  ['good commit subjects, %', ({ subjects }) => subjects],
  ['rooms (files) per walk', ({ walks }) => walks.map(({ rooms, files }) => `${rooms} (${files})`).join(', ') || '–'],
  ['lines of tests', ({ tests }) => tests],
];
const print = (cells) => console.log(`| ${cells.join(' | ')} |`);

/**
 * Prints tables of node_modules/.cache/tests, which every run of a tier writes (packages/testing/src/jest/reporter.ts).
 */
function printTests() {
  const records = Object.keys(tiers).flatMap((tier) => {
    try {
      const record = JSON.parse(readFileSync(`${root}node_modules/.cache/tests/${tier}.json`, 'utf8'));
      return [{ tier, ...record, files: record.files.map((file) => ({ ...file, cpu: file.own + file.children })) }];
    } catch {
      return [];
    }
  });
  if (records.length === 0) console.log('No tier of tests ran here yet.');
  const rounded = (seconds) => seconds.toFixed(1);
  print(['tier', 'files', 'CPU seconds', 'of programs they start', 'per file', 'wall seconds']);
  print(['---', '---:', '---:', '---:', '---:', '---:']);
  for (const { tier, files, wall } of records) {
    const cpu = sum(files.map((file) => file.cpu));
    const children = sum(files.map((file) => file.children));
    print([tier, files.length, rounded(cpu), rounded(children), rounded(cpu / files.length), rounded(wall)]);
  }
  for (const { tier, files } of records) {
    console.log();
    print([tier, 'CPU seconds', 'of programs it starts', 'wall seconds']);
    print(['---', '---:', '---:', '---:']);
    for (const { file, cpu, children, wall } of [...files].sort((a, b) => b.cpu - a.cpu).slice(0, 10))
      print([file, rounded(cpu), rounded(children), rounded(wall)]);
  }
}

function main(args) {
  if (args.join() === '--tests') {
    printTests();
    return 0;
  }
  const options = args.filter((arg) => arg.startsWith('--'));
  const unknown = options.filter((option) => !['--list', '--rooms', '--help'].includes(option));
  if (unknown.length > 0 || options.includes('--help')) {
    process[unknown.length > 0 ? 'stderr' : 'stdout'].write(usage);
    return unknown.length > 0 ? 2 : 0;
  }
  const revisions = [...args.filter((arg) => !arg.startsWith('--')), undefined];
  const columns = revisions.map((revision) => ({ title: revision ?? 'now', figures: measure(revision) }));
  print(['', ...columns.map(({ title }) => title)]);
  print(['---', ...columns.map(() => '---:')]);
  for (const [title, value] of rows) print([title, ...columns.map(({ figures }) => value(figures))]);
  if (options.includes('--rooms')) {
    console.log();
    print(['lines per room', ...columns.map(({ title }) => title)]);
    print(['---', ...columns.map(() => '---:')]);
    const names = new Set(columns.flatMap(({ figures }) => [...figures.rooms.keys()]));
    for (const room of [...names].sort()) print([room, ...columns.map(({ figures }) => figures.rooms.get(room) ?? 0)]);
  }
  if (!options.includes('--list')) return 0;
  const { functions, sizes, unused } = columns.at(-1).figures;
  console.log();
  for (const { path, name, line, lines } of functions.filter(({ lines }) => lines > 150))
    console.log(`${path}:${line} ${name}: ${lines} lines`);
  for (const { path, lines } of sizes.filter(({ lines }) => lines > 400)) console.log(`${path}: ${lines} lines`);
  for (const { path, name } of unused) console.log(`${path}: ${name} is exported and has no user`);
  return 0;
}

process.exitCode = main(process.argv.slice(2));
