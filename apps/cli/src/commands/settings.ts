/** `relay settings`: what can be chosen in a session (mode, model, …), and choosing it. */
import type { Setting } from '@relay/protocol';
import { usage } from '../failure.ts';
import { findSessionId } from '../naming.ts';
import { oneLine } from '../show/text.ts';
import type { CommonOptions, Terminal } from '../terminal.ts';
import { contextOf } from './context.ts';

export async function settingsCommand(
  typedSession: string,
  typedName: string | undefined,
  typedValue: string | undefined,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  const { relay, say, style } = contextOf(options, terminal);
  const params = { id: await findSessionId(relay, typedSession) };
  let answer = await relay.call('readSettings', { params });
  let shown: readonly Setting[] = answer.settings;
  if (typedName !== undefined) {
    const setting = named(answer.settings, typedName, 'The session has no such setting.');
    if (typedValue === undefined) shown = [setting];
    else {
      const { id: value } = named(setting.options, typedValue, `${oneLine(setting.name)} has no such value.`);
      answer = await relay.call('changeSetting', { params, body: { id: setting.id, value } });
      shown = answer.settings.filter(({ id }) => id === setting.id);
    }
  }
  say(answer, () =>
    shown
      .map(({ id, name, value, options }) => {
        const values = options.map((option) => {
          const label = option.id === option.name ? option.id : `${option.id} (${option.name})`;
          return option.id === value ? style('bold', `* ${oneLine(label)}`) : `  ${oneLine(label)}`;
        });
        return [`${oneLine(id)}: ${oneLine(name)}`, ...values].map((line) => `${line}\n`).join('');
      })
      .join('\n'),
  );
}

/** By id, else by name, however it is written. */
function named<T extends { id: string; name: string }>(list: readonly T[], typed: string, none: string): T {
  const isTyped = (text: string) => text.toLowerCase() === typed.toLowerCase();
  const found = list.find(({ id }) => id === typed) ?? list.find(({ id, name }) => isTyped(id) || isTyped(name));
  if (!found)
    throw usage(`${none} There ${list.length === 1 ? 'is' : 'are'}: ${list.map(({ id }) => oneLine(id)).join(', ')}.`);
  return found;
}
