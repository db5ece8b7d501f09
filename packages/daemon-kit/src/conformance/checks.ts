/**
 * The rules for a daemon, each as one check against a simulated relay. The daemon under test must react to these messages,
 * whatever its agent: `fail` → the task fails; `ask` → it asks, and the answer completes the turn; `hang` → it works until it is
 * cancelled; any other text → it completes with some text.
 */
import { abilityChecks } from './ability-checks.ts';
import type { DaemonCheck } from './check.ts';
import { taskChecks } from './task-checks.ts';

export const daemonChecks: readonly DaemonCheck[] = [...taskChecks, ...abilityChecks];
