/** Everything needed to check a daemon in any language: a relay whose answers the test writes, and the rules. */
export type { DaemonCheck, DeviceIdentity, Subject } from './check.ts';
export { daemonChecks } from './checks.ts';
export { programSubject } from './program.ts';
export { type Answer, type Call, DoubleConnection, type RelayDouble, startRelayDouble } from './relay-double.ts';
export { runDaemonCheck, runDaemonChecks } from './run.ts';
