/** Where the newest session was started in this browser: the next one mostly goes there, too. */
import type { Device } from '@relay/protocol';
import { keepStored, readStored } from '../forget.ts';

type ByMachine = Readonly<Record<string, string>>;
interface LastChoice {
  device?: string;
  agents: ByMachine;
  folders: ByMachine;
}

const name = 'new-session';
/** Machines whose agent and folder are remembered. */
const most = 50;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const textsOf = (value: unknown): ByMachine =>
  Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).filter((one): one is [string, string] => typeof one[1] === 'string'),
  );

export function readLastChoice(): LastChoice {
  try {
    const stored: unknown = JSON.parse(readStored(name) ?? '');
    if (!isRecord(stored)) return { agents: {}, folders: {} };
    const { device, agents, folders } = stored;
    return { ...(typeof device === 'string' && { device }), agents: textsOf(agents), folders: textsOf(folders) };
  } catch {
    return { agents: {}, folders: {} };
  }
}

const withOne = (all: ByMachine, device: string, text: string): ByMachine =>
  Object.fromEntries([...Object.entries(all).filter(([id]) => id !== device), [device, text] as const].slice(-most));

/** A browser that stores nothing selects the first machine. */
export function rememberChoice(device: string, agentType: string, folder: string): void {
  const { agents, folders } = readLastChoice();
  const next = { device, agents: withOne(agents, device, agentType), folders: withOne(folders, device, folder) };
  keepStored(name, JSON.stringify(next));
}

/** The machine of the last session if it is online, else the first online machine; `devices` are in the order of the page. */
export const firstMachine = (devices: readonly Device[], last: string | undefined): Device | undefined => {
  const online = devices.filter(({ status }) => status === 'online');
  return online.find(({ id }) => id === last) ?? online[0] ?? devices.find(({ id }) => id === last) ?? devices[0];
};
