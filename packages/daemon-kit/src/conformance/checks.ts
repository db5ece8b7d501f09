/**
 * The rules for a daemon, each as one check against a simulated relay. The daemon under test must answer these messages
 * in this way, whatever its agent is: `fail` → the task fails; `ask` → it asks, and the answer ends the turn; `hang` → it works until it
 * is cancelled; anything else → it ends well, with some words.
 */
import { abilityChecks } from './ability-checks.ts';
import type { DaemonCheck } from './check.ts';
import { taskChecks } from './task-checks.ts';

export const daemonChecks: readonly DaemonCheck[] = [...taskChecks, ...abilityChecks];
