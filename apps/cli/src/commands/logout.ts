/** `relay logout`: revokes the sign-in at the relay and deletes it here. */
import { type Terminal, Failure, reasonOf } from '@relay/machine';
import { currentAddress } from '../address.ts';
import { exitCodes } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { uninterrupted } from '../interruption.ts';
import { homeOf } from '../home.ts';
import { changingProfiles, forgetProfile, profileOf } from '../profiles.ts';
import { revoke } from '../sign-in/renew.ts';
import { printer } from './context.ts';

interface LogoutOptions extends CommonOptions {
  force?: boolean;
}

export async function logoutCommand(options: LogoutOptions, terminal: Terminal): Promise<void> {
  const home = homeOf(terminal.env);
  const url = currentAddress(options, { ...terminal.env, RELAY_CLI_TOKEN: undefined }, home);
  let revoked = false;
  // Under the lock, so that no other process renews a sign-in during its revocation.
  const account = await changingProfiles(home, () =>
    uninterrupted(async () => {
      const profile = profileOf(home, url);
      if (!profile) throw new Failure('NOT_SIGNED_IN', `You are not signed in to ${url}.`, exitCodes.notSignedIn);
      try {
        if (profile.renewal) await revoke(profile, profile.renewal);
        revoked = profile.renewal !== undefined;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (!options.force) {
          const advice = 'To delete the sign-in here without revoking it at the relay, use --force.';
          throw new Failure(error.code, `${error.message} ${advice}`, error.exitCode, { cause: error });
        }
        terminal.err(`The sign-in was not revoked at the relay: ${reasonOf(error)}\n`);
      }
      forgetProfile(home, url);
      return profile.account;
    }),
  );
  printer(options, terminal).print(
    { relay: url, account, signedOut: true, revoked },
    () => `Signed out of ${url} (${account}).\n`,
  );
}
