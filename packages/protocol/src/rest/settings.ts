/** Settings of a session: its mode, its model and other choices that its agent offers. Names are the same on every plane. */
import {
  type Static,
  Type,
  flag,
  id,
  limits,
  line,
  list,
  maybe,
  nullable,
  record,
  sessionId,
  text,
  time,
} from '../schema.ts';
import { word } from '../transcript/question.ts';

export const settingLimits = {
  settings: 50,
  /** Options of one setting: some agents list the models of every provider. */
  options: 1000,
  /** All of them, as JSON. */
  bytes: 256 * 1024,
  /** Choices in one message. */
  choices: 10,
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

/** The abilities of an agent, as its daemon learned them. */
export const abilities = list(line('An ability'), '`images`, `steer`, `files`, `cost`, `limits`; others can come', {
  maxItems: 20,
});

const choice = { id: id('Id of the setting'), value: id('Id of one of its options') };

/** The body of the route. */
export const SettingChange = record('SettingChange', 'Another value for one setting.', {
  ...choice,
  keep: maybe(flag('Also the default of this agent on this machine')),
  on: maybe(text('The program in which it is chosen, for people', { maxLength: limits.nameCharacters })),
});

/** A choice that goes with a message. */
export const MessageSetting = record('MessageSetting', 'A value that holds before the agent gets the message.', {
  ...choice,
  keep: maybe(flag('Also the default of this agent on this machine')),
});

export const messageSettings = maybe(
  list(MessageSetting, 'Chosen with the message. It does not run if one of them cannot be set: `SETTING_NOT_APPLIED`', {
    maxItems: settingLimits.choices,
  }),
);

/** The same in a frame: the pages of both planes have a heading each. */
export const ChosenSetting = record('ChosenSetting', 'Another value for one setting, as an app chose it.', choice);

export const SessionSettings = record('SessionSettings', 'The settings of a session, as its agent reports them now.', {
  sessionId: sessionId('Canonical session id'),
  settings: settingList,
  asOf: maybe(time('No process of the agent runs: as it was then')),
  can: maybe(abilities),
});

export const SettingsQuery = Type.Object({
  known: maybe(
    Type.Literal('1', { description: 'Only the values that the daemon knows: starts no process of an agent' }),
  ),
});

export const AgentSettings = record('AgentSettings', 'The settings with which a new session of an agent begins.', {
  deviceId: id('Device id'),
  agentType: line('The agent'),
  settings: list(Setting, 'Empty: the agent has not run there yet', { maxItems: settingLimits.settings }),
  asOf: maybe(time('When the agent reported them')),
  can: maybe(abilities),
});

const agentType = maybe(line('One of the `agents` of the device; absent: the one that it is registered for'));

export const AgentSettingsQuery = Type.Object({
  agentType,
  projectPath: maybe(text('The folder of the session', { maxLength: limits.pathCharacters })),
});

export const DefaultChange = record('DefaultChange', 'A default for new sessions of an agent on a machine.', {
  agentType,
  id: id('Id of the setting'),
  value: nullable(id('Id of one of its options; null removes the default')),
  on: maybe(text('The program in which it is chosen, for people', { maxLength: limits.nameCharacters })),
});

export type Setting = Static<typeof Setting>;
export type MessageSetting = Static<typeof MessageSetting>;
export type AgentSettings = Static<typeof AgentSettings>;
export type DefaultChange = Static<typeof DefaultChange>;
export type SettingChange = Static<typeof SettingChange>;
export type SessionSettings = Static<typeof SessionSettings>;
