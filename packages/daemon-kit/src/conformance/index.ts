/** Everything to check a daemon with, whatever it is written in: a relay whose every answer is written by the test, and the rules. */
export { type CheckWorld, type DaemonCheck, type DeviceIdentity, type Subject, daemonChecks } from './checks.ts';
export { programSubject, variablesOf } from './program.ts';
export { type Answer, type Call, DoubleConnection, type RelayDouble, startRelayDouble } from './relay-double.ts';
export { type CheckResult, runDaemonCheck, runDaemonChecks } from './run.ts';
