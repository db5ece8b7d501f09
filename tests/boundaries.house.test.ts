/**
 * The rules of the house can fail: a small tree with one forbidden import per rule is cruised with the real configuration, and
 * each rule reports exactly the import that was made to break it.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

interface Violation {
  rule: { name: string };
  from: string;
  to: string;
}

const root = resolve(import.meta.dirname, '..');
const configuration = join(root, '.dependency-cruiser.cjs');
const rooms = [
  'packages/protocol',
  'packages/client',
  'packages/acp',
  'packages/socket',
  'packages/backplane',
  'packages/database',
  'packages/auth',
  'packages/daemon-kit',
  'packages/machine',
  'packages/service',
  'packages/testing',
  'apps/api',
  'apps/gateway',
  'apps/standalone',
  'apps/web',
  'apps/daemon',
  'apps/cli',
];
const workspaces = ['packages/*', 'apps/*', 'conformance'];
const libraries = [
  'ws',
  'pg',
  '@prisma/client',
  '@electric-sql/pglite',
  'ioredis',
  'rate-limiter-flexible',
  'left-pad',
];
/** The dependencies that the package.json files of the tree declare; `left-pad` is installed and declared nowhere. */
const declared = libraries.filter((name) => name !== 'left-pad');

const gatewayFolders = ['connection', 'sessions', 'tasks', 'history', 'frames', 'door', 'fleet'];

/** rule, file, its text. Each is the only file of the tree that the rule must report. */
const forbidden: [rule: string, file: string, text: string][] = [
  ['packages-import-no-package', 'packages/auth/src/a.ts', `import '@relay/database';`],
  ['packages-import-no-package', 'packages/auth/src/b.ts', `import type { X } from '@relay/api'; export type Y = X;`],
  ['instances-are-assembled-at-the-top', 'apps/api/src/routes/b.ts', `import '@relay/service/instance';`],
  ['machine-is-of-one-person', 'apps/web/src/machine.ts', `import '@relay/machine';`],
  ['the-life-of-a-process-knows-no-instance', 'packages/service/src/a.ts', `import './instance/index.ts';`],
  ['package-tests-import-only-testing', 'packages/auth/test/a.ts', `import '@relay/database';`],
  ['apps-import-no-app', 'apps/api/src/a.ts', `import '@relay/gateway';`],
  ['web-and-cli-import-only-the-client', 'apps/web/src/a.ts', `import '@relay/auth';`],
  ['web-and-cli-import-only-the-client', 'apps/cli/src/a.ts', `import '@relay/daemon-kit';`],
  ['daemon-imports-only-its-kit', 'apps/daemon/src/a.ts', `import '@relay/client';`],
  ['packages-import-no-package', 'packages/client/src/a.ts', `import '@relay/socket';`],
  ['acp-is-a-client', 'packages/acp/src/a.ts', `import '@relay/socket';`],
  ['conformance-imports-only-protocol', 'conformance/a.ts', `import '@relay/testing';`],
  ['testing-is-for-tests', 'apps/api/src/b.ts', `import '@relay/testing';`],
  ['src-imports-no-test', 'apps/api/src/c.ts', `import '../test/good.ts';`],
  ['only-through-doors', 'apps/api/src/d.ts', `import '../../../packages/protocol/src/inside.ts';`],
  ['only-through-doors', 'apps/api/test/d.ts', `import '../../gateway/dist/index.js';`],
  ['only-through-doors-from-outside', 'tests/a.ts', `import '../packages/protocol/src/inside.ts';`],
  ['only-through-doors-by-name', 'apps/api/src/e.ts', `import '@relay/protocol/src/inside.ts';`],
  ['only-through-doors-by-name', 'tests/b.ts', `import '@relay/protocol/dist/inside.js';`],
  ['resolvable', 'apps/api/src/f.ts', `import './nowhere.ts';`],
  ['no-cycles', 'packages/auth/src/c.ts', `import type { B } from './c2.ts'; export type A = B;`],
  ['ws-only-in-socket', 'apps/gateway/src/a.ts', `import type { WebSocket } from 'ws'; export type W = WebSocket;`],
  ['prisma-and-pg-only-in-database', 'apps/api/src/g.ts', `import 'pg';`],
  ['prisma-and-pg-only-in-database', 'apps/api/src/h.ts', `import '@prisma/client';`],
  ['prisma-and-pg-only-in-database', 'apps/standalone/src/a.ts', `import '@electric-sql/pglite';`],
  ['ioredis-only-in-backplane', 'apps/api/src/i.ts', `import 'ioredis';`],
  ['rate-limiter-in-one-file', 'apps/api/src/http/other.ts', `import 'rate-limiter-flexible';`],
  ['only-declared-packages', 'packages/auth/src/d.ts', `import 'left-pad';`],
  ['pages-are-built-from-declared-packages', 'apps/web/src/b.ts', `import 'left-pad';`],
  ['pages-take-types-of-protocol', 'apps/web/src/c.ts', `import '@relay/protocol';`],
  ['client-takes-plain-data-of-protocol', 'packages/client/src/b.ts', `import '@relay/protocol';`],
  ['client-has-node-behind-one-door', 'packages/client/src/c.ts', `import 'node:http';`],
  ['client-has-node-behind-one-door', 'packages/client/src/d.ts', `import 'ws';`],
  ['client-has-node-behind-one-door', 'packages/client/src/e.ts', `import './node-socket.ts';`],
  ['nobody-imports-main', 'apps/api/src/j.ts', `import './main.ts';`],
  ['server-is-above', 'apps/api/src/routes/a.ts', `import '../server.ts';`],
  ['server-is-above', 'apps/gateway/src/b.ts', `import './index.ts';`],
  ['routes-are-above-operations', 'apps/api/src/sessions/a.ts', `import '../routes/good.ts';`],
  ['routes-are-above-operations', 'apps/gateway/src/fleet/b.ts', `import '../door/upgrade.ts';`],
  ['routes-are-above-operations', 'apps/api/src/attention/hub.ts', `import './door.ts';`],
  ['operations-know-no-http', 'apps/api/src/sessions/b.ts', `import '../http/rate-limit.ts';`],
  [
    'life-knows-no-meaning',
    'apps/gateway/src/connection/connection.ts',
    `import './hub.ts'; import '@relay/database';`,
  ],
  ['meaning-knows-no-socket', 'apps/gateway/src/fleet/outbound.ts', `import '@relay/socket';`],
  ['shape-is-pure', 'apps/gateway/src/sessions/translate.ts', `import '@relay/backplane';`],
  ...gatewayFolders
    .slice(0, -1)
    .map((folder, at): [string, string, string] => [
      `gateway-${folder}-knows-no-folder-above`,
      `apps/gateway/src/${folder}/above.ts`,
      `import '../${gatewayFolders[at + 1]}/good.ts';`,
    ]),
];

/** The other half of the cycle, which is reported once. */
const accomplice = ['packages/auth/src/c2.ts', `import type { A } from './c.ts'; export type B = A | 1;`] as const;

/** Imports that the architecture allows, next to forbidden ones: no rule can report these. */
const allowed: Record<string, string> = {
  'packages/protocol/src/inside.ts': 'export const inside = 1;',
  'packages/client/src/node.ts': `import './node-socket.ts'; import type { X } from '@relay/protocol'; export type Y = X;`,
  'packages/client/src/node-socket.ts': `import 'ws'; import 'node:http';`,
  'packages/client/src/frames.ts': `import '@relay/protocol/plain';`,
  'packages/acp/src/index.ts': `import '@relay/client'; import '@relay/protocol';`,
  'packages/machine/src/index.ts': `import '@relay/protocol'; import 'node:fs';`,
  'packages/socket/src/index.ts': `import 'ws';`,
  'packages/backplane/src/index.ts': `import 'ioredis'; import '@relay/protocol';`,
  'packages/database/src/index.ts': `import 'pg'; import '@prisma/client'; import '@electric-sql/pglite';`,
  'packages/database/test/good.ts': `import '@relay/testing'; import '../src/index.ts';`,
  'packages/service/src/index.ts': `import './run.ts';`,
  'packages/service/src/run.ts': 'export const run = 1;',
  'packages/service/src/instance/index.ts': `import '@relay/database'; import '@relay/backplane'; import '../run.ts';`,
  'packages/testing/src/index.ts': `import '@relay/api'; import '@relay/service/instance'; import 'ws';`,
  'apps/api/src/main.ts': `import './server.ts'; import '@relay/service/instance';`,
  'apps/api/src/server.ts': `import './routes/good.ts'; import './attention/door.ts';`,
  'apps/api/src/index.ts': `import './server.ts';`,
  'apps/api/src/attention/door.ts': `import './upgrade.ts'; import '../http/rate-limit.ts';`,
  'apps/api/src/attention/upgrade.ts': `import '../http/rate-limit.ts'; import '@relay/socket';`,
  'apps/api/src/routes/good.ts': `import '../sessions/good.ts'; import '../http/rate-limit.ts';`,
  'apps/api/src/sessions/good.ts': `import '@relay/database'; import '@relay/protocol';`,
  'apps/api/src/http/rate-limit.ts': `import './shared-limiter.ts';`,
  'apps/api/src/http/shared-limiter.ts': `import 'rate-limiter-flexible';`,
  'apps/api/test/good.ts': `import '../src/sessions/good.ts'; import '@relay/testing'; import 'ws';`,
  'apps/gateway/src/index.ts': `import './server.ts';`,
  'apps/gateway/src/server.ts': `import './door/upgrade.ts'; import './fleet/good.ts';`,
  'apps/gateway/src/door/upgrade.ts': `import '@relay/auth';`,
  ...Object.fromEntries(
    gatewayFolders.map((folder, at) => [
      `apps/gateway/src/${folder}/good.ts`,
      at === 0 ? 'export {};' : `import '../${gatewayFolders[at - 1]}/good.ts';`,
    ]),
  ),
  'apps/standalone/src/main.ts': `import '@relay/api'; import '@relay/gateway'; import '@relay/database';`,
  'apps/web/src/main.ts': `import type { X } from '@relay/protocol'; import '@relay/client'; export type Y = X;`,
  'apps/daemon/src/main.ts': `import '@relay/protocol'; import '@relay/daemon-kit'; import '@relay/machine';`,
  'apps/cli/src/main.ts': `import '@relay/protocol'; import '@relay/client'; import '@relay/machine';`,
  'tests/good.ts': `import '@relay/testing'; import '@relay/database'; import 'ws';`,
  'bench/good.mjs': `import '@relay/protocol'; import 'ws';`,
  'conformance/good.ts': `import '@relay/protocol'; import 'ws';`,
};

const nameOf = (room: string) => `@relay/${room.slice(room.indexOf('/') + 1)}`;

describe('the rules of the house', () => {
  let tree: string;
  let violations: Violation[];

  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(tree, file)), { recursive: true });
    await writeFile(join(tree, file), text);
  };

  const buildTree = async () => {
    const dependencies = Object.fromEntries([...rooms.map(nameOf), ...declared].map((name) => [name, '1.0.0']));
    await write('package.json', JSON.stringify({ name: 'tree', type: 'module', workspaces }));
    for (const room of rooms) {
      const door: Record<string, object> = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } };
      if (room === 'packages/service') door['./instance'] = { default: './dist/instance/index.js' };
      if (room === 'packages/protocol') door['./plain'] = { default: './dist/plain.js' };
      await write(
        `${room}/package.json`,
        JSON.stringify({ name: nameOf(room), type: 'module', exports: door, dependencies }),
      );
      await write(`${room}/dist/index.js`, 'export {};');
      await write(`${room}/dist/index.d.ts`, 'export {};');
      if (room === 'packages/service') await write(`${room}/dist/instance/index.js`, 'export {};');
      await mkdir(join(tree, 'node_modules/@relay'), { recursive: true });
      await symlink(join(tree, room), join(tree, 'node_modules', nameOf(room)));
    }
    await write('packages/protocol/dist/plain.js', 'export {};');
    await write('conformance/package.json', JSON.stringify({ name: 'conformance', type: 'module', dependencies }));
    for (const name of libraries) {
      await write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
      await write(`node_modules/${name}/index.js`, '');
    }
    for (const [file, text] of Object.entries(allowed)) await write(file, text);
    for (const [, file, text] of forbidden) await write(file, text);
    await write(...accomplice);
  };

  const cruise = () =>
    new Promise<Violation[]>((done, fail) => {
      const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
      const folders = ['packages', 'apps', 'conformance', 'tests', 'bench'];
      execFile(
        process.execPath,
        [program, '--config', configuration, '--output-type', 'json', ...folders],
        { cwd: tree, maxBuffer: 64 * 1024 * 1024 },
        // Exits with the number of violations; only output other than JSON is a failure of the tool.
        (_exit, stdout, stderr) => {
          try {
            done((JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations);
          } catch (cause) {
            fail(new Error(`dependency-cruiser gave no result: ${stderr}`, { cause }));
          }
        },
      );
    });

  beforeAll(async () => {
    tree = await mkdtemp(join(tmpdir(), 'boundaries-'));
    await buildTree();
    violations = await cruise();
  }, 60_000);

  afterAll(() => rm(tree, { recursive: true, force: true }));

  it('every rule reports the file that breaks it', () => {
    const silent = forbidden.flatMap(([rule, file]) => {
      const reported = violations.filter(({ from }) => from === file).map(({ rule: { name } }) => name);
      return reported.includes(rule) ? [] : [`${rule} does not report ${file}, only: ${reported.join(', ')}`];
    });
    expect(silent).toEqual([]);
  });

  it('no rule reports an import that the architecture allows', () => {
    const wrong = violations.filter(({ from }) => from in allowed);
    expect(wrong.map(({ rule: { name }, from, to }) => `${name}: ${from} → ${to}`)).toEqual([]);
  });

  it('every rule is proven by a file that breaks it', () => {
    const { forbidden: rules } = createRequire(import.meta.url)(configuration) as { forbidden: { name: string }[] };
    expect([...new Set(forbidden.map(([rule]) => rule))].sort()).toEqual(rules.map(({ name }) => name).sort());
  });
});
