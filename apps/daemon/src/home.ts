/**
 * Where the daemon keeps things. Configuration and credentials in one folder, state (history, journal, connection state) in
 * another, after XDG; `RELAY_DAEMON_HOME` or `--home` puts both in one place.
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

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
