/** Commands that a person runs on a machine. The relay serves the daemon of its own release (ADR 40), so no package of a registry is named. */
import type { Place } from '../place.ts';

/** The path that the script of `install` uses. An open shell often lacks that folder in its PATH. */
const program = '~/.local/bin/relay-daemon';

/**
 * The line that installs the daemon and connects the machine. Where the relay signs its own certificate, the shell trusts it from then on. With a
 * registration key the machine needs no approval and starts as a service; the environment carries the key, because other people of that machine
 * can list its processes.
 */
function install({ publicUrl, authority }: Pick<Place, 'publicUrl' | 'authority'>, key?: string): string {
  const shell = key === undefined ? 'sh' : `RELAY_DAEMON_KEY=${key} sh -s -- --service`;
  const fetched = `curl -fsSL ${publicUrl}/install.sh | ${shell}`;
  if (!authority) return fetched;
  const file = '$HOME/relay-authority.crt';
  return [
    `curl -fsSo "${file}" ${authority.url}`,
    `echo "${authority.sha256}  ${file}" | $(command -v sha256sum || echo shasum -a 256) -c -`,
    `export CURL_CA_BUNDLE="${file}" NODE_EXTRA_CA_CERTS="${file}"`,
    fetched,
  ].join(' && ');
}

export const daemonCommands = {
  install,
  register: (publicUrl: string): string => `${program} register --server ${publicUrl} --agent auto`,
  start: `${program} up`,
};
