/**
 * How long things take, in milliseconds or seconds. They depend on each other and on deployed daemons, so people cannot set
 * them. Tests shorten them: by an argument, or in a process by `TEST_` and the name in capitals (`TEST_LEASE_TTL_MS`).
 */
export const timings = {
  /** The relay closes a socket that sent no byte for this long. */
  silenceTimeoutMs: 75_000,
  /** The relay reports a device as offline when it has been disconnected for this long. */
  offlineGraceMs: 10_000,
  /** How long queued tasks wait for the first `status` of a newly connected daemon. */
  statusWaitMs: 2_000,
  /** A running task is lost when every `status` omits it for this long. */
  statusLostMs: 5_000,
  /** The relay notifies the person of a watched session when a program has waited for this long. */
  deskWaitMs: 20_000,
  /** A running task that no frame mentions for this long is lost if the daemon does not list it, or if its session is unnamed. */
  taskSilenceMs: 900_000,
  /** A running task is lost when its device has been offline for this long. */
  deviceGoneMs: 86_400_000,
  /** How often the relay looks for overdue tasks, codes and leases. */
  sweepIntervalMs: 30_000,
  /** How long an instance owns a device without renewing its lease. */
  leaseTtlMs: 60_000,
  /** How often an instance renews its leases; at most half of `leaseTtlMs`. */
  leaseRefreshMs: 20_000,
  /** When a history does not contain the outcome of a task yet, the gateway requests it again after this time, three times this time and twelve times this time. */
  outcomeAskMs: 10_000,
  /** How long a daemon has to answer a request. */
  daemonReplyTimeoutMs: 10_000,
  /** How long the instance that owns a device has to confirm a command. */
  commandTimeoutMs: 2_000,
  /** How often, at most, the gateway sends the progress of one session to apps. */
  progressIntervalMs: 500,
  /** How often, at most, the gateway stores the latest progress of one session. */
  progressFlushMs: 2_000,
  /** How long the daemon keeps watching a session after an app reads it. */
  openSessionMs: 300_000,
  /** Equal messages or completions within this time count as duplicates. */
  dedupeWindowMs: 30_000,
  /** How long the relay keeps the stored frames of a user after the newest of them. */
  resumeHistoryMs: 300_000,
  /** How often the relay checks the credentials of connected daemons and apps again. */
  credentialRecheckMs: 300_000,
  /** How often, at most, the gateway stores the time at which a device was last seen. */
  lastSeenFlushMs: 300_000,
  /** How long a registration code of a device is valid. */
  deviceCodeTtlSeconds: 900,
  /** The interval at which a daemon polls during its registration. */
  devicePollIntervalSeconds: 5,
  /** How long a ticket for `/ws/attention` is valid. */
  ticketTtlSeconds: 30,
  /** How often the relay looks for due notifications. */
  outboxPollMs: 5_000,
  /** The window of the request limits. */
  rateWindowMs: 60_000,
  /** The relay closes the connection of a daemon after three malformed frames within this time. */
  malformedWindowMs: 60_000,
  /** The relay closes the socket of an app or daemon that leaves its pending data unread for this long. */
  slowReaderStallMs: 10_000,
  /** How often the relay vacuums the embedded database. */
  vacuumIntervalMs: 3_600_000,
  /** How long after the expiry of its token the relay closes a live socket. */
  expiryToleranceMs: 5_000,
  /** How long the relay remembers an `Idempotency-Key`; must be the same for all instances, because gateways delete the keys that apis look up. */
  idempotencyTtlSeconds: 86_400,
};

export type Timings = Readonly<typeof timings>;

const variableOf = (name: string): string => `TEST_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;

/** The timings with the values of `TEST_…` variables. Throws a TypeError for a value other than a whole number. */
export function timingsFor(env: NodeJS.ProcessEnv): Timings {
  const entries = Object.entries(timings).map(([name, usual]): [string, number] => {
    const given = env[variableOf(name)];
    if (given === undefined) return [name, usual];
    if (!/^\d+$/.test(given)) throw new TypeError(`${variableOf(name)} is not a whole number`);
    return [name, Number(given)];
  });
  return Object.fromEntries(entries) as unknown as Timings;
}
