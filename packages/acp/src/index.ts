/** The relay as an agent of the Agent Client Protocol: the part that every transport shares. */
export { type Budget, createBudget, hasRoomFor } from './budget.ts';
export { serveAcp } from './door.ts';
export { errorOf } from './errors.ts';
export { type Device, deviceFor } from './host.ts';
export { type Mapping, type Paths, pathsOf } from './paths.ts';
export { type Instruction, instructionOf } from './prompt.ts';
export { type AskOptions, askingOf } from './questions.ts';
export type { Relay } from './relay.ts';
export { type Place, acpIdOf, sessionIdOf } from './session-ids.ts';
export { type Choices, choicesOf } from './settings.ts';
export { type Updater, createUpdater } from './updates.ts';
export { type AnyMessage, type Stream, ndJsonStream } from '@agentclientprotocol/sdk';
