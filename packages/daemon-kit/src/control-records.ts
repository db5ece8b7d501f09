/** The files of the owner with the defaults of each agent, and the settings that each agent reported last. */
import { join } from 'node:path';
import type { Setting } from '@relay/protocol';
import { readIfPresent, reasonOf, replaceOwnerFile } from '@relay/machine';
import type { Agent, Choice } from './agent.ts';
import type { Log } from './log.ts';
import { SettingRefused } from './settings.ts';

interface Offer {
  at: string;
  settings: Setting[];
  /** The abilities of the agent. */
  can?: readonly string[];
}

interface RecordsOptions {
  agents: ReadonlyMap<string, Pick<Agent, 'abilities'>>;
  folder: string;
  log: Pick<Log, 'warn'>;
  /** The present time, ISO 8601. */
  time: () => string;
}

export interface ControlRecords {
  defaultsOf: (agentType?: string) => Readonly<Record<string, string>>;
  /** Null removes the default. @throws SettingRefused */
  setDefault: (agentType: string, id: string, value: string | null) => void;
  offerOf: (agentType?: string) => readonly Setting[];
  /** The time of the newest offer. */
  offeredAt: (agentType: string) => string | undefined;
  /** The agent reported these settings. */
  offered: (agentType: string, settings: Setting[], can: Offer['can']) => void;
  /** The abilities of the agent, as a field of a frame. */
  canOf: (agentType: string) => { can?: string[] };
}

const maxChoicesBytes = 64 * 1024;

export const optionOf = (settings: readonly Setting[], { id, value }: Choice) =>
  settings.find((one) => one.id === id)?.options.find((option) => option.id === value);
export const nameOf = (settings: readonly Setting[], choice: Choice): string =>
  optionOf(settings, choice)?.name ?? choice.value;

export const valuesOf = (settings: readonly Setting[]) =>
  Object.fromEntries(settings.map(({ id, value }) => [id, value]));

/** Reads a JSON object from a file of the owner. A missing file reads as an empty object. */
function openRecord<T>(path: string, log: Pick<Log, 'warn'>): { all: Record<string, T>; save: () => void } {
  let all: Record<string, T> = {};
  try {
    const value: unknown = JSON.parse(readIfPresent(path) ?? '{}');
    if (typeof value === 'object' && value !== null) all = value as Record<string, T>;
  } catch (error) {
    log.warn('settings not read', { file: path, why: reasonOf(error) });
  }
  return {
    all,
    save() {
      try {
        replaceOwnerFile(path, JSON.stringify(all));
      } catch (error) {
        log.warn('settings not kept', { file: path, why: reasonOf(error) });
      }
    },
  };
}

export function createRecords({ agents, folder, log, time }: RecordsOptions): ControlRecords {
  const defaults = openRecord<Record<string, string>>(join(folder, 'choices.json'), log);
  const offers = openRecord<Offer>(join(folder, 'offers.json'), log);

  return {
    defaultsOf: (agentType = '') => defaults.all[agentType] ?? {},
    setDefault(agentType, id, value) {
      const { [id]: _, ...rest } = defaults.all[agentType] ?? {};
      const next = { ...defaults.all, [agentType]: value === null ? rest : { ...rest, [id]: value } };
      if (Buffer.byteLength(JSON.stringify(next)) > maxChoicesBytes)
        throw new SettingRefused('INVALID_SETTING', 'This machine keeps no more defaults.');
      defaults.all[agentType] = next[agentType] ?? {};
      defaults.save();
    },
    offerOf: (agentType = '') => offers.all[agentType]?.settings ?? [],
    offeredAt: (agentType) => offers.all[agentType]?.at,
    offered(agentType, settings, can) {
      const { at: _, ...before } = offers.all[agentType] ?? { at: '' };
      const offer = { settings, ...(can ? { can } : {}) };
      offers.all[agentType] = { at: time(), ...offer };
      if (JSON.stringify(before) !== JSON.stringify(offer)) offers.save();
    },
    canOf(agentType) {
      const can = agents.get(agentType)?.abilities?.() ?? offers.all[agentType]?.can;
      return can ? { can: [...can] } : {};
    },
  };
}
