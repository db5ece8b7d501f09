/** `--set id=value`: settings of a message. A mode that never asks needs the machine's name as confirmation, or `--without-asking`. */
import type { Device, MessageSetting, Setting } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';
import type { Relay } from '../relay.ts';
import { oneLine } from '../show/text.ts';

export interface ChoiceOptions {
  /** `id=value`. */
  set?: readonly string[];
  withoutAsking?: boolean;
}

export function choicesOf({ set = [] }: ChoiceOptions): MessageSetting[] {
  return set.map((typed) => {
    const at = typed.indexOf('=');
    if (at < 1 || at === typed.length - 1) throw usage('--set takes the id of a setting and a value: --set mode=plan.');
    return { id: typed.slice(0, at), value: typed.slice(at + 1) };
  });
}

/** Asks before the agent works without asking. @throws Failure BAD_USAGE if no terminal is attached, or the name differs */
export async function confirmDanger(
  settings: readonly Setting[],
  choice: { id: string; value: string },
  machine: string,
  { withoutAsking }: ChoiceOptions,
  terminal: Terminal,
): Promise<void> {
  const option = settings.find(({ id }) => id === choice.id)?.options.find(({ id }) => id === choice.value);
  if (option?.danger !== true || withoutAsking === true) return;
  if (!terminal.inIsScreen)
    throw usage('The agent would work without asking. Add --without-asking: there is no terminal to confirm it in.');
  terminal.err(
    `${oneLine(option.name)}: the agent changes any file and runs any command on ${machine} without asking.\n`,
  );
  const typed = await terminal.ask('Type the name of the machine to turn it on: ');
  if (typed?.trim() !== machine) throw usage('This is not the name of the machine. Nothing was changed.');
}

/** Confirms the settings of a new session of this agent. A machine that does not respond marks no setting as dangerous. */
export async function confirmChoices(
  relay: Relay,
  device: Pick<Device, 'id' | 'name'>,
  agentType: string | undefined,
  choices: readonly MessageSetting[],
  options: ChoiceOptions,
  terminal: Terminal,
): Promise<void> {
  if (choices.length === 0 || options.withoutAsking === true) return;
  const query = agentType === undefined ? {} : { agentType };
  const { settings } = await relay.call('readDeviceSettings', { params: { id: device.id }, query });
  for (const choice of choices) await confirmDanger(settings, choice, device.name, options, terminal);
}
