/** `relay whoami`: prints the relay, the account, and the scopes of this program. */
import type { Terminal } from '@relay/machine';
import { exitCodes } from '../failure.ts';
import { homeOf } from '../home.ts';
import { readProfiles } from '../profiles.ts';
import { listOf, shrinking, tableOf } from '../show/table.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf, printer } from './context.ts';

interface WhoamiOptions extends CommonOptions {
  all?: boolean;
}

export async function whoamiCommand(options: WhoamiOptions, terminal: Terminal): Promise<number> {
  if (options.all) return everywhere(options, terminal);
  const { relay, access, url, print } = contextOf(options, terminal);
  const me = await relay.call('me');
  const { expiresAt } = await access.token();
  const ends = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
  const { renewable } = access;
  print({ relay: url, ...me, expiresAt: ends, renewable }, () =>
    listOf([
      ['Relay', url],
      ['Account', [me.email, me.name].filter(Boolean).join(', ') || me.id],
      ['User id', me.id],
      ['Scopes', me.scopes.join(' ') || 'none'],
      [
        'Token',
        renewable
          ? 'renewed automatically'
          : `expires ${ends ? `at ${ends}` : 'when its issuer decides'}; cannot be renewed`,
      ],
    ]),
  );
  return exitCodes.ok;
}

/** Reads only the file: makes no requests. */
function everywhere(options: WhoamiOptions, terminal: Terminal): number {
  const profiles = readProfiles(homeOf(terminal.env)).reverse();
  const relays = profiles.map(({ url, account, renewal }, index) => ({
    relay: url,
    account,
    renewable: renewal !== undefined,
    default: index === 0,
  }));
  printer(options, terminal).print({ relays }, () =>
    relays.length === 0
      ? 'You are not signed in to any relay. Run "relay login --url <address>".\n'
      : tableOf(
          ['RELAY', shrinking('ACCOUNT'), ''],
          relays.map((entry) => [entry.relay, entry.account, entry.default ? 'default' : '']),
          terminal,
        ),
  );
  return relays.length === 0 ? exitCodes.notSignedIn : exitCodes.ok;
}
