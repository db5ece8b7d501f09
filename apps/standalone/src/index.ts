/** Both doors in one process. */
export { startStandalone, type Relay } from './server.ts';
export { createDoors } from './doors.ts';
