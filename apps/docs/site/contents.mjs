// The menu: documents by group, in display order. `rest` takes every document that `groups` does not list.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** [file, name in the menu]; without a name, the heading of the document. */
const groups = [
  [
    'Use it',
    ['README.md', 'First steps'],
    ['docs/reach.md', 'On the phone'],
    ['docs/push.md', 'Notifications'],
    ['docs/agents.md'],
    ['apps/daemon/README.md', 'The daemon'],
    ['apps/cli/README.md', 'The command line'],
    ['docs/acp.md', 'Editors (ACP)'],
    ['docs/mcp.md', 'Agents as users (MCP)'],
  ],
  [
    'Run it',
    ['docs/operations.md'],
    ['docs/releases.md'],
    ['CHANGELOG.md'],
    ['docs/configuration.md'],
    ['docs/security.md', 'Security'],
    ['SECURITY.md', 'Report a vulnerability'],
    ['docs/situations.md'],
    ['docs/reliability.md'],
    ['docs/performance.md'],
    ['docs/performance-method.md'],
  ],
  [
    'Build on it',
    ['docs/tour.md', 'A tour of the API'],
    ['docs/apps.md'],
    ['docs/daemons.md'],
    ['docs/protocol.md', 'The protocol'],
    ['docs/errors.md'],
    ['docs/states.md', 'States'],
    ['docs/rules.md'],
    ['packages/client/README.md', 'The client'],
    ['packages/daemon-kit/README.md', 'The daemon kit'],
    ['docs/field-daemons.md'],
    ['conformance/README.md', 'Conformance'],
    ['docs/interface-specification.md', 'The specification'],
  ],
  [
    'Change it',
    ['ARCHITECTURE.md'],
    ['CONTRIBUTING.md'],
    ['docs/glossary.md'],
    ['docs/internals.md'],
    ['CODE_OF_CONDUCT.md', 'Conduct'],
  ],
];

const markdownIn = (root, folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const readmesIn = (root, folder) =>
  readdirSync(join(root, folder))
    .map((name) => `${folder}/${name}/README.md`)
    .filter((file) => existsSync(join(root, file)));

/** Folded groups. Each lists all documents of a kind except the documents above. */
const rest = [
  ['More', (root) => markdownIn(root, 'docs').filter((file) => file !== 'docs/README.md')],
  ['Rooms', (root) => [...readmesIn(root, 'apps'), ...readmesIn(root, 'packages')]],
  ['Runbooks', (root) => markdownIn(root, 'docs/runbooks')],
  ['Decisions', (root) => markdownIn(root, 'docs/adr')],
];

/** Where a document is on the site. `docs/README.md` is the list of documents, and so the first page. */
export function addressOf(file) {
  if (file === 'docs/README.md') return 'index.html';
  // Beside docs/security.md.
  if (file === 'SECURITY.md') return 'report.html';
  if (/^[A-Z_]+\.md$/.test(file)) return `${file.slice(0, -3).toLowerCase().replaceAll('_', '-')}.html`;
  if (file === 'conformance/README.md') return 'conformance.html';
  return file
    .replace(/^docs\//, '')
    .replace(/^(packages|apps)\/([^/]+)\/README\.md$/, '$1/$2.html')
    .replace(/README\.md$/, 'index.html')
    .replace(/\.md$/, '.html');
}

const headingOf = (text) => /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? '';

/** Groups of pages: `{ file, address, name, text }`. `made`: texts of documents that no file has, by path. */
export function readContents(root, made) {
  const page = (file, name) => {
    const text = made[file] ?? readFileSync(join(root, file), 'utf8');
    return { file, address: addressOf(file), name: name ?? headingOf(text), text };
  };
  const chosen = groups.map(([title, ...files]) => ({ title, pages: files.map(([file, name]) => page(file, name)) }));
  const known = new Set(chosen.flatMap(({ pages }) => pages.map(({ file }) => file)));
  const others = rest.map(([title, filesIn]) => ({
    title,
    isFolded: true,
    pages: filesIn(root)
      .filter((file) => !known.has(file))
      .map((file) => page(file)),
  }));
  return [...chosen, ...others].filter(({ pages }) => pages.length > 0);
}
