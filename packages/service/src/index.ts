/** The life of a server process: it starts, says so, and leaves without dropping what it has begun. Knows no relay. */
export { createClosers } from './closers.ts';
export type { Closers } from './closers.ts';
export { runService } from './run.ts';
export type { Service } from './run.ts';
export { idleConnectionMs, serve } from './serve.ts';
export type { Served } from './serve.ts';
export { openFilesLimit, openFilesWarning } from './open-files.ts';
export { checkProxy, quietMsOf } from './proxy-check.ts';
export type { ProxyCheckOptions } from './proxy-check.ts';
export { createQuietDoor } from './quiet-door.ts';
export type { QuietDoor, Tickets } from './quiet-door.ts';
