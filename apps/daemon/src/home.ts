/**
 * Where the daemon keeps things. Configuration and credentials in one folder, state (history, journal, connection state) in
 * another, after XDG; `RELAY_DAEMON_HOME` or `--home` puts both in one place.
 */
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Failure, exitCodes, systemCode } from './failure.ts';

export interface Home {
  configDir: string;
  stateDir: string;
  configFile: string;
  credentialsFile: string;
  /** Last known state of the connection, for `status`. */
  stateFile: string;
}

export interface HomeChoice {
  /** `--home` */
  home?: string | undefined;
  env?: NodeJS.ProcessEnv;
}

export function homeOf({ home, env = process.env }: HomeChoice): Home {
  const chosen = home ?? env.RELAY_DAEMON_HOME;
  // An XDG variable that is set to a relative path is to be ignored (XDG base directory specification).
  const xdg = (name: string, fallback: string) => {
    const value = env[name];
    return join(value?.startsWith('/') ? value : join(env.HOME ?? homedir(), fallback), 'relay-daemon');
  };
  const configDir = chosen ? resolve(chosen) : xdg('XDG_CONFIG_HOME', '.config');
  const stateDir = chosen ? join(configDir, 'state') : xdg('XDG_STATE_HOME', join('.local', 'state'));
  return {
    configDir,
    stateDir,
    configFile: join(configDir, 'config.json'),
    credentialsFile: join(configDir, 'credentials.json'),
    stateFile: join(stateDir, 'connection.json'),
  };
}

/**
 * Makes sure that the folder exists, 0700 if it is new. A folder that others may write to is refused: they could swap the
 * credentials. An existing folder keeps its mode; it may be somebody's home.
 */
export function makePrivateFolder(folder: string): void {
  try {
    const created = mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (created !== undefined) chmodSync(folder, 0o700);
  } catch (error) {
    throw new Failure(
      'HOME_UNUSABLE',
      `Cannot create the folder ${folder} (${systemCode(error) ?? 'unknown error'}). Choose another one with --home.`,
      exitCodes.config,
      { cause: error },
    );
  }
  if (process.platform !== 'win32' && (statSync(folder).mode & 0o022) !== 0) {
    throw new Failure(
      'HOME_UNSAFE',
      `The folder ${folder} may be written to by other users. Run "chmod go-w ${folder}", or choose another one with --home.`,
      exitCodes.config,
    );
  }
}
