/** The folder of the program's files, after XDG; RELAY_CLI_CONFIG_DIR overrides it. */
import { join, resolve } from 'node:path';
import { makePrivateFolder, xdgFolder } from '@relay/machine';

export interface Home {
  folder: string;
  credentialsFile: string;
  lockFile: string;
}

export function homeOf(env: NodeJS.ProcessEnv): Home {
  const { RELAY_CLI_CONFIG_DIR: chosen } = env;
  const folder = chosen ? resolve(chosen) : join(xdgFolder(env, 'XDG_CONFIG_HOME'), 'relay');
  return {
    folder,
    credentialsFile: join(folder, 'credentials.json'),
    lockFile: join(folder, 'credentials.lock'),
  };
}

/** Creates the folder if it is absent. @throws Failure HOME_UNUSABLE, HOME_UNSAFE */
export const makeHome = ({ folder }: Home): void => makePrivateFolder(folder, 'RELAY_CLI_CONFIG_DIR');
