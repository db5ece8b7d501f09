/**
 * The life of a server process: it starts, reports readiness, and stops without dropping work. Independent of the
 * relay.
 */
export { type Closers, createClosers } from './closers.ts';
export { type Service, runService } from './run.ts';
export { type Served, idleConnectionMs, serve } from './serve.ts';
