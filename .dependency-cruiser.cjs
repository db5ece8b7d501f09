// The import rules of ARCHITECTURE.md. `npm run boundaries` checks them on the built tree (package exports point to dist), and
// tests/boundaries.house.test.ts proves that each can fail.

const room = '^(packages|apps)/([^/]+)/';
const ofAnApp = '^apps/[^/]+/src/';
const top = '^apps/[^/]+/src/(main|program|administer|server|open|index)\\.ts$';
/** The entry points of requests and upgrades. */
const doors = [
  '^apps/[^/]+/src/routes/',
  '^apps/gateway/src/door/(upgrade|door)\\.ts$',
  '^apps/api/src/(attention|acp)/(upgrade|door|room)\\.ts$',
  '^apps/api/src/mcp/(door|tools)\\.ts$',
];
const npm = (...names) => `(^|/)node_modules/(${names.join('|')})/`;
const gateway = (...files) => `^apps/gateway/src/(${files.join('|')})(\\.ts$|/)`;
/** Each folder imports only itself and the folders before it, which excludes cycles. */
const gatewayFolders = ['connection', 'sessions', 'tasks', 'history', 'frames', 'door', 'fleet'];

// A relative path, not the name of a workspace, which also counts as local if the importing file is outside of the packages.
const byPath = { dependencyTypes: ['local'], dependencyTypesNot: ['aliased-workspace'] };

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    // Between rooms
    rule(
      'packages-import-no-package',
      'A package imports no other package of ours except protocol and machine. Only testing and the assembly of an instance import all packages.',
      {
        path: '^packages/([^/]+)/',
        pathNot: ['^packages/(testing|acp)/', '^packages/service/src/instance/', '^packages/[^/]+/test/'],
      },
      { path: '^(packages|apps)/', pathNot: ['^packages/$1/', '^packages/(protocol|machine)/'] },
    ),
    rule(
      'machine-is-of-one-person',
      'Files, locks and the terminal of one machine: only the programs that people run there, the kit for daemons and the embedded database use them.',
      { pathNot: ['^packages/(machine|daemon-kit|database)/', '^apps/(cli|daemon)/', '^tests/'] },
      { path: '^packages/machine/' },
    ),
    rule(
      'acp-is-a-client',
      'The door for ACP clients uses the relay only through the client of its public API.',
      { path: '^packages/acp/(src|test)/' },
      { path: '^(packages|apps)/', pathNot: '^packages/(acp|protocol|client)/' },
    ),
    rule(
      'instances-are-assembled-at-the-top',
      'The assembly of an instance imports most packages. Only the programs that start an instance, and the test relay, import it.',
      { pathNot: [top, '^packages/service/', '^packages/testing/', '^(tests|bench)/'] },
      { path: '^packages/service/(src|dist)/instance/' },
    ),
    rule(
      'the-life-of-a-process-knows-no-instance',
      'The assembly uses the code that starts and stops a process, never the reverse.',
      { path: '^packages/service/src/', pathNot: '^packages/service/src/instance/' },
      { path: '^packages/service/src/instance/' },
    ),
    rule(
      'package-tests-import-only-testing',
      'The tests of a package can also import the test package; the package itself cannot.',
      { path: '^packages/([^/]+)/test/', pathNot: '^packages/acp/' },
      { path: '^(packages|apps)/', pathNot: ['^packages/$1/', '^packages/(protocol|machine|testing)/'] },
    ),
    rule(
      'apps-import-no-app',
      'Apps import packages, never each other; standalone puts them together.',
      { path: '^apps/([^/]+)/src/', pathNot: '^apps/standalone/' },
      { path: '^apps/', pathNot: '^apps/$1/' },
    ),
    rule(
      'web-and-cli-import-only-the-client',
      'They run on other machines, so they import only the protocol, its client, the ACP agent that is built on the client, and the machine.',
      { path: '^apps/(web|cli)/src/' },
      { path: '^packages/', pathNot: '^packages/(protocol|client|acp|machine)/' },
    ),
    rule(
      'daemon-imports-only-its-kit',
      'It runs on other machines, so it imports only the protocol, the machine and the kit for daemons.',
      { path: '^apps/daemon/src/' },
      { path: '^packages/', pathNot: '^packages/(protocol|machine|daemon-kit)/' },
    ),
    rule(
      'conformance-imports-only-protocol',
      'It checks any relay from outside, so it imports only the protocol.',
      { path: '^conformance/' },
      { path: '^(packages|apps)/', pathNot: '^packages/protocol/' },
    ),
    rule(
      'testing-is-for-tests',
      'Production code does not import the test relay.',
      { path: ofAnApp },
      { path: '^packages/testing/' },
    ),
    rule(
      'src-imports-no-test',
      'Source never imports a test.',
      { path: '^(packages|apps)/[^/]+/src/' },
      { path: '(^|/)tests?/', pathNot: '(^|/)node_modules/' },
    ),
    rule(
      'only-through-doors',
      'Import a room by its package name, not by a path into it.',
      { path: room },
      { path: room, pathNot: '^$1/$2/', ...byPath },
    ),
    rule(
      'only-through-doors-from-outside',
      'Import a room by its package name, not by a path into it. The morning shares the agents and the model of `npm run test:agents`.',
      { pathNot: [room, '^tests/browser/morning[.]agents[.]ts$'] },
      { path: room, ...byPath },
    ),
    rule(
      'only-through-doors-by-name',
      'Import a package only through the entries in its `exports`.',
      {},
      { path: '^@relay/[^/]+/', couldNotResolve: true },
    ),
    rule(
      'resolvable',
      'The import does not resolve. The entries of our packages point to dist: run `npm run build` first.',
      {},
      { couldNotResolve: true, pathNot: '^@relay/[^/]+/' },
    ),
    rule(
      'no-cycles',
      'If two files need each other, move the shared code to a third file. Type-only imports count.',
      {},
      { circular: true },
    ),

    // Libraries that belong to one room
    rule(
      'ws-only-in-socket',
      'Server rooms use WebSockets through @relay/socket.',
      {
        pathNot: [
          '^packages/(socket|testing|daemon-kit|client)/',
          '^apps/daemon/',
          '^(conformance|tests|bench)/',
          '^packages/acp/conformance/',
          '^apps/[^/]+/test/',
        ],
      },
      { path: npm('ws', '@types/ws') },
    ),
    rule(
      'prisma-and-pg-only-in-database',
      'Access the database through @relay/database.',
      { pathNot: '^packages/database/' },
      { path: npm('@prisma/[^/]+', 'prisma', '@electric-sql/[^/]+', 'pg', 'pg-[^/]+', '@types/pg') },
    ),
    rule(
      'ioredis-only-in-backplane',
      'Instances communicate through @relay/backplane.',
      { pathNot: '^packages/backplane/' },
      { path: npm('ioredis') },
    ),
    rule(
      'rate-limiter-in-one-file',
      'Only http/shared-limiter.ts counts requests; the bench compares it with an alternative that uses the same package.',
      { pathNot: ['^apps/api/src/http/shared-limiter\\.ts$', '^bench/rivals/limited\\.mjs$'] },
      { path: npm('rate-limiter-flexible') },
    ),
    rule(
      'only-declared-packages',
      'List every import of source under `dependencies` of its own package.json.',
      { path: '^(packages|apps)/[^/]+/src/', pathNot: '^apps/web/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'pages-are-built-from-declared-packages',
      'List the imports of the pages under `devDependencies`: the build bundles them, and no server needs them.',
      { path: '^apps/web/src/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm'], dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'pages-take-types-of-protocol',
      "Import only `@relay/protocol/plain`, `/sentences` and types: the schemas and their validators would be most of a browser's download.",
      { path: '^apps/web/src/' },
      {
        path: '^packages/protocol/',
        pathNot: '^packages/protocol/(src|dist)/(plain|sentences)\\.',
        dependencyTypesNot: ['type-only'],
      },
    ),

    rule(
      'client-takes-plain-data-of-protocol',
      "Import only `@relay/protocol/plain` and types: the schemas and their validators would be most of a browser's download.",
      { path: '^packages/client/src/' },
      {
        path: '^packages/protocol/',
        pathNot: '^packages/protocol/(src|dist)/(plain|proxy)\\.',
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'client-has-node-behind-one-door',
      'Code for browsers imports nothing from Node.',
      { path: '^packages/client/src/', pathNot: '^packages/client/src/node(-socket)?\\.ts$' },
      {
        path: [
          '^(node:)?(https?|net|fs|crypto|stream|events)$',
          npm('ws', '@types/ws'),
          '/node-socket\\.ts$',
          '/protocol/(src|dist)/proxy\\.',
        ],
      },
    ),

    // Inside an app: main → server → routes and upgrades → operations → packages
    rule(
      'nobody-imports-main',
      'main.ts starts a process; only the program that npm links imports it.',
      { pathNot: '^apps/[^/]+/bin/' },
      { path: '^apps/[^/]+/(src|dist)/main\\.' },
    ),
    rule(
      'server-is-above',
      'Only main and the door import server, which gets its dependencies as parameters.',
      { path: ofAnApp, pathNot: top },
      { path: '^apps/[^/]+/src/(server|index)\\.ts$' },
    ),
    rule(
      'routes-are-above-operations',
      'Only server imports routes and upgrades: an operation does not know its caller.',
      { path: ofAnApp, pathNot: [top, ...doors] },
      { path: doors },
    ),
    rule(
      'operations-know-no-http',
      'An operation takes values and throws RelayError; requests and responses stay at the door.',
      {
        path: '^apps/api/src/[^/]+/',
        pathNot: [...doors, '^apps/api/src/(http|identity)/'],
      },
      { path: '^apps/api/src/http/' },
    ),
    ...gatewayFolders
      .slice(0, -1)
      .map((folder, at) =>
        rule(
          `gateway-${folder}-knows-no-folder-above`,
          'A folder of the gateway imports only the folders before it in the list of ARCHITECTURE.md.',
          { path: gateway(folder) },
          { path: gateway(...gatewayFolders.slice(at + 1)) },
        ),
      ),
    rule(
      'life-knows-no-meaning',
      "A daemon's connection knows nothing about tasks: it passes frames on and writes the frames that it gets.",
      { path: gateway('connection/connection') },
      { path: [gateway('connection/hub'), '^packages/(database|backplane)/'] },
    ),
    rule(
      'meaning-knows-no-socket',
      'Handlers of frames do not use the socket library.',
      { path: '^apps/gateway/src/', pathNot: [top, gateway('door', 'connection/connection')] },
      { path: '^packages/socket/' },
    ),
    rule(
      'shape-is-pure',
      'The shapes of frames are pure; from rooms with side effects they import only types.',
      { path: gateway('sessions/translate', 'sessions/pages', 'history/questions', 'history/replies') },
      { path: '^packages/', pathNot: '^packages/(protocol|attention)/', dependencyTypesNot: ['type-only'] },
    ),
  ],
  options: {
    // Types count as imports.
    tsPreCompilationDeps: true,
    doNotFollow: { path: '(^|/)(node_modules|dist|generated)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.js', '.cjs', '.json'],
    },
  },
};
