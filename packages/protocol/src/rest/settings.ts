/** Settings of a session: its mode, its model and other choices that its agent offers. Names are the same on every plane. */
import {
  type Static,
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

export const Setting = record('Setting', 'A setting of a session.', {
  id: id('Id, for changes'),
  kind: word(['mode', 'model', 'option'], 'Kind of the setting'),
  category: maybe(label('Category as in ACP: mode, model, thought_level, model_config; new values can be added')),
  applies: maybe(word(['now', 'next'], 'Whether a change applies at once or from the next message; absent: unknown')),
  name: label('Display name'),
  description: about('Description for people'),
  value: id('Id of the current option'),
  options: list(
    record('SettingOption', 'A possible value of a setting.', {
      id: id('The value'),
      name: label('Display name'),
      description: about('Description for people'),
      group: maybe(label('Heading of a group of options')),
      danger: maybe(
        flag('The agent works without asking. A warning only: both false positives and false negatives are possible'),
      ),
    }),
    'In the order of the agent',
    { maxItems: settingLimits.options },
  ),
});

export const settingList = list(Setting, 'In the order of the agent', { maxItems: settingLimits.settings });

/** The abilities of an agent, as its daemon learned them. */
export const abilities = list(
  line('A capability of the agent'),
  '`images`, `steer`, `files`, `cost`, `limits`; new values can be added',
  {
    maxItems: 20,
  },
);

const choice = { id: id('Id of the setting'), value: id('Id of one of its options') };

/** A choice that goes with a message. */
export const MessageSetting = record('MessageSetting', 'A setting to apply before the agent gets the message.', {
  ...choice,
  keep: maybe(flag('Make it the default of this agent on this machine too')),
});

export const messageSettings = maybe(
  list(
    MessageSetting,
    'Settings for the message. If one of them cannot be set, the message does not run: `SETTING_NOT_APPLIED`',
    {
      maxItems: settingLimits.choices,
    },
  ),
);

/** The same in a frame: the pages of both planes have a heading each. */
export const ChosenSetting = record('ChosenSetting', 'A new value for one setting, from an app.', choice);

export const SessionSettings = record(
  'SessionSettings',
  'The current settings of a session, as its agent reports them.',
  {
    sessionId: sessionId('Canonical session id'),
    settings: settingList,
    asOf: maybe(time('Present if no process of the agent runs: the time of these values')),
    can: maybe(abilities),
  },
);

export const AgentSettings = record('AgentSettings', 'The initial settings of new sessions of an agent.', {
  deviceId: id('Device id'),
  agentType: line('The agent'),
  settings: list(Setting, 'Empty if the agent has not run on the device yet', { maxItems: settingLimits.settings }),
  asOf: maybe(time('When the agent reported them')),
  can: maybe(abilities),
});

const agentType = maybe(line('One of the `agents` of the device; absent: the agent of the registration'));

export const DefaultChange = record('DefaultChange', 'A default for new sessions of an agent on a machine.', {
  agentType,
  id: id('Id of the setting'),
  value: nullable(id('Id of one of its options; null removes the default')),
  on: maybe(text('The program in which the person chooses, for display', { maxLength: limits.nameCharacters })),
});

export type Setting = Static<typeof Setting>;
export type MessageSetting = Static<typeof MessageSetting>;
export type AgentSettings = Static<typeof AgentSettings>;
export type DefaultChange = Static<typeof DefaultChange>;
export type SessionSettings = Static<typeof SessionSettings>;
