/** A relay for tests of daemons: every answer is written by the test. */
export { type Answer, type Call, DoubleConnection, type RelayDouble, startRelayDouble } from './relay-double.ts';
