/**
 * Programs that some tests need and npm cannot install. A test is skipped if its program is missing, and its title
 * names the program:
 * the start of a run and its final table list all of them. With TEST_PROGRAMS=required a missing program fails the run
 * instead.
 */
import { spawnSync } from 'node:child_process';
import { hasPostgres } from './postgres.ts';
import { findProgram } from './programs.ts';

const onPath = (...names: string[]) =>
  names.some((name) => {
    try {
      return findProgram(name, name) !== '';
    } catch {
      return false;
    }
  });
const runs = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** Debian's packages belong to Debian's Python, which need not be the first one on the PATH. Undefined without one. */
export const pythonWithWebsockets = (): string | undefined =>
  ['python3', '/usr/bin/python3'].find((python) => runs(python, '-c', 'import websockets'));

/** Each need, named after the package to install, with its check. */
const needs = {
  postgresql: hasPostgres,
  'redis-server': () => onPath('redis-server') && onPath('redis-cli'),
  'redis-sentinel': () => onPath('redis-sentinel'),
  haproxy: () => onPath('haproxy'),
  caddy: () => onPath('caddy'),
  pgbouncer: () => onPath('pgbouncer'),
  prometheus: () => onPath('promtool'),
  openssl: () => onPath('openssl'),
  chromium: () => onPath('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'),
  'libnss3-tools': () => onPath('certutil'),
  'python3-websockets': () => pythonWithWebsockets() !== undefined,
  /** A container can forbid it to trace. */
  strace: () => runs('strace', '-o', '/dev/null', 'true'),
  systemd: () => runs('systemd-analyze', '--version'),
  /** No program: tests that fill a small disk must mount one. */
  root: () => runs('unshare', '--mount', 'true'),
  'docker-registry': () => onPath('docker-registry'),
  helm: () => runs(process.env.HELM ?? 'helm', 'version'),
  kubectl: () => runs(process.env.KUBECTL ?? 'kubectl', 'kustomize', '--help'),
} satisfies Record<string, () => boolean>;

export type Need = keyof typeof needs;

/** The one command that installs all of them on Debian 12 and newer. */
export const installCommand = 'sudo scripts/install-test-programs.sh';

const cache = new Map<Need, boolean>();

/** Whether a program is here. Looked up once per process. */
export function isMet(need: Need): boolean {
  let met = cache.get(need);
  if (met === undefined) cache.set(need, (met = needs[need]()));
  return met;
}

/** Every program of the table above, in its order. */
export const allPrograms = (Object.keys(needs) as Need[]).filter((need) => need !== 'root');

/** The programs of the table that are missing here. */
export const missingPrograms = (): Need[] => allPrograms.filter((need) => !isMet(need));

/** The programs that the title of a skipped test names. */
export const needsOf = (title: string): string[] =>
  [...title.matchAll(/\[needs ([^\]]+)\]/g)].flatMap(([, names]) => names!.split(', '));
