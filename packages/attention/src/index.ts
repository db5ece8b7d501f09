/** What apps are told, by api and gateway alike: messages and frames, encoded once, each message said once. */
export * from './messages.ts';
export * from './publisher.ts';
export * from './reload.ts';
