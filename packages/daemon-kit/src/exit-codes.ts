/** Exit codes of `relay-daemon`, after sysexits.h where it has one. 78 means: starting again will not help. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  notRunning: 3,
  usage: 64,
  badScript: 65,
  unavailable: 69,
  alreadyRegistered: 73,
  alreadyRunning: 75,
  denied: 77,
  config: 78,
} as const;
