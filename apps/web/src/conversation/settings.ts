/** Settings of an agent, as the composer and New session show them. */
import type { MessageSetting, Setting } from '@relay/protocol';
import { keepStored, readStored } from '../forget.ts';

export const modeOf = (settings: readonly Setting[]) => settings.find(({ kind }) => kind === 'mode');
export const modelOf = (settings: readonly Setting[]) => settings.find(({ kind }) => kind === 'model');
export const effortOf = (settings: readonly Setting[]) => settings.find(({ category }) => category === 'thought_level');

export const optionOf = ({ options, value }: Setting) => options.find(({ id }) => id === value);
export const isDangerous = (setting: Setting): boolean => optionOf(setting)?.danger === true;

/** The settings after these choices. */
export const withValues = (settings: readonly Setting[], choices: readonly MessageSetting[]): Setting[] =>
  settings.map((one) => {
    const chosen = choices.find(({ id, value }) => id === one.id && one.options.some((option) => option.id === value));
    return chosen ? { ...one, value: chosen.value } : one;
  });

interface Shown {
  settings: readonly Setting[];
  asOf?: string | undefined;
}

const name = 'shown-settings';
const most = 20;
const mostOptions = 60;

function all(): [key: string, shown: Shown][] {
  try {
    const stored: unknown = JSON.parse(readStored(name) ?? '[]');
    return Array.isArray(stored) ? (stored as [string, Shown][]) : [];
  } catch {
    return [];
  }
}

/** Stores the last known settings for the time when the machine is away. */
export function rememberShown(key: string, { settings, asOf = new Date().toISOString() }: Shown): void {
  const short = settings.map((one) => ({
    ...one,
    options: one.options.filter((option, at) => at < mostOptions || option.id === one.value),
  }));
  const next = [...all().filter(([other]) => other !== key), [key, { settings: short, asOf }]].slice(-most);
  keepStored(name, JSON.stringify(next));
}

export const shownBefore = <T extends Shown>(key: string): T | undefined =>
  all().find(([other]) => other === key)?.[1] as T | undefined;
