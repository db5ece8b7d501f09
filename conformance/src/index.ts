/** The duties of any relay, checked from outside. Imports the protocol and a WebSocket library, nothing else of ours. */
export { checks } from './checks/index.ts';
export type { Check } from './check.ts';
export { main } from './cli.ts';
