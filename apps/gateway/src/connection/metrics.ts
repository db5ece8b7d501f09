/** The metrics of a gateway. */
import { type Metrics, promiseBuckets } from '@relay/telemetry';

/** Another gateway might have counted since. */
const countedForMs = 150_000;

export function gatewayMetrics(metrics: Metrics) {
  let devicesCountedAt = -Infinity;
  const forgotten = (gauge: { reset(): void }) => {
    if (performance.now() - devicesCountedAt > countedForMs) gauge.reset();
  };
  return {
    connections: metrics.gauge('relay_daemon_connections', 'Daemons connected to this instance'),
    connectionsLimit: metrics.gauge('relay_daemon_connections_limit', 'Daemons that this instance takes, at most'),
    letGo: metrics.counter(
      'relay_daemon_let_go_total',
      'Daemons whose gateway closed the socket to spread them over the gateways',
    ),
    devices: metrics.gauge(
      'relay_devices',
      'Devices in the database: registered, seen within a day (today), online. The gateway that counted last reports it',
      ['state'],
      forgotten,
    ),
    longestWait: metrics.gauge(
      'relay_task_longest_wait_seconds',
      'For how long a message has waited for the relay alone, the longest of all. The gateway that counted last reports it',
      [],
      forgotten,
    ),
    devicesCounted: () => (devicesCountedAt = performance.now()),
    accepts: metrics.counter('relay_daemon_accepts_total', 'Daemon connections accepted'),
    refusals: metrics.counter('relay_daemon_refusals_total', 'Daemon upgrades refused, by error code', ['code']),
    closes: metrics.counter('relay_daemon_closes_total', 'Daemon connections ended, by close code', ['code']),
    frames: metrics.counter('relay_daemon_frames_total', 'Frames from daemons, by type', ['type']),
    ignored: metrics.counter('relay_daemon_frames_ignored_total', 'Frames from daemons that had no effect, by cause', [
      'cause',
    ]),
    reports: metrics.counter('relay_reports_total', 'report_sessions frames, by outcome', ['outcome']),
    tasks: metrics.counter('relay_tasks_total', 'Task transitions made by a gateway, by state', ['state']),
    commands: metrics.counter('relay_commands_total', 'Commands from other instances, by kind and outcome', [
      'kind',
      'outcome',
    ]),
    evictions: metrics.counter('relay_evictions_total', 'Connections replaced by a newer one of the same device'),
    conflicts: metrics.counter(
      'relay_device_conflicts_total',
      'Devices found to be used by two daemons that take the place from each other',
    ),
    setBacks: metrics.counter(
      'relay_database_set_back_total',
      'Times that the database was found to have been set back in time',
    ),
    leasesLost: metrics.counter(
      'relay_leases_lost_total',
      'Leases that a newer owner was found to hold at their renewal',
    ),
    deliveries: metrics.histogram(
      'relay_task_delivery_seconds',
      'A message that could be written at once, from its acceptance until it was written to its daemon',
      [],
      promiseBuckets,
    ),
    events: metrics.histogram(
      'relay_daemon_event_seconds',
      'An event that is saved or published, from its turn until that is done',
      [],
      promiseBuckets,
    ),
    pings: metrics.histogram('relay_daemon_ping_seconds', 'Ping of the relay until the pong of the daemon'),
  };
}
export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;
