/** A whole relay in one process with real sockets, a scripted daemon and an app: what tests are written with. */
export * from './app.ts';
export * from './browser.ts';
export { dumpTestBus } from './bus.ts';
export * from './client.ts';
export * from './cluster.ts';
export * from './database.ts';
export * from './daemon.ts';
export * from './fault-proxy.ts';
export * from './field-daemon.ts';
export * from './inbox.ts';
export * from './issuer.ts';
export * from './relay.ts';
export * from './relay-double.ts';
export * from './rest.ts';
export * from './process.ts';
export * from './push-receiver.ts';
export * from './apns-double.ts';
export * from './programs.ts';
