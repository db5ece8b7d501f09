/** Commands that a person runs on a machine. The relay serves the daemon of its own release (ADR 40), so no package of a registry is named. */
export const daemonCommands = {
  install: (publicUrl: string): string => `curl -fsSL ${publicUrl}/install.sh | sh`,
  register: (publicUrl: string): string => `relay-daemon register --server ${publicUrl} --agent auto`,
  /** In the environment: other people of that machine may list its processes. */
  registerWith: (publicUrl: string, key: string): string =>
    `RELAY_DAEMON_KEY=${key} ${daemonCommands.register(publicUrl)}`,
  start: 'relay-daemon up',
};
