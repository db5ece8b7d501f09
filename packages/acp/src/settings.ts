/** Maps the settings of a session to ACP modes and options. */
import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import { RelayError } from '@relay/client';
import type { Setting, SettingChange } from '@relay/protocol';
import type { Relay } from './relay.ts';

export interface Choices {
  modes?: SessionModeState;
  configOptions?: SessionConfigOption[];
}

const described = (description: string | undefined) => (description === undefined ? {} : { description });

/** Returns an empty object if the agent offers no choice, so that clients show no empty menus. */
export function choicesOf(settings: readonly Setting[]): Choices {
  if (settings.length === 0) return {};
  const mode = modeOf(settings);
  return {
    ...(mode
      ? {
          modes: {
            currentModeId: mode.value,
            availableModes: mode.options.map(({ id, name, description }) => ({ id, name, ...described(description) })),
          },
        }
      : {}),
    configOptions: settings.map((setting) => ({
      id: setting.id,
      name: setting.name,
      ...described(setting.description),
      ...categoryOf(setting),
      type: 'select' as const,
      currentValue: setting.value,
      options: setting.options.map(({ id, name, description }) => ({ value: id, name, ...described(description) })),
    })),
  };
}

function categoryOf({ kind, category }: Setting): { category?: string } {
  if (kind === 'mode' || kind === 'model') return { category: kind };
  return category === undefined ? {} : { category };
}

/** Returns the setting that `session/set_mode` changes. */
const modeOf = (settings: readonly Setting[]): Setting | undefined => settings.find(({ kind }) => kind === 'mode');

/** Reads or changes a session's settings. Returns an empty object if the device does not respond or has no choices. @throws the errors of a change */
export async function readChoices(client: Relay, id: string, change?: SettingChange): Promise<Choices> {
  const params = { id };
  try {
    const { settings } = change
      ? await client.call('changeSetting', { params, body: change })
      : await client.call('readSettings', { params });
    return choicesOf(settings);
  } catch (error) {
    if (change || !(error instanceof RelayError)) throw error;
    return {};
  }
}
