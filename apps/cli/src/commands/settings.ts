/** `relay settings`: shows and changes the settings of a session (mode, model, …) or the defaults of a machine. */
import type { Setting } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';
import { findDevice, findSessionId } from '../naming.ts';
import { oneLine } from '../show/text.ts';
import type { CommonOptions } from './shared-options.ts';
import { type ChoiceOptions, confirmDanger } from './choices.ts';
import { type Context, contextOf } from './context.ts';

interface SettingsOptions extends CommonOptions, ChoiceOptions {
  device?: string;
  agent?: string;
  keep?: boolean;
}

/** Takes a session, a name and a value. `--device` replaces the session. */
export async function settingsCommand(
  first: string | undefined,
  second: string | undefined,
  third: string | undefined,
  options: SettingsOptions,
  terminal: Terminal,
): Promise<void> {
  const context = contextOf(options, terminal);
  const { relay } = context;
  if (options.device !== undefined) {
    const device = await findDevice(relay, options.device);
    const about = options.agent === undefined ? {} : { agentType: options.agent };
    const params = { id: device.id };
    const { settings } = await relay.call('readDeviceSettings', { params, query: about });
    const change = async (id: string, value: string) => {
      await confirmDanger(settings, { id, value }, device.name, options, terminal);
      return relay.call('changeDeviceSetting', { params, body: { ...about, id, value, on: program } });
    };
    return chooseIn(context, settings, [first, second], change);
  }
  if (first === undefined) throw usage('Name a session, or a machine with --device.');
  const params = { id: await findSessionId(relay, first) };
  const { settings } = await relay.call('readSettings', { params });
  const keep = options.keep === true ? { keep: true } : {};
  const change = async (id: string, value: string) => {
    const { devices } = await relay.call('listDevices');
    const machine = devices.find((one) => params.id.startsWith(`${one.id}:`))?.name ?? '';
    await confirmDanger(settings, { id, value }, machine, options, terminal);
    return relay.call('changeSetting', { params, body: { id, value, on: program, ...keep } });
  };
  return chooseIn(context, settings, [second, third], change);
}

const program = 'CLI';

/** Shows the settings, or changes and shows one. */
async function chooseIn(
  { print, style }: Context,
  settings: readonly Setting[],
  [typedName, typedValue]: [name: string | undefined, value: string | undefined],
  change: (id: string, value: string) => Promise<{ settings: readonly Setting[] }>,
): Promise<void> {
  let answer: { settings: readonly Setting[] } = { settings };
  let shown: readonly Setting[] = settings;
  if (typedName !== undefined) {
    const setting = named(settings, typedName, 'There is no such setting.');
    if (typedValue === undefined) shown = [setting];
    else {
      const { id: value } = named(setting.options, typedValue, `${oneLine(setting.name)} has no such value.`);
      answer = await change(setting.id, value);
      shown = answer.settings.filter(({ id }) => id === setting.id);
    }
  }
  print(answer, () =>
    shown
      .map(({ id, name, value, options }) => {
        const values = options.map((option) => {
          const label = option.id === option.name ? option.id : `${option.id} (${option.name})`;
          const marked = option.danger === true ? `${label}, does not ask` : label;
          return option.id === value ? style('bold', `* ${oneLine(marked)}`) : `  ${oneLine(marked)}`;
        });
        return [`${oneLine(id)}: ${oneLine(name)}`, ...values].map((line) => `${line}\n`).join('');
      })
      .join('\n'),
  );
}

/** Finds an entry by id, else by name; case-insensitive. */
function named<T extends { id: string; name: string }>(list: readonly T[], typed: string, none: string): T {
  const isTyped = (text: string) => text.toLowerCase() === typed.toLowerCase();
  const found = list.find(({ id }) => id === typed) ?? list.find(({ id, name }) => isTyped(id) || isTyped(name));
  if (!found)
    throw usage(`${none} There ${list.length === 1 ? 'is' : 'are'}: ${list.map(({ id }) => oneLine(id)).join(', ')}.`);
  return found;
}
