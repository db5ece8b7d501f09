/** Locates programs on this machine, and the package and version they belong to. Runs nothing. */
import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, extname, isAbsolute, join, resolve } from 'node:path';

/** Returns the whole path of a program as a shell would find it; undefined if it is not found. */
export function findProgram(
  name: string,
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (name === '') return undefined;
  const suffixes = platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';') : [''];
  // npm writes `name` for other systems beside `name.cmd`; Windows cannot start it.
  if (platform === 'win32' && extname(name) !== '') suffixes.unshift('');
  const folders = name.includes('/') || isAbsolute(name) ? [''] : (env.PATH ?? '').split(delimiter).filter(Boolean);
  for (const folder of folders) {
    for (const suffix of suffixes) {
      const path = resolve(join(folder, `${name}${suffix}`));
      if (isProgram(path)) return path;
    }
  }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The version of the npm package that a program belongs to; undefined when it belongs to no package, or to another one. */
export function packageVersion(program: string, packageName: string): string | undefined {
  let folder: string;
  try {
    folder = dirname(realpathSync(program));
  } catch {
    return undefined;
  }
  for (;;) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
      if (manifest.name === packageName) return typeof manifest.version === 'string' ? manifest.version : undefined;
    } catch {
      // No package here: look further up.
    }
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
}

/**
 * Returns the real command of a program. On Windows npm installs `.cmd` files, which Node.js refuses to start without a
 * shell; they start a script for Node.js, named relative to `%dp0%`.
 */
export function startable(
  program: string,
  platform: NodeJS.Platform = process.platform,
): { program: string; args: string[] } {
  if (platform !== 'win32' || !/\.(cmd|bat)$/i.test(program)) return { program, args: [] };
  const script = scriptOfShim(readFileSync(program, 'utf8'));
  if (script === undefined) return { program, args: [] };
  return { program: process.execPath, args: [join(dirname(program), script)] };
}

export function scriptOfShim(text: string): string | undefined {
  return /"%(?:~?dp0|dp0)%?\\([^"]+\.(?:js|mjs|cjs))"/i.exec(text)?.[1]?.replaceAll('\\', '/');
}

/** Splits a command as a person types it: at blanks, outside quotes. No shell is involved. */
export function commandWords(text: string): string[] {
  const words: string[] = [];
  for (const [, double, single, plain] of text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g)) {
    words.push(double?.replace(/\\(.)/g, '$1') ?? single ?? plain ?? '');
  }
  return words;
}
