// The import rules of ARCHITECTURE.md. `npm run boundaries` checks them on the built tree (package exports point to dist), and
// tests/boundaries.house.test.ts proves that each can fail.

const room = '^(packages|apps)/([^/]+)/';
const ofAnApp = '^apps/[^/]+/src/';
const top = '^apps/[^/]+/src/(main|program|administer|server|open|index)\\.ts$';
/** The entry points of requests and upgrades. */
const doors = [
  '^apps/[^/]+/src/routes/',
  '^apps/[^/]+/src/(upgrade|door)\\.ts$',
  '^apps/api/src/(attention|acp)/(upgrade|door|room)\\.ts$',
  '^apps/api/src/mcp/(door|tools|budget|caller)\\.ts$',
];
const npm = (...names) => `(^|/)node_modules/(${names.join('|')})/`;
const gateway = (...files) => `^apps/gateway/src/(${files.join('|')})(\\.ts$|/)`;

// A relative path, not the name of a workspace, which also counts as local if the importing file is outside of the packages.
const byPath = { dependencyTypes: ['local'], dependencyTypesNot: ['aliased-workspace'] };

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    // Between rooms
    rule(
      'packages-import-no-package',
      'A package imports no other package of ours; protocol may be imported by all, testing and the assembly of an instance may import all.',
      {
        path: '^packages/([^/]+)/',
        pathNot: ['^packages/(testing|acp)/', '^packages/service/src/instance/', '^packages/[^/]+/test/'],
      },
      { path: '^(packages|apps)/', pathNot: ['^packages/$1/', '^packages/protocol/'] },
    ),
    rule(
      'acp-is-a-client',
      'The door for ACP clients speaks to the relay through the client of its public API, and knows nothing else of it.',
      { path: '^packages/acp/(src|test)/' },
      { path: '^(packages|apps)/', pathNot: '^packages/(acp|protocol|client)/' },
    ),
    rule(
      'instances-are-assembled-at-the-top',
      'The assembly of an instance imports most packages; only the programs that start one, and the test relay, import it.',
      { pathNot: [top, '^packages/service/', '^packages/testing/', '^(tests|bench)/'] },
      { path: '^packages/service/(src|dist)/instance/' },
    ),
    rule(
      'the-life-of-a-process-knows-no-instance',
      'What starts and ends a process is used by the assembly, never the other way round.',
      { path: '^packages/service/src/', pathNot: '^packages/service/src/instance/' },
      { path: '^packages/service/src/instance/' },
    ),
    rule(
      'package-tests-import-only-testing',
      'The tests of a package may use the test package besides; the package itself may not.',
      { path: '^packages/([^/]+)/test/', pathNot: '^packages/acp/' },
      { path: '^(packages|apps)/', pathNot: ['^packages/$1/', '^packages/(protocol|testing)/'] },
    ),
    rule(
      'apps-import-no-app',
      'Apps import packages, never each other; standalone puts them together.',
      { path: '^apps/([^/]+)/src/', pathNot: '^apps/standalone/' },
      { path: '^apps/', pathNot: '^apps/$1/' },
    ),
    rule(
      'web-and-cli-import-only-the-client',
      'They run on other machines: of our packages they know the protocol, its client, and the agent of ACP that is built on it.',
      { path: '^apps/(web|cli)/src/' },
      { path: '^packages/', pathNot: '^packages/(protocol|client|acp)/' },
    ),
    rule(
      'daemon-imports-only-its-kit',
      'It runs on other machines: of our packages it knows the protocol and the kit that any daemon can use.',
      { path: '^apps/daemon/src/' },
      { path: '^packages/', pathNot: '^packages/(protocol|daemon-kit)/' },
    ),
    rule(
      'conformance-imports-only-protocol',
      'It checks any relay from outside.',
      { path: '^conformance/' },
      { path: '^(packages|apps)/', pathNot: '^packages/protocol/' },
    ),
    rule(
      'testing-is-for-tests',
      'What runs in production does not import the test relay.',
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
      'A package has the doors that its `exports` name, and no other way in.',
      {},
      { path: '^@relay/[^/]+/', couldNotResolve: true },
    ),
    rule(
      'resolvable',
      'The import leads nowhere. A door of ours leads to dist: run `npm run build` first.',
      {},
      { couldNotResolve: true, pathNot: '^@relay/[^/]+/' },
    ),
    rule(
      'no-cycles',
      'If two files need each other, a third is missing. Type-only imports count.',
      {},
      { circular: true },
    ),

    // Libraries that belong to one room
    rule(
      'ws-only-in-socket',
      'Server rooms meet WebSockets through @relay/socket.',
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
      'The memory is reached through @relay/database.',
      { pathNot: '^packages/database/' },
      { path: npm('@prisma/[^/]+', 'prisma', '@electric-sql/[^/]+', 'pg', 'pg-[^/]+', '@types/pg') },
    ),
    rule(
      'ioredis-only-in-backplane',
      'Instances meet through @relay/backplane.',
      { pathNot: '^packages/backplane/' },
      { path: npm('ioredis') },
    ),
    rule(
      'rate-limiter-in-one-file',
      'Only http/shared-limiter.ts knows how requests are counted; the bench has a rival with the same package.',
      { pathNot: ['^apps/api/src/http/shared-limiter\\.ts$', '^bench/rivals/limited\\.mjs$'] },
      { path: npm('rate-limiter-flexible') },
    ),
    rule(
      'only-declared-packages',
      'Every import of source is listed under `dependencies` of its own package.json.',
      { path: '^(packages|apps)/[^/]+/src/', pathNot: '^apps/web/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'pages-are-built-from-declared-packages',
      'The imports of the pages are in their build, so they are listed under `devDependencies`: no server needs them.',
      { path: '^apps/web/src/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm'], dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'pages-take-types-of-protocol',
      'The schemas and their validators would be most of what a browser loads: `@relay/protocol/plain`, and types.',
      { path: '^apps/web/src/' },
      {
        path: '^packages/protocol/',
        pathNot: '^packages/protocol/(src|dist)/plain\\.',
        dependencyTypesNot: ['type-only'],
      },
    ),

    rule(
      'client-takes-plain-data-of-protocol',
      'The schemas and their validators would be most of what a browser loads: `@relay/protocol/plain`, and types.',
      { path: '^packages/client/src/' },
      {
        path: '^packages/protocol/',
        pathNot: '^packages/protocol/(src|dist)/(plain|proxy)\\.',
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'client-has-node-behind-one-door',
      'What browsers load has nothing of Node in it.',
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
      'main.ts starts a process; nothing can import that but the program that npm links.',
      { pathNot: '^apps/[^/]+/bin/' },
      { path: '^apps/[^/]+/(src|dist)/main\\.' },
    ),
    rule(
      'server-is-above',
      'Only main and the door import server; what it needs is passed in.',
      { path: ofAnApp, pathNot: top },
      { path: '^apps/[^/]+/src/(server|index)\\.ts$' },
    ),
    rule(
      'routes-are-above-operations',
      'Only server imports routes and upgrades: an operation does not know who asked.',
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
    rule(
      'life-knows-no-meaning',
      "A daemon's connection has never heard of tasks: it hands frames on and writes what it is given.",
      { path: '^apps/gateway/src/connection\\.ts$' },
      {
        path: [
          gateway('meaning', 'inbound', 'status', 'reports', 'activity', 'events', 'endings', 'speech', 'transcript'),
          gateway(
            'outbound',
            'translate',
            'history',
            'outcomes',
            'progress',
            'reconcile',
            'tasks-out',
            'watching',
            'hub',
          ),
          '^packages/(database|backplane)/',
        ],
      },
    ),
    rule(
      'meaning-knows-no-socket',
      'What a frame causes is decided without the socket library.',
      { path: '^apps/gateway/src/', pathNot: [top, gateway('door', 'connection', 'connections')] },
      { path: '^packages/socket/' },
    ),
    rule(
      'shape-is-pure',
      'translate turns values into values; from rooms that do things it takes types only.',
      { path: gateway('translate') },
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
