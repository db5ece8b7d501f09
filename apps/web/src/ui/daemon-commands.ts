/** Commands that a person runs on a machine. The relay serves the daemon of its own release (ADR 40), so no package of a registry is named. */

import type { Place } from '../place.ts';

/** The path that the script of `install` uses. An open shell often lacks that folder in its PATH. */
const program = '~/.local/bin/relay-daemon';

export const daemonCommands = {
  /** Where the relay signs its own certificate, the shell trusts it from here on, and so do the commands below. */
  install: ({ publicUrl, authority }: Pick<Place, 'publicUrl' | 'authority'>): string => {
    const fetched = `curl -fsSL ${publicUrl}/install.sh | sh`;
    if (!authority) return fetched;
    const file = '$HOME/relay-authority.crt';
    return [
      `curl -fsSo "${file}" ${authority.url}`,
      `echo "${authority.sha256}  ${file}" | $(command -v sha256sum || echo shasum -a 256) -c -`,
      `export CURL_CA_BUNDLE="${file}" NODE_EXTRA_CA_CERTS="${file}"`,
      fetched,
    ].join(' && ');
  },
  register: (publicUrl: string): string => `${program} register --server ${publicUrl} --agent auto`,
  /** In the environment: other people of that machine may list its processes. */
  registerWith: (publicUrl: string, key: string): string =>
    `RELAY_DAEMON_KEY=${key} ${daemonCommands.register(publicUrl)}`,
  start: `${program} up`,
};
