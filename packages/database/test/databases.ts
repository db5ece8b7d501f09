/** The databases that the tests of this package open: a folder of their own, a second process, and both kinds of database alike. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import {
  type TestPostgres,
  createTestDatabase,
  lendDatabases,
  startPostgres,
  templateFile,
  wantsPostgres,
} from '@relay/testing/database';
import { type Database, type OpenDatabaseOptions, openDatabase } from '../src/open.ts';

/** Returns a migrated database of one kind without rows. The test closes it; without options, an embedded one is lent. */
export type Open = (options?: OpenDatabaseOptions) => Promise<Database>;

const openEmbedded = async (options: OpenDatabaseOptions = {}) =>
  openDatabase({ ...options, template: await template() });
/** An embedded database without rows, which `close` gives back. */
export const lendEmbedded = lendDatabases(() => openEmbedded());

/** The same tests on both kinds: embedded in the tier `unit`, on PostgreSQL in the tier `postgres` (scripts/tiers.mjs). */
export function onBoth(name: string, body: (open: Open, kind: Database['kind']) => void): void {
  describe(name, () => {
    if (wantsPostgres())
      body(async (options) => openDatabase({ ...options, url: await createTestDatabase() }), 'postgres');
    else body(async (options) => (options ? openEmbedded(options) : lendEmbedded()), 'embedded');
  });
}

/** Tests on a real PostgreSQL of their own; skipped, and listed at the bottom of the run, if it is not installed. */
export function onPostgres(name: string, body: (postgres: () => TestPostgres) => void): void {
  describeWith('postgresql', `${name}, on PostgreSQL`, () => {
    let postgres: TestPostgres;
    beforeAll(async () => {
      postgres = await startPostgres();
    }, 60_000);
    afterAll(() => postgres.stop());
    body(() => postgres);
  });
}

export async function template(): Promise<Uint8Array> {
  return new Uint8Array(readFileSync(await templateFile()));
}

/** Folders that are gone after the tests of the file. */
export function temporaryFolders(): () => string {
  const made: string[] = [];
  afterAll(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
  return () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'relay-database-test-'));
    made.push(folder);
    return folder;
  };
}

export interface Program {
  readonly process: ChildProcess;
  /** The next line of output; undefined after the exit. */
  line(): Promise<string | undefined>;
  /** Kills it like a crash, and waits for its exit. */
  crash(): Promise<void>;
}

/** Runs test/programs/<name>.mjs, which uses the built package, in a process of its own. */
export function runProgram(name: string, ...args: string[]): Program {
  const file = fileURLToPath(new URL(`./programs/${name}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    line: async () => {
      const next = await lines.next();
      return next.done ? undefined : next.value;
    },
    crash: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

export const device = (id: string) => ({
  id,
  ownerId: 'user-1',
  name: 'laptop',
  hostname: 'laptop.local',
  agentType: 'claude',
  tokenHash: `hash-${id}`,
});
