#!/usr/bin/env node
// Replaces the native `schema-engine` binary: the same arguments and the same JSON-RPC over stdin and stdout.
// Prisma starts it by path (PRISMA_SCHEMA_ENGINE_BINARY, see ../prisma.mjs), so it must stay executable.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { createEngine, engineCommit } from './engine.mjs';
import { pgFactory, pgliteFactory } from './factory.mjs';

const folder = process.env.PGLITE_DIR;
const given = readArguments(process.argv.slice(2));

if (given.version) {
  process.stdout.write(`schema-engine-wasm ${engineCommit()}\n`);
} else if (given.command[0] === 'cli') {
  process.exit(await runDatabaseCommand(given.command[1]));
} else {
  serve();
}

function readArguments(argv) {
  const found = { version: false, datasource: undefined, models: [], command: [] };
  for (let i = 0; i < argv.length; i += 1) {
    if (argv[i] === '--version' || argv[i] === '-V') found.version = true;
    else if (argv[i] === '--datasource') found.datasource = JSON.parse(argv[(i += 1)]);
    else if (argv[i] === '--datamodels') found.models.push(argv[(i += 1)]);
    else if (argv[i] === '--extension-types' || argv[i] === '--enabled-preview-features') i += 1;
    else found.command.push(argv[i]);
  }
  return found;
}

function log(level, fields, target) {
  process.stderr.write(`${JSON.stringify({ timestamp: new Date().toISOString(), level, fields, target })}\n`);
}

/** `cli can-connect-to-database` and `cli create-database`. Returns the exit code. */
async function runDatabaseCommand(command) {
  if (folder !== undefined) return 0;
  const address = new URL(given.datasource.url);
  address.searchParams.delete('schema');
  const name = decodeURIComponent(address.pathname.slice(1));
  if (command === 'create-database') address.pathname = '/postgres';
  const client = new pg.Client(address.toString());
  try {
    await client.connect();
    if (command === 'create-database') await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    return 0;
  } catch (error) {
    const code = { '3D000': 'P1003', '28P01': 'P1000' }[error.code] ?? 'P1001';
    log('ERROR', { message: error.message, error_code: code, is_panic: false }, 'schema_engine::logger');
    return 1;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Creates and locks the folder like the server: an embedded database has one user at a time. */
async function openEmbedded() {
  const built = (name) => import(new URL(`../../packages/database/dist/${name}.js`, import.meta.url));
  const [{ openFolder }, { startPGlite }] = await Promise.all([
    built('embedded-folder'),
    built('embedded-pglite'),
  ]).catch((cause) => {
    throw new Error('PGLITE_DIR needs the built packages: run `npm run build` first', { cause });
  });
  const { cluster, release } = await openFolder(folder);
  const db = await startPGlite({ cluster });
  return {
    db,
    close: async () => {
      await db.close();
      await release();
    },
  };
}

/** Answers requests, one after the other, until stdin closes. */
function serve() {
  log('INFO', { message: 'Starting schema engine CLI', git_hash: '' }, 'schema_engine');
  let close = async () => {};
  let engine;
  let queue = Promise.resolve();

  const open = async (live) => {
    const models = given.models.map((file) => [file, readFileSync(file, 'utf8')]);
    return createEngine(await openDatabase(live), models.length > 0 ? models : undefined);
  };
  const openDatabase = async (live) => {
    if (live && folder !== undefined) {
      const opened = await openEmbedded();
      close = opened.close;
      return pgliteFactory(opened.db);
    }
    if (live && given.datasource?.url) return pgFactory(given.datasource.url);
    const { PGlite } = await import('@electric-sql/pglite');
    const db = await PGlite.create();
    close = () => db.close();
    return pgliteFactory(db);
  };
  const answer = async ({ id, method, params }) => {
    if (method === 'createDatabase') return { databaseName: '' };
    engine ??= open(needsDatabase(method, params));
    const result = await (await engine)[method === 'getDatabaseVersion' ? 'version' : method](params);
    if (method !== 'diff' || !result.stdout) return result ?? {};
    // The binary sends a difference to its caller to print; the caller acknowledges it with a line that has a result.
    send({ id: 100_000 + id, method: 'print', params: { content: result.stdout } });
    return { ...result, stdout: null };
  };
  const handle = async (line) => {
    const request = JSON.parse(line);
    if (request.method === undefined) return;
    try {
      send({ id: request.id, result: await answer(request) });
    } catch (error) {
      const data = { is_panic: false, message: error.message, error_code: error.code, meta: error.meta };
      const message = 'An error happened. Check the data field for details.';
      send({ id: request.id, error: { code: 4466, message, data } });
    }
  };

  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    queue = queue.then(() => handle(line));
  });
  lines.on('close', () => {
    void queue.then(() => close()).then(() => process.exit(0));
  });
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

/** A comparison of files with files opens no real database. */
function needsDatabase(method, params) {
  if (method !== 'diff') return true;
  return [params.from, params.to].some(({ tag }) => tag === 'url' || tag === 'schemaDatasource');
}
