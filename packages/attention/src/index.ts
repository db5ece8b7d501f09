/** Publishes messages and frames to apps, for api and gateway alike: encoded once, each message published once. */
export * from './messages.ts';
export * from './publisher.ts';
export type { HeldTurns } from './turns.ts';
export * from './inbox.ts';
