/**
 * `relay-admin`: accounts and backups, from the machine that runs the relay. A relay that runs on the data folder does
 * the work itself; otherwise this program opens the same database: the embedded one, or PostgreSQL (with REDIS_URL, so
 * that every instance is notified).
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { peopleOf } from '@relay/api';
import { type RelayConfig, readConfig } from '@relay/config';
import { createMemoryBus, createRedisBackplane } from '@relay/backplane';
import { openDatabase } from '@relay/database';
import { isForPeople, openInstance, versionOf } from '@relay/service/instance';
import {
  type AdminRequest,
  type DiagnosticDeps,
  Refused,
  diagnosticOf,
  readArguments,
  runCommand,
  usage,
} from './admin-commands.ts';
import { type CommandOutcome, askRelay } from './admin-socket.ts';
import { withSecret } from './secret.ts';

/** The configuration of the relay beside it. Quiet: only errors are logged, and nothing listens. */
function configuration(): RelayConfig {
  const role = process.env.REDIS_URL === undefined ? 'standalone' : 'api';
  const config = readConfig(role, { LOG_LEVEL: 'error', ...process.env });
  if (config.databaseUrl === undefined && !existsSync(config.dataDir))
    throw new Refused(
      `${config.dataDir} does not exist. Set DATA_DIR to the data folder of the relay, with the same value as the relay.`,
    );
  return config;
}

async function outcomeOf(request: AdminRequest, version: string): Promise<CommandOutcome> {
  const config = configuration();
  if (config.databaseUrl === undefined) {
    const reply = await askRelay(config.dataDir, request);
    if (reply && 'refused' in reply) throw new Refused(reply.refused, { cause: reply.code });
    if (reply) return reply;
  }
  const diagnostic = diagnosticOf(request);
  if (diagnostic) return diagnose(config, version, diagnostic);
  const instance = await openInstance(config.role, withSecret(config), { version, processMetrics: false });
  try {
    const deps = instance.deps('api');
    return await runCommand({ ...deps, people: peopleOf(deps) }, request);
  } finally {
    await instance.close();
  }
}

/** How long to wait for Redis: a person waits. */
const redisPatienceMs = 4_000;

const errorOf = (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason)));

/** Opens the database and the backplane, each if it is available. */
async function diagnose(
  config: RelayConfig,
  version: string,
  diagnostic: (deps: DiagnosticDeps) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const [database, backplane] = await Promise.all([
    openDatabase({ url: config.databaseUrl, prepare: config.databasePrepare, dataDir: config.dataDir }).catch(errorOf),
    config.redisUrl === undefined
      ? createMemoryBus().connect('admin')
      : createRedisBackplane({ url: config.redisUrl, name: 'admin', startTimeoutMs: redisPatienceMs }).catch(errorOf),
  ]);
  try {
    return await diagnostic({ config, version, database, backplane });
  } finally {
    for (const part of [backplane, database]) if (!(part instanceof Error)) await part.close();
  }
}

async function main(args: string[]): Promise<void> {
  const version = versionOf(import.meta.url);
  const request = readArguments(args);
  if (request === 'version') return void process.stdout.write(`${version}\n`);
  if (request === 'help') return void process.stdout.write(usage);
  // The relay might have been started in another folder.
  const absolute = request.command === 'backup' ? { ...request, word: resolve(request.word) } : request;
  const { lines, code = 0 } = await outcomeOf(absolute, version);
  for (const line of lines) process.stdout.write(`${line}\n`);
  process.exitCode = code;
}

/** Carries out the command of the process' arguments and sets its exit code. Rejects for a defect of this program. */
export async function administer(): Promise<void> {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Refused) && !isForPeople(error)) throw error;
    process.stderr.write(`relay-admin: ${(error as Error).message}\n`);
    process.exitCode = error instanceof Refused && error.cause !== 1 ? 2 : 1;
  }
}
