/** Both doors in one process. */
export { startStandalone } from './server.ts';
export { createDoors } from './doors.ts';
