/** Commands that a person runs on a machine. The relay serves the daemon of its own release (ADR 40), so no package of a registry is named. */

/** The path that the script of `install` uses. An open shell often lacks that folder in its PATH. */
const program = '~/.local/bin/relay-daemon';

export const daemonCommands = {
  register: (publicUrl: string): string => `${program} register --server ${publicUrl} --agent auto`,
  /** Passed in the environment: other people of that machine can list its processes. */
  registerWith: (publicUrl: string, key: string): string =>
    `RELAY_DAEMON_KEY=${key} ${daemonCommands.register(publicUrl)}`,
  start: `${program} up`,
};
