/** Both doors in one process. */
export { startStandalone, type Relay } from './relay.ts';
export { createDoors } from './server.ts';
