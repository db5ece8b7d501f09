/** The texts about a session that a terminal has open, by the state of its holder. */
import type { Device, Held } from '@relay/protocol';
import { words } from '../catalogue.ts';

export const machineOf = (device: Device | undefined): string => device?.name ?? words.list.machine;

const isPlain = ({ sure, why }: Held) => sure && why === undefined;

/** One line of a list. */
export const rowLine = (held: Held): string => {
  if (!isPlain(held)) return titleOf(held);
  if (held.state === 'waiting') return words.desk.waits;
  return held.state === 'busy' ? words.desk.openWorking : words.desk.open;
};

export const titleOf = ({ state, sure, why, program }: Held): string => {
  if (!sure) return words.desk.likely;
  if (why === 'shared') return words.desk.shared(program);
  if (why !== undefined) return words.desk.foreign;
  if (state === 'waiting') return words.desk.waits;
  return state === 'busy' ? words.desk.working : words.desk.open;
};

export const lineOf = (held: Held, machine: string, nowMs: number): string => {
  const { state, why, program, waits, at } = held;
  if (why === 'shared') return words.desk.on(machine);
  if (!isPlain(held)) return words.desk.programOn(program, machine);
  const ms = nowMs - Date.parse(at);
  if (state === 'idle') return words.desk.idleFor(machine, ms);
  if (state === 'busy') return words.desk.workingFor(machine, ms);
  return waits === undefined ? words.desk.terminalOn(machine) : words.desk.waitsFor(machine, waits);
};
