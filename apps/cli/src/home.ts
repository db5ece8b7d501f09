/** The folder of the program's files, after XDG; RELAY_CLI_CONFIG_DIR overrides it. */
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure, exitCodes, systemCode } from './failure.ts';

export interface Home {
  folder: string;
  credentialsFile: string;
  lockFile: string;
}

export function homeOf(env: NodeJS.ProcessEnv): Home {
  const { RELAY_CLI_CONFIG_DIR: chosen, XDG_CONFIG_HOME: xdg, HOME: home } = env;
  // A relative path in an XDG variable must be ignored (XDG base directory specification).
  const configs = xdg?.startsWith('/') ? xdg : join(home || homedir(), '.config');
  const folder = chosen ? resolve(chosen) : join(configs, 'relay');
  return {
    folder,
    credentialsFile: join(folder, 'credentials.json'),
    lockFile: join(folder, 'credentials.lock'),
  };
}

/** Creates the folder with mode 0700 if it is absent. Refuses a folder that others can write to: they could swap the credentials. */
export function makePrivateFolder(folder: string): void {
  try {
    const created = mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (created !== undefined) chmodSync(folder, 0o700);
  } catch (error) {
    throw new Failure(
      'HOME_UNUSABLE',
      `Cannot create the folder ${folder} (${systemCode(error) ?? 'unknown error'}). Choose another one with RELAY_CLI_CONFIG_DIR.`,
      exitCodes.failed,
      { cause: error },
    );
  }
  if (process.platform !== 'win32' && (statSync(folder).mode & 0o022) !== 0) {
    throw new Failure(
      'HOME_UNSAFE',
      `Other users can write to the folder ${folder}. Run "chmod go-w ${folder}", or choose another one with RELAY_CLI_CONFIG_DIR.`,
    );
  }
}
