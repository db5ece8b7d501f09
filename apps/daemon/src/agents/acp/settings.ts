/**
 * The settings of a session, from ACP: config options, else modes and models. Knows only
 * the process that it is given. Values from the wire are read by shape.
 */
import {
  type Choice,
  type Fields,
  type SessionChoices,
  listOf,
  recordOf,
  SettingRefused,
  wordsOf,
} from '@relay/daemon-kit';
import type { Setting } from '@relay/protocol';
import { isDangerous } from './danger.ts';
import type { AcpOptions } from './options.ts';
import type { Quirks } from './presets.ts';
import type { AgentProcess } from './process.ts';

export interface Settings {
  /** Undefined while the agent has reported nothing about this session. */
  of(sessionId: string): readonly Setting[] | undefined;
  /** The agent's reply when it opened or reopened the session. */
  opened(sessionId: string, answer: Fields): void;
  /**
   * Any `session/update`; those about something else are ignored. Returns false for news of a known mode: the daemon keeps a mark of it.
   */
  observe(sessionId: string, update: Fields): boolean;
  /** The session is in this mode from now on. */
  inMode(sessionId: string, modeId: string): void;
  /** @throws SettingRefused, AgentFailure */
  change(agent: AgentProcess, sessionId: string, change: Choice): Promise<readonly Setting[]>;
  /** Sets the settings that are not in effect. @throws SettingRefused, AgentFailure */
  apply(agent: AgentProcess, sessionId: string, settings: readonly Choice[]): Promise<void>;
  /** Sets the choices of a new process; drops choices the agent does not offer. Never rejects. */
  restore(agent: AgentProcess, sessionId: string, wanted: SessionChoices): Promise<void>;
  onChange: (listener: Listener) => void;
}

type Listener = (sessionId: string, how: 'offered' | 'changed' | 'own') => void;

interface SessionSettings {
  settings: readonly Setting[];
  /** They are config options. */
  isConfig: boolean;
  /** The agent has modes beside its config options. */
  hasModes: boolean;
}

const maxSessions = 1000;

/** A choice of model or reasoning. Every other setting can decide whether the agent asks. */
const isOfModel = ({ category, id }: Fields): boolean =>
  category === 'model' ||
  category === 'thought_level' ||
  (typeof category !== 'string' &&
    /^(?:effort|reasoning|thinking|thought)(?:[_-]?(?:effort|level))?$/i.test(wordsOf(id)));

/** When a change of this setting during a turn takes effect; undefined if unknown. */
const appliesOf = ({ category = '' }: Setting, { applies }: Quirks) =>
  (['now', 'next'] as const).find((when) => applies?.[when]?.includes(category));

/** The changes that the daemon makes itself, by session. */
function createOwnChanges() {
  /** Sessions whose settings the daemon is changing, and how often. */
  const changing = new Map<string, number>();
  return {
    isChanging: (sessionId: string): boolean => changing.has(sessionId),
    /** News of the agent during `work` are effects of the daemon's own change. */
    whileChanging: async <T>(sessionId: string, work: () => Promise<T>): Promise<T> => {
      changing.set(sessionId, (changing.get(sessionId) ?? 0) + 1);
      try {
        return await work();
      } finally {
        const left = (changing.get(sessionId) ?? 1) - 1;
        if (left === 0) changing.delete(sessionId);
        else changing.set(sessionId, left);
      }
    },
  };
}

/** Apps see and change only the model and its reasoning if `askAtDesk` is set. */
export function createSettings(
  limitMs: number,
  { askAtDesk, noFullAccess = false, quirks = {} }: Pick<AcpOptions, 'askAtDesk' | 'noFullAccess' | 'quirks'> = {},
): Settings {
  const onlyModels = askAtDesk !== undefined;
  const hidesDanger = onlyModels || noFullAccess;

  /** The settings with their marks, without the options that this machine does not allow. */
  const allowed = (settings: Setting[]): Setting[] =>
    settings.flatMap((setting) => {
      const marked = setting.options.map((option) =>
        isDangerous(setting, option, quirks) ? { ...option, danger: true } : option,
      );
      const options = hidesDanger ? marked.filter(({ danger }) => danger !== true) : marked;
      const applies = appliesOf(setting, quirks);
      return options.length > 0 ? [{ ...setting, ...(applies && { applies }), options }] : [];
    });
  const configOf = (answer: Fields) =>
    allowed(
      configIn({ configOptions: listOf(answer.configOptions).filter((option) => !onlyModels || isOfModel(option)) }),
    );
  const sessions = new Map<string, SessionSettings>();
  const { isChanging, whileChanging } = createOwnChanges();
  let listener: Listener = () => undefined;

  const store = (sessionId: string, change: Partial<SessionSettings>, how: Parameters<Listener>[1] = 'changed') => {
    const before = sessions.get(sessionId);
    const now = {
      settings: [],
      isConfig: false,
      hasModes: false,
      ...before,
      ...change,
    };
    sessions.delete(sessionId);
    sessions.set(sessionId, now);
    const [oldest] = sessions.keys();
    if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
    if (how === 'offered' || (before && JSON.stringify(before.settings) !== JSON.stringify(now.settings)))
      listener(sessionId, how);
  };

  const holds = (sessionId: string, id: string, value: string, how: 'changed' | 'own' = 'changed') => {
    const session = sessions.get(sessionId);
    const settings = session?.settings.map((one) => (one.id === id ? { ...one, value } : one));
    if (settings) store(sessionId, { settings }, how);
  };

  /** Config options, and the mode of an agent that has modes beside them. */
  const withMode = (sessionId: string, config: Setting[]): Setting[] => {
    const { hasModes = false, settings = [] } = sessions.get(sessionId) ?? {};
    return hasModes ? [...config, ...settings.filter(({ kind }) => kind === 'mode')] : config;
  };

  const modeHolds = (sessionId: string, modeId: string, how: 'changed' | 'own') => {
    const mode = sessions.get(sessionId)?.settings.find(({ kind }) => kind === 'mode');
    if (!mode?.options.some(({ id }) => id === modeId)) return false;
    holds(sessionId, mode.id, modeId, how);
    return true;
  };

  const ask = async (agent: AgentProcess, sessionId: string, { id, value, isSafe }: Choice): Promise<void> => {
    const session = sessions.get(sessionId);
    const setting = session?.settings.find((one) => one.id === id);
    if (!session || (session.settings.length === 0 && !onlyModels))
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
    const option = setting.options.find((one) => one.id === value);
    if (!option) throw new SettingRefused('INVALID_SETTING', `"${setting.name}" has no value "${value}".`);
    if (isSafe && option.danger === true)
      throw new SettingRefused('SETTING_NOT_ALLOWED', 'A mode that never asks takes a person.');
    if (session.isConfig && !(session.hasModes && setting.kind === 'mode')) {
      const answer = await agent.request('session/set_config_option', { sessionId, configId: id, value }, limitMs);
      const config = configOf(answer);
      if (config.length > 0) store(sessionId, { settings: withMode(sessionId, config) });
      else holds(sessionId, id, value);
      return;
    }
    if (setting.kind === 'mode') await agent.request('session/set_mode', { sessionId, modeId: value }, limitMs);
    else await agent.request('session/set_model', { sessionId, modelId: value }, limitMs);
    holds(sessionId, id, value);
  };
  const change: Settings['change'] = async (agent, sessionId, choice) => {
    await whileChanging(sessionId, () => ask(agent, sessionId, choice));
    return sessions.get(sessionId)?.settings ?? [];
  };
  const holdsNow = (sessionId: string, { id, value }: Choice) =>
    sessions.get(sessionId)?.settings.some((one) => one.id === id && one.value === value) === true;

  return {
    of: (sessionId) => sessions.get(sessionId)?.settings,
    opened(sessionId, answer) {
      const config = configOf(answer);
      if (config.length > 0) {
        const modes = onlyModels || config.some(({ kind }) => kind === 'mode') ? [] : allowed(modesOf(answer));
        store(sessionId, { settings: [...config, ...modes], isConfig: true, hasModes: modes.length > 0 }, 'offered');
      } else {
        const settings = allowed([...(onlyModels ? [] : modesOf(answer)), ...modelsOf(answer)]);
        // An agent that resumes a session can omit settings it reported before.
        if (settings.length > 0 || !sessions.has(sessionId)) store(sessionId, { settings, isConfig: false }, 'offered');
      }
    },
    observe(sessionId, update) {
      const how = isChanging(sessionId) ? 'changed' : 'own';
      if (update.sessionUpdate === 'current_mode_update') {
        return !modeHolds(sessionId, wordsOf(update.currentModeId), how);
      }
      if (update.sessionUpdate !== 'config_option_update') return true;
      const config = configOf(update);
      // The daemon ignores an empty list: it would take every choice from the person.
      if (config.length > 0) store(sessionId, { settings: withMode(sessionId, config), isConfig: true }, how);
      return true;
    },
    inMode: (sessionId, modeId) => void modeHolds(sessionId, modeId, 'changed'),
    change,
    async apply(agent, sessionId, settings) {
      await whileChanging(sessionId, async () => {
        for (const choice of settings) {
          const isRefused = choice.isSafe === true || hidesDanger;
          if (isRefused || !holdsNow(sessionId, choice)) await change(agent, sessionId, choice);
          if (!holdsNow(sessionId, choice))
            throw new SettingRefused('INVALID_SETTING', `The agent did not take "${choice.id}": "${choice.value}".`);
        }
      });
    },
    async restore(agent, sessionId, wanted) {
      await whileChanging(sessionId, async () => {
        for (const choice of wanted.choices) {
          if (holdsNow(sessionId, choice)) continue;
          const previous = sessions.get(sessionId)?.settings.find(({ id }) => id === choice.id);
          const isRefused = await change(agent, sessionId, choice).then(
            () => false,
            (error: unknown) => error instanceof SettingRefused,
          );
          if (isRefused && previous) wanted.gone(choice, previous.value);
        }
      });
    },
    onChange: (listens) => void (listener = listens),
  };
}

const named = (id: unknown, { name, description }: Fields) => ({
  id: wordsOf(id),
  name: wordsOf(name) || wordsOf(id),
  ...(wordsOf(description) === '' ? {} : { description: wordsOf(description) }),
});
const isNamed = ({ id }: { id: string }) => id !== '';

export function configIn({ configOptions }: Fields): Setting[] {
  return listOf(configOptions).flatMap((option) => {
    // The agent offers a switch only to clients that announce support, and this client does not.
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

export function modesOf({ modes }: Fields): Setting[] {
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
