/** Settings of a session: its mode, its model and other choices that its agent offers. Names are the same on every plane. */
import { type Static, flag, id, limits, list, maybe, record, sessionId, text } from '../schema.ts';
import { word } from '../transcript/question.ts';

export const settingLimits = {
  settings: 50,
  /** Options of one setting: some agents list the models of every provider. */
  options: 1000,
  /** All of them, as JSON. */
  bytes: 256 * 1024,
} as const;

const label = (description: string) => text(description, { maxLength: limits.nameCharacters });
const about = (description: string) => maybe(text(description, { maxLength: limits.promptOptionCharacters }));

export const Setting = record('Setting', 'Something to choose.', {
  id: id('Names it in a change'),
  kind: word(['mode', 'model', 'option'], 'What is chosen'),
  category: maybe(label('As ACP names it: mode, model, thought_level, model_config; others can come')),
  applies: maybe(word(['now', 'next'], 'A change counts at once, or from the next message; absent: not known')),
  name: label('For people'),
  description: about('More, for people'),
  value: id('Id of the option that holds now'),
  options: list(
    record('SettingOption', 'A value that it may have.', {
      id: id('The value'),
      name: label('For people'),
      description: about('More, for people'),
      group: maybe(label('Heading of the options that belong together')),
      danger: maybe(flag('The agent works without asking. A warning, which can be wrong in both directions')),
    }),
    'In the order of the agent',
    { maxItems: settingLimits.options },
  ),
});

export const settingList = list(Setting, 'In the order of the agent', { maxItems: settingLimits.settings });

const choice = { id: id('Id of the setting'), value: id('Id of one of its options') };

/** The body of the route. */
export const SettingChange = record('SettingChange', 'Another value for one setting.', choice);

/** The same in a frame: the pages of both planes have a heading each. */
export const ChosenSetting = record('ChosenSetting', 'Another value for one setting, as an app chose it.', choice);

export const SessionSettings = record('SessionSettings', 'The settings of a session, as its agent reports them now.', {
  sessionId: sessionId('Canonical session id'),
  settings: settingList,
});

export type Setting = Static<typeof Setting>;
export type SettingChange = Static<typeof SettingChange>;
export type SessionSettings = Static<typeof SessionSettings>;
