/**
 * The folders of the daemon, per profile: each profile is its own device. The default profile has no name.
 *
 * Configuration and credentials in one folder, state (history, journal, connection state) in another, after XDG;
 * `RELAY_DAEMON_HOME` or `--home` puts both in one place.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exitCodes } from '@relay/daemon-kit';
import { Failure, xdgFolder } from '@relay/machine';

export interface Home {
  /** Empty for the profile without a name. */
  profile: string;
  /** The folders of all profiles. */
  roots: readonly string[];
  configDir: string;
  stateDir: string;
  configFile: string;
  credentialsFile: string;
  /** Last known state of the connection, for `status`. */
  stateFile: string;
}

interface HomeChoice {
  /** `--home` */
  home?: string | undefined;
  /** `--profile`; default the profile without a name. */
  profile?: string | undefined;
  env?: NodeJS.ProcessEnv;
}

const profilePattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function homeOf({ home, profile = '', env = process.env }: HomeChoice): Home {
  if (profile !== '' && !profilePattern.test(profile)) {
    throw new Failure(
      'BAD_OPTION',
      `--profile "${profile}" must be lower-case letters, digits, "_" or "-", at most 64.`,
      exitCodes.usage,
    );
  }
  const chosen = home ?? env.RELAY_DAEMON_HOME;
  const below = profile === '' ? [] : ['profiles', profile];
  const configRoot = chosen ? resolve(chosen) : join(xdgFolder(env, 'XDG_CONFIG_HOME'), 'relay-daemon');
  const configDir = join(configRoot, ...below);
  const stateRoot = chosen ? join(configRoot, 'state') : join(xdgFolder(env, 'XDG_STATE_HOME'), 'relay-daemon');
  const stateDir = join(stateRoot, ...below);
  return {
    profile,
    roots: [configRoot, stateRoot],
    configDir,
    stateDir,
    configFile: join(configDir, 'config.json'),
    credentialsFile: join(configDir, 'credentials.json'),
    stateFile: join(stateDir, 'connection.json'),
  };
}

/** Every profile that is registered in this home, the one without a name first. */
export function registeredHomes(choice: Omit<HomeChoice, 'profile'>): Home[] {
  const first = homeOf(choice);
  const folder = join(first.configDir, 'profiles');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => profilePattern.test(name)) : [];
  const homes = [first, ...names.sort().map((profile) => homeOf({ ...choice, profile }))];
  return homes.filter(({ configFile }) => existsSync(configFile));
}
