/** The assembly of an instance, for the programs that start one. Knows no route and no frame. */
export { isForPeople, versionOf } from './program.ts';
export { type Instance, type InstanceDeps, type InstanceRole, openInstance } from './open.ts';
export type { Door, ServedDoor } from './serve-door.ts';
