/** `relay-daemon unregister`: removes this device from the relay and deletes the registration. The history stays. */
import { existsSync, rmSync } from 'node:fs';
import { createApi, exitCodes } from '@relay/daemon-kit';
import { type Terminal, Failure, reasonOf } from '@relay/machine';
import { forgetConfig, requireConfig } from '../config.ts';
import { forgetCredentials, readCredentials } from '../credentials.ts';
import { homeOf } from '../home.ts';
import { forgetState } from '../state-file.ts';
import type { CommonOptions } from './place-options.ts';

interface UnregisterOptions extends CommonOptions {
  force?: boolean;
}

export async function unregisterCommand(options: UnregisterOptions, terminal: Terminal): Promise<number> {
  const home = homeOf({ home: options.home, profile: options.profile, env: terminal.env });
  const config = requireConfig(home);
  let removed = true;
  try {
    await createApi(config.server).deleteDevice(config.device_id, readCredentials(home));
  } catch (error) {
    if (!options.force) {
      if (!(error instanceof Failure) || error.code !== 'UNREACHABLE') throw error;
      const advice = 'To delete the registration without the relay, use --force.';
      throw new Failure(error.code, `${error.message} ${advice}`, error.exitCode, { cause: error });
    }
    removed = false;
    terminal.err(`The relay could not be reached: ${reasonOf(error)}\n`);
  }
  forgetConfig(home);
  forgetCredentials(home);
  forgetState(home);
  // Undelivered results of the deleted device.
  rmSync(`${home.stateDir}/tasks.jsonl`, { force: true });
  const history = existsSync(`${home.stateDir}/sessions`) ? `${home.stateDir}/sessions` : undefined;
  if (options.json) {
    terminal.out(`${JSON.stringify({ event: 'unregistered', device_id: config.device_id, removed, history })}\n`);
  } else {
    terminal.out(
      `Device ${config.device_id} is ${removed ? 'removed from' : 'deleted from this machine; it may still be listed at'} ${config.server}.\n`,
    );
    if (history) terminal.out(`The conversations stay in ${history}; delete that folder if you do not want them.\n`);
  }
  return exitCodes.ok;
}
