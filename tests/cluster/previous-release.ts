/**
 * Builds the previous release in another folder, for tests of a rollout. Git determines that release; the build uses
 * the dependencies that are installed here. Knows nothing of clusters.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
/** The code that instances of two releases share: their messages to each other, and their data. */
const shared = ['packages/backplane', 'packages/protocol', 'packages/database', 'prisma'];
const programs = ['@relay/api', '@relay/gateway', '@relay/standalone', '@relay/conformance'];
const gitLimit = { cwd: root, maxBuffer: 256 * 1024 * 1024 };

export interface Release {
  /** A built copy of the repository. */
  readonly folder: string;
  readonly commit: string;
  /** Names of its migrations. */
  readonly migrations: readonly string[];
  remove(): Promise<void>;
}

const needs =
  'The release before this one is taken from git. Needed: a clone with its history (git fetch --unshallow), ' +
  'or RELAY_PREVIOUS, naming a commit or a tag that this clone has.';

async function git(...args: string[]): Promise<string> {
  try {
    return (await run('git', args, gitLimit)).stdout.trim();
  } catch (error) {
    throw new Error(`${needs} (git ${args.join(' ')} failed)`, { cause: error });
  }
}

/**
 * `RELAY_PREVIOUS`; or the newest tag `v…` before this commit; or, before the first release, the commit before the newest
 * change of any of these paths (by default the shared code).
 * @throws Error with the missing prerequisite
 */
export async function previousCommit(paths: readonly string[] = shared): Promise<string> {
  const named = process.env.RELAY_PREVIOUS;
  if (named) return git('rev-parse', '--verify', '--end-of-options', `${named}^{commit}`);
  const tags = await git('tag', '--list', 'v*', '--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-creatordate');
  const [tag] = tags.split('\n');
  if (tag) return git('rev-parse', '--verify', '--end-of-options', `${tag}^{commit}`);
  const newest = await git('log', '-1', '--format=%H', '--', ...paths);
  if (newest === '') throw new Error(needs);
  return git('rev-parse', '--verify', '--end-of-options', `${newest}~1`);
}

/** Whether an older release works with these migrations of this one: each names the oldest such release. */
export async function runsWith(older: Release, added: readonly string[]): Promise<boolean> {
  const { version } = JSON.parse(await readFile(join(older.folder, 'package.json'), 'utf8')) as { version: string };
  const floors = await Promise.all(
    added.map(async (name) => {
      const text = await readFile(join(root, 'prisma/migrations', name, 'migration.sql'), 'utf8');
      return /^--\s*compatible-with:\s*(\S+)\s*$/m.exec(text)?.[1];
    }),
  );
  return floors.every((floor) => floor !== undefined && floor.localeCompare(version, 'en', { numeric: true }) <= 0);
}

/** Names of the migrations in a copy of the repository. */
export async function migrationsOf(folder: string): Promise<string[]> {
  const entries = await readdir(join(folder, 'prisma/migrations'), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

interface Workspace {
  folder: string;
  name: string;
  needs: string[];
  scripts: Record<string, string>;
}

async function workspacesOf(folder: string): Promise<Map<string, Workspace>> {
  const found = new Map<string, Workspace>();
  const within = async (group: string) => (await readdir(join(folder, group))).map((name) => join(folder, group, name));
  for (const place of [...(await within('packages')), ...(await within('apps')), join(folder, 'conformance')]) {
    const text = await readFile(join(place, 'package.json'), 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const json = JSON.parse(text) as { name: string; dependencies?: object; scripts?: Record<string, string> };
    found.set(json.name, {
      folder: place,
      name: json.name,
      needs: Object.keys(json.dependencies ?? {}),
      scripts: json.scripts ?? {},
    });
  }
  return found;
}

/** Links the dependencies that are installed here, but the packages of the release itself. */
async function linkDependencies(folder: string, workspaces: ReadonlyMap<string, Workspace>): Promise<void> {
  const link = async (from: string, to: string) => {
    await mkdir(to, { recursive: true });
    for (const name of await readdir(from).catch(() => []))
      if (name !== '@relay' && name !== '.cache') await symlink(join(from, name), join(to, name));
  };
  await link(join(root, 'node_modules'), join(folder, 'node_modules'));
  await mkdir(join(folder, 'node_modules/@relay'));
  for (const { name, folder: workspace } of workspaces.values()) {
    await symlink(workspace, join(folder, 'node_modules', name));
    const here = join(root, workspace.slice(folder.length), 'node_modules');
    if ((await readdir(here).catch(() => [])).length > 0) await link(here, join(workspace, 'node_modules'));
  }
}

/** The programs and their packages, each after its dependencies. */
function inOrder(workspaces: ReadonlyMap<string, Workspace>): Workspace[] {
  const ordered = new Set<Workspace>();
  const visit = (name: string) => {
    const workspace = workspaces.get(name);
    if (!workspace || ordered.has(workspace)) return;
    for (const need of workspace.needs) visit(need);
    ordered.add(workspace);
  };
  for (const program of programs) visit(program);
  return [...ordered];
}

/**
 * Extracts the programs and the conformance suite of a commit from git and builds them, in about a minute. @throws
 * Error with the output of the compiler
 */
export async function buildRelease(commit: string): Promise<Release> {
  const folder = await mkdtemp(join(tmpdir(), 'relay-release-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, 'release.tar');
    await git('archive', `--output=${archive}`, commit);
    await run('tar', ['-xf', archive, '-C', folder]);
    await rm(archive);
    const workspaces = await workspacesOf(folder);
    await linkDependencies(folder, workspaces);
    for (const { folder: cwd, name, scripts } of inOrder(workspaces))
      for (const script of ['generate', 'build'].filter((candidate) => candidate in scripts))
        await run('npm', ['run', '--silent', script], { cwd }).catch((error: { stdout: string; stderr: string }) => {
          const text = `${name} of ${commit} cannot be built with the dependencies that are installed here`;
          throw new Error(`${text}:\n${error.stdout}${error.stderr}`);
        });
    // The release uses the built pages and documents of this one.
    for (const app of ['web', 'docs']) {
      await mkdir(join(folder, 'apps', app), { recursive: true });
      await symlink(join(root, 'apps', app, 'dist'), join(folder, 'apps', app, 'dist'));
    }
    await writeFile(join(folder, 'COMMIT'), `${commit}\n`);
    return { folder, commit, migrations: await migrationsOf(folder), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
