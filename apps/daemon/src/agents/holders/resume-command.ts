/** The command that continues a session in the agent itself, for a POSIX shell. */
import { homedir } from 'node:os';

/** Undefined for an agent whose command was not tried, and for a folder or id that cannot be shown in one line. */
export function commandFor(
  words: readonly string[] | undefined,
  sessionId: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (!words || /[\0-\x1f\x7f-\x9f]/.test(`${sessionId}${cwd}`)) return undefined;
  const command = words.map((word) => quoted(word.replace('{id}', sessionId))).join(' ');
  return cwd === '' ? command : `cd ${pathOf(cwd, env.HOME || homedir())} && ${command}`;
}

/** A path below the home begins with `~`, which a shell expands outside of quotes only. */
function pathOf(path: string, home: string): string {
  if (path === home) return '~';
  return path.startsWith(`${home}/`) ? `~/${quoted(path.slice(home.length + 1))}` : quoted(path);
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) && !word.startsWith('-')
    ? word
    : /^--?[\w-]+$/.test(word)
      ? word
      : `'${word.replaceAll("'", String.raw`'\''`)}'`;
