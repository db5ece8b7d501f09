/** The life of a server process: it starts, says so, and leaves without dropping what it has begun. Knows no relay. */
export { type Closers, createClosers } from './closers.ts';
export { type Service, runService } from './run.ts';
export { type Served, idleConnectionMs, serve } from './serve.ts';
