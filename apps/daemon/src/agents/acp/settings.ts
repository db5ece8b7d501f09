/**
 * The settings of a session, from ACP: config options, else modes and models. The person's choices are kept, and applied again when
 * the session gets another process. Knows only the process that it is given. Values from the wire are read by shape.
 */
import { SettingRefused } from '@relay/daemon-kit';
import type { Setting, SettingChange } from '@relay/protocol';
import { type Fields, listOf, recordOf, wordsOf } from './content.ts';
import { isDangerous } from './danger.ts';
import type { AcpOptions } from './options.ts';
import type { AgentProcess } from './process.ts';

export interface Settings {
  /** Undefined while the agent has reported nothing about this session. */
  of(sessionId: string): readonly Setting[] | undefined;
  /** The reply with which the agent opened or reopened a session. */
  opened(sessionId: string, answer: Fields): void;
  /** Any `session/update`; those about something else are ignored. */
  heard(sessionId: string, update: Fields): void;
  /** The session is in this mode from now on. */
  inMode(sessionId: string, modeId: string): void;
  /** @throws SettingRefused, AgentFailure */
  change(agent: AgentProcess, sessionId: string, change: SettingChange): Promise<readonly Setting[]>;
  /** The person's choices that are not in effect. */
  forgotten(sessionId: string): SettingChange[];
  onChange: (listener: (sessionId: string) => void) => void;
}

interface Told {
  settings: readonly Setting[];
  /** They are config options. */
  isConfig: boolean;
  /** The agent has modes beside its config options. */
  hasModes: boolean;
  chosen: Map<string, string>;
}

const maxSessions = 1000;

/** A choice of model or reasoning. Every other setting can decide whether the agent asks. */
const isOfModel = ({ category, id }: Fields): boolean =>
  category === 'model' ||
  category === 'thought_level' ||
  (typeof category !== 'string' &&
    /^(?:effort|reasoning|thinking|thought)(?:[_-]?(?:effort|level))?$/i.test(wordsOf(id)));

/** Apps see and change only the model and its reasoning if `askAtDesk` is set. */
export function createSettings(
  limitMs: number,
  { askAtDesk, noFullAccess = false, quirks = {} }: Pick<AcpOptions, 'askAtDesk' | 'noFullAccess' | 'quirks'> = {},
): Settings {
  const onlyModels = askAtDesk !== undefined;
  const hidesDanger = onlyModels || noFullAccess;
  const { applies } = quirks;

  /** The settings with their marks, without the options that this machine does not allow. */
  const allowed = (settings: Setting[]): Setting[] =>
    settings.flatMap((setting) => {
      const marked = setting.options.map((option) =>
        isDangerous(setting, option, quirks) ? { ...option, danger: true } : option,
      );
      const options = hidesDanger ? marked.filter(({ danger }) => danger !== true) : marked;
      return options.length > 0 ? [{ ...setting, ...(applies && { applies }), options }] : [];
    });
  const configOf = (answer: Fields) =>
    allowed(
      configIn({ configOptions: listOf(answer.configOptions).filter((option) => !onlyModels || isOfModel(option)) }),
    );
  const sessions = new Map<string, Told>();
  let listener: (sessionId: string) => void = () => undefined;

  const tell = (sessionId: string, change: Partial<Told>) => {
    const before = sessions.get(sessionId);
    const now = {
      settings: [],
      isConfig: false,
      hasModes: false,
      chosen: new Map<string, string>(),
      ...before,
      ...change,
    };
    sessions.delete(sessionId);
    sessions.set(sessionId, now);
    const [oldest] = sessions.keys();
    if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
    if (before && JSON.stringify(before.settings) !== JSON.stringify(now.settings)) listener(sessionId);
    return now;
  };

  const holds = (sessionId: string, id: string, value: string) => {
    const told = sessions.get(sessionId);
    if (told) tell(sessionId, { settings: told.settings.map((one) => (one.id === id ? { ...one, value } : one)) });
  };

  /** Config options, and the mode of an agent that has modes beside them. */
  const withMode = (sessionId: string, config: Setting[]): Setting[] => {
    const { hasModes = false, settings = [] } = sessions.get(sessionId) ?? {};
    return hasModes ? [...config, ...settings.filter(({ kind }) => kind === 'mode')] : config;
  };

  const inMode: Settings['inMode'] = (sessionId, modeId) => {
    const mode = sessions.get(sessionId)?.settings.find(({ kind }) => kind === 'mode');
    if (mode?.options.some(({ id }) => id === modeId)) holds(sessionId, mode.id, modeId);
  };

  return {
    of: (sessionId) => sessions.get(sessionId)?.settings,
    opened(sessionId, answer) {
      const config = configOf(answer);
      if (config.length > 0) {
        const modes = onlyModels || config.some(({ kind }) => kind === 'mode') ? [] : allowed(modesOf(answer));
        tell(sessionId, { settings: [...config, ...modes], isConfig: true, hasModes: modes.length > 0 });
      } else {
        const settings = allowed([...(onlyModels ? [] : modesOf(answer)), ...modelsOf(answer)]);
        // An agent that resumes a session may omit settings that it reported before.
        if (settings.length > 0 || !sessions.has(sessionId)) tell(sessionId, { settings, isConfig: false });
      }
    },
    heard(sessionId, update) {
      if (update.sessionUpdate === 'current_mode_update') inMode(sessionId, wordsOf(update.currentModeId));
      if (update.sessionUpdate !== 'config_option_update') return;
      const config = configOf(update);
      // The daemon ignores an empty list: it would take every choice from the person.
      if (config.length > 0) tell(sessionId, { settings: withMode(sessionId, config), isConfig: true });
    },
    inMode,
    async change(agent, sessionId, { id, value }) {
      const told = sessions.get(sessionId);
      const setting = told?.settings.find((one) => one.id === id);
      if (!told || (told.settings.length === 0 && !onlyModels))
        throw new SettingRefused('SETTINGS_NOT_SUPPORTED', 'The agent of this session has no settings.');
      if (!setting)
        throw new SettingRefused(
          'INVALID_SETTING',
          onlyModels
            ? `"${id}" can be changed at the machine only: permissions are answered there (--ask-at-desk).`
            : `The session has no setting "${id}".`,
        );
      if (hidesDanger && isDangerous(setting, { id: value, name: '' }, quirks))
        throw new SettingRefused('SETTING_NOT_ALLOWED', 'This machine does not allow a mode that never asks.');
      if (!setting.options.some((option) => option.id === value))
        throw new SettingRefused('INVALID_SETTING', `"${setting.name}" has no value "${value}".`);
      if (told.isConfig && !(told.hasModes && setting.kind === 'mode')) {
        const answer = await agent.request('session/set_config_option', { sessionId, configId: id, value }, limitMs);
        const config = configOf(answer);
        if (config.length > 0) tell(sessionId, { settings: withMode(sessionId, config) });
        else holds(sessionId, id, value);
      } else {
        if (setting.kind === 'mode') await agent.request('session/set_mode', { sessionId, modeId: value }, limitMs);
        else await agent.request('session/set_model', { sessionId, modelId: value }, limitMs);
        holds(sessionId, id, value);
      }
      const now = sessions.get(sessionId);
      now?.chosen.set(id, value);
      return now?.settings ?? [];
    },
    forgotten(sessionId) {
      const { settings = [], chosen = new Map<string, string>() } = sessions.get(sessionId) ?? {};
      return settings.flatMap(({ id, value, options }) => {
        const wanted = chosen.get(id);
        return wanted !== undefined && wanted !== value && options.some((option) => option.id === wanted)
          ? [{ id, value: wanted }]
          : [];
      });
    },
    onChange: (heard) => void (listener = heard),
  };
}

const named = (id: unknown, { name, description }: Fields) => ({
  id: wordsOf(id),
  name: wordsOf(name) || wordsOf(id),
  ...(wordsOf(description) === '' ? {} : { description: wordsOf(description) }),
});
const isNamed = ({ id }: { id: string }) => id !== '';

function configIn({ configOptions }: Fields): Setting[] {
  return listOf(configOptions).flatMap((option) => {
    // A switch is offered to clients only that say they have them, which this one does not.
    if (typeof option.currentValue !== 'string') return [];
    const options = listOf(option.options)
      .flatMap((one) => {
        if (!Array.isArray(one.options)) return [named(one.value, one)];
        const group = wordsOf(one.name) || wordsOf(one.group);
        return listOf(one.options).map((each) => ({ ...named(each.value, each), ...(group === '' ? {} : { group }) }));
      })
      .filter(isNamed);
    const kind = option.category === 'mode' || option.category === 'model' ? option.category : 'option';
    const category = wordsOf(option.category);
    const about = { ...named(option.id, option), kind, ...(category === '' ? {} : { category }) } as const;
    return [{ ...about, value: option.currentValue, options }].filter(isNamed);
  });
}

function modesOf({ modes }: Fields): Setting[] {
  const { currentModeId, availableModes } = recordOf(modes);
  const options = listOf(availableModes)
    .map((mode) => named(mode.id, mode))
    .filter(isNamed);
  return options.length === 0
    ? []
    : [{ id: 'mode', kind: 'mode', category: 'mode', name: 'Mode', value: wordsOf(currentModeId), options }];
}

function modelsOf({ models }: Fields): Setting[] {
  const { currentModelId, availableModels } = recordOf(models);
  const options = listOf(availableModels)
    .map((model) => named(model.modelId, model))
    .filter(isNamed);
  return options.length === 0
    ? []
    : [{ id: 'model', kind: 'model', category: 'model', name: 'Model', value: wordsOf(currentModelId), options }];
}
