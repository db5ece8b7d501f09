/** The door of the daemon for whoever runs it inside their own process: tests, tours, other programs. */
export * from '@relay/daemon-kit';
export { demoScriptFile } from './agents/demo-script.ts';
export { type CommandOptions, type CommandTimings, commandAgent } from './agents/command.ts';
