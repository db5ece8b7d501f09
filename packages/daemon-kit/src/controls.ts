/**
 * The settings that outlive a process of an agent: the choices of each session, the defaults of each agent, and the settings that each agent
 * reported last. The relay keeps nothing of them.
 */
import { join } from 'node:path';
import {
  type FromDaemon,
  type MessageSetting,
  type Setting,
  type ToDaemon,
  limits,
  relayCapabilities,
} from '@relay/protocol';
import type { Agent, Choice, SessionChoices } from './agent.ts';
import { SettingNotApplied } from './agent.ts';
import { keepHead } from './bounds.ts';
import { type Caps, isCap } from './caps.ts';
import type { Cancel, Clock } from './clock.ts';
import { reasonOf } from './failure.ts';
import type { Log } from './log.ts';
import { readIfPresent, replaceOwnerFile } from './owner-file.ts';
import type { StoredSettings } from './session-file.ts';
import { SettingRefused, withinBounds } from './settings.ts';
import type { Store } from './store.ts';

interface ControlsOptions {
  /** The agents of the daemon; '' is the one of the registration. */
  agents: ReadonlyMap<string, Agent>;
  /** All of them as one. */
  agent: Agent;
  /** Settings of the daemon's own. */
  caps: Pick<Caps, 'settings' | 'change' | 'onChange'>;
  store: Store;
  folder: string;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  /** Puts a mark into the log of the session. */
  mark: (sessionId: string, mark: { text: string; by?: string; danger?: true }) => void;
  send: (frame: FromDaemon<'settings_activity'>) => void;
  declares: (capability: string) => boolean;
}

/** The settings that come with a task, and who sent it. */
interface Wanted {
  settings?: readonly MessageSetting[] | undefined;
  restricted?: string | undefined;
}

export interface Controls {
  /** With which choices a new session begins. @throws SettingNotApplied */
  forNew(agentType: string | undefined, wanted: Wanted): { choices: SessionChoices; settings: Choice[] };
  /** The session was opened with them. */
  begun(
    sessionId: string,
    agentType: string | undefined,
    opened: { choices: SessionChoices; settings: Choice[] },
  ): void;
  forSession(sessionId: string): SessionChoices;
  /** The settings of a message in this session. @throws SettingNotApplied */
  wanted(sessionId: string, wanted: Wanted): Choice[];
  /** They are set: they hold from now on in this session. */
  chosen(sessionId: string, settings: readonly Choice[]): void;
  /** Keeps the settings with `keep` as defaults of the agent. */
  keep(agentType: string | undefined, settings: readonly MessageSetting[] | undefined): void;
  answer(frame: ToDaemon<'settings_request'>): Promise<FromDaemon<'settings_response'>>;
  answerAgent(frame: ToDaemon<'agent_settings_request'>): FromDaemon<'agent_settings_response'>;
}

interface Offer {
  at: string;
  settings: Setting[];
  can?: readonly string[];
}

const tellEveryMs = 1000;
const maxChoicesBytes = 64 * 1024;

const optionOf = (settings: readonly Setting[], { id, value }: Choice) =>
  settings.find((one) => one.id === id)?.options.find((option) => option.id === value);
const nameOf = (settings: readonly Setting[], choice: Choice): string =>
  optionOf(settings, choice)?.name ?? choice.value;

/** Reads a JSON object from a file of the owner. A missing file reads as an empty object. */
function openRecord<T>(path: string, log: Pick<Log, 'warn'>): { all: Record<string, T>; save: () => void } {
  let all: Record<string, T> = {};
  try {
    const value: unknown = JSON.parse(readIfPresent(path) ?? '{}');
    if (typeof value === 'object' && value !== null) all = value as Record<string, T>;
  } catch (error) {
    log.warn('settings not read', { file: path, why: reasonOf(error) });
  }
  return {
    all,
    save() {
      try {
        replaceOwnerFile(path, JSON.stringify(all));
      } catch (error) {
        log.warn('settings not kept', { file: path, why: reasonOf(error) });
      }
    },
  };
}

export function createControls(options: ControlsOptions): Controls {
  const { agents, agent, caps, store, clock, log } = options;
  const defaults = openRecord<Record<string, string>>(join(options.folder, 'choices.json'), log);
  const offers = openRecord<Offer>(join(options.folder, 'offers.json'), log);
  const time = () => new Date(clock.now()).toISOString();
  const typeOf = (sessionId: string) => store.session(sessionId)?.agentType ?? '';
  const offerOf = (agentType = ''): readonly Setting[] => offers.all[agentType]?.settings ?? [];
  const kept = (sessionId: string): StoredSettings =>
    store.settings(sessionId) ?? { chosen: {}, values: {}, at: time() };

  const activity = createActivity(options);
  caps.onChange(activity);

  const keepIn = (sessionId: string, change: Partial<StoredSettings>) => {
    if (!store.has(sessionId)) return;
    const before = kept(sessionId);
    const after = { ...before, ...change, at: time() };
    if (JSON.stringify([before.chosen, before.values]) === JSON.stringify([after.chosen, after.values])) return;
    try {
      store.keepSettings(sessionId, after);
    } catch (error) {
      log.warn('settings not kept', { session: sessionId, why: reasonOf(error) });
    }
  };

  /** A mark for each mode or model that changed. */
  const markChanges = (sessionId: string, before: Record<string, string>, now: readonly Setting[], by?: string) => {
    for (const setting of now) {
      const was = before[setting.id];
      if (was === undefined || was === setting.value) continue;
      const option = setting.options.find(({ id }) => id === setting.value);
      const wasDanger = setting.options.find(({ id }) => id === was)?.danger === true;
      const isMode = setting.kind === 'mode';
      if (!isMode && setting.kind !== 'model' && option?.danger !== true && !wasDanger) continue;
      const name = option?.name ?? setting.value;
      const text = isMode ? name : `${setting.name}: ${name}`;
      const danger = option?.danger === true ? { danger: true as const } : {};
      options.mark(sessionId, { text, ...(by === undefined ? {} : { by }), ...danger });
    }
  };

  const known = (sessionId: string) => agent.knownSettings?.(sessionId);
  const valuesOf = (settings: readonly Setting[]) => Object.fromEntries(settings.map(({ id, value }) => [id, value]));

  for (const [agentType, one] of agents)
    one.onSettings?.((sessionId, how) => {
      const { settings = [] } = one.knownSettings?.(sessionId) ?? {};
      const shown = withinBounds(settings);
      if (how === 'offered' && shown.length > 0) {
        const can = one.abilities?.();
        const { at: _, ...before } = offers.all[agentType] ?? { at: '' };
        const offer = { settings: shown, ...(can ? { can } : {}) };
        offers.all[agentType] = { at: time(), ...offer };
        if (JSON.stringify(before) !== JSON.stringify(offer)) offers.save();
      }
      const before = kept(sessionId);
      if (how === 'own') {
        // The agent left its mode by itself, after a plan for instance: the next process goes on with it.
        const chosen = { ...before.chosen };
        for (const { id, value } of settings) if (chosen[id] !== undefined) chosen[id] = value;
        markChanges(sessionId, before.values, settings);
        keepIn(sessionId, { chosen, values: valuesOf(settings) });
      } else keepIn(sessionId, { values: valuesOf(settings) });
      if (how !== 'offered') activity(sessionId);
    });

  const gone = (sessionId: string) => (choice: Choice, using: string) => {
    const { chosen } = kept(sessionId);
    const { [choice.id]: _, ...rest } = chosen;
    const settings = offerOf(typeOf(sessionId));
    const text = `“${nameOf(settings, choice)}” is no longer offered. Using ${nameOf(settings, { ...choice, value: using })}.`;
    keepIn(sessionId, { chosen: rest });
    if (store.has(sessionId)) options.mark(sessionId, { text });
  };

  /** Refuses choices that only a person can make. */
  const checked = (agentType: string | undefined, { settings = [], restricted }: Wanted): Choice[] => {
    const offer = offerOf(agentType);
    return settings.map(({ id, value, keep }) => {
      const isDanger = optionOf(offer, { id, value })?.danger === true;
      if (isDanger && keep === true)
        throw new SettingNotApplied('A mode that never asks becomes a default in the settings of the machine only.');
      const isMode = id === 'mode' || offer.find((one) => one.id === id)?.kind === 'mode';
      if (restricted === 'agent' && isMode && defaults.all[agentType ?? '']?.[id] !== value)
        throw new SettingNotApplied('An agent cannot choose the mode of a session.');
      return { id, value, ...(restricted === undefined ? {} : { isSafe: true }) };
    });
  };

  const setDefault = (agentType: string, id: string, value: string | null) => {
    const { [id]: _, ...rest } = defaults.all[agentType] ?? {};
    const next = { ...defaults.all, [agentType]: value === null ? rest : { ...rest, [id]: value } };
    if (Buffer.byteLength(JSON.stringify(next)) > maxChoicesBytes)
      throw new SettingRefused('INVALID_SETTING', 'This machine keeps no more defaults.');
    defaults.all[agentType] = next[agentType] ?? {};
    defaults.save();
  };

  const refusal = (error: unknown) => ({
    ...(error instanceof SettingRefused ? { code: error.code } : {}),
    error: keepHead(reasonOf(error), limits.lastMessageBytes),
  });
  const canOf = (agentType: string) => {
    const can = agents.get(agentType)?.abilities?.() ?? offers.all[agentType]?.can;
    return can ? { can: [...can] } : {};
  };

  const forSession: Controls['forSession'] = (sessionId) => ({
    choices: Object.entries(kept(sessionId).chosen).map(([id, value]) => ({ id, value })),
    gone: gone(sessionId),
  });

  return {
    forNew(agentType, wanted) {
      const settings = checked(agentType, wanted);
      const isSafe = wanted.restricted === undefined ? {} : { isSafe: true as const };
      const choices = Object.entries(defaults.all[agentType ?? ''] ?? {})
        .filter(([id]) => !settings.some((one) => one.id === id))
        .map(([id, value]) => ({ id, value, ...isSafe }));
      const left: Choice[] = [];
      return { choices: { choices, gone: (choice) => void left.push(choice) }, settings };
    },
    begun(sessionId, agentType, { choices: { choices }, settings }) {
      const now = known(sessionId)?.settings ?? [];
      // The session keeps its beginning: another default is for the sessions after it.
      const chosen = [...choices, ...settings].filter(({ id, value }) =>
        now.some((one) => one.id === id && one.value === value),
      );
      keepIn(sessionId, {
        chosen: Object.fromEntries(chosen.map(({ id, value }) => [id, value])),
        values: valuesOf(now),
      });
      for (const choice of chosen)
        if (optionOf(now, choice)?.danger === true)
          options.mark(sessionId, { text: nameOf(now, choice), danger: true });
    },
    forSession,
    wanted: (sessionId, wanted) => checked(typeOf(sessionId), wanted),
    chosen(sessionId, settings) {
      const before = kept(sessionId);
      const now = known(sessionId)?.settings ?? [];
      keepIn(sessionId, {
        chosen: { ...before.chosen, ...Object.fromEntries(settings.map(({ id, value }) => [id, value])) },
      });
      for (const choice of settings)
        if (optionOf(now, choice)?.danger === true && before.chosen[choice.id] !== choice.value)
          options.mark(sessionId, { text: nameOf(now, choice), danger: true });
    },
    keep(agentType, settings = []) {
      for (const { id, value, keep } of settings) if (keep === true) setDefault(agentType ?? '', id, value);
    },
    async answer({ request_id: requestId, session_id: sessionId, change, known: onlyKnown, keep, changed_on: by }) {
      const reply = { type: 'settings_response', request_id: requestId, session_id: sessionId } as const;
      const session = store.session(sessionId);
      if (!session) return { ...reply, error: 'this device has no such session' };
      const more = options.declares(relayCapabilities.controls) ? canOf(typeOf(sessionId)) : {};
      try {
        if (onlyKnown && !change) {
          const now = known(sessionId);
          const own = caps.settings(sessionId);
          if (now?.isLive) return { ...reply, settings: withinBounds([...now.settings, ...own]), ...more };
          // Another session shows what the agent offers, but not the values of this one.
          if (!now && !store.settings(sessionId)) return { ...reply, settings: own, ...more };
          const { values, at } = kept(sessionId);
          const settings = (now?.settings ?? offerOf(typeOf(sessionId))).map((one) => ({
            ...one,
            value: values[one.id] ?? one.value,
          }));
          return { ...reply, settings: withinBounds([...settings, ...own]), as_of: at, ...more };
        }
        // A cap belongs to the daemon, so no agent is asked.
        if (change && isCap(change.id)) {
          const own = caps.change(sessionId, change);
          return { ...reply, settings: withinBounds([...(known(sessionId)?.settings ?? []), ...own]), ...more };
        }
        const { projectPath } = session;
        const before = valuesOf(known(sessionId)?.settings ?? []);
        const offered = await agent.settings?.({ sessionId, projectPath, choices: forSession(sessionId) }, change);
        const told = [...(offered ?? []), ...caps.settings(sessionId)];
        if (told.length === 0)
          throw new SettingRefused('SETTINGS_NOT_SUPPORTED', 'The agent of this session has no settings.');
        if (change) {
          keepIn(sessionId, {
            chosen: { ...kept(sessionId).chosen, [change.id]: change.value },
            values: valuesOf(offered ?? []),
          });
          if (keep) setDefault(typeOf(sessionId), change.id, change.value);
          markChanges(sessionId, before, offered ?? [], by ?? 'another app');
          if (keep) activity(sessionId, true);
        }
        return { ...reply, settings: withinBounds(told), ...more };
      } catch (error) {
        return { ...reply, ...refusal(error) };
      }
    },
    answerAgent({ request_id: requestId, agent_type: given, change }) {
      const reply = { type: 'agent_settings_response', request_id: requestId } as const;
      const agentType = given ?? '';
      try {
        if (!agents.has(agentType)) throw new Error('This machine does not offer this agent.');
        const offer = offerOf(agentType);
        if (
          change &&
          change.value !== null &&
          offer.length > 0 &&
          !optionOf(offer, { id: change.id, value: change.value })
        )
          throw new SettingRefused('INVALID_SETTING', `The agent offers no "${change.id}" with this value.`);
        if (change) setDefault(agentType, change.id, change.value);
        const own = defaults.all[agentType] ?? {};
        const settings = offer.map((one) => {
          const value = own[one.id];
          return value !== undefined && optionOf(offer, { id: one.id, value }) ? { ...one, value } : { ...one };
        });
        const at = offers.all[agentType]?.at;
        return { ...reply, settings, ...(at === undefined ? {} : { as_of: at }), ...canOf(agentType) };
      } catch (error) {
        return { ...reply, ...refusal(error) };
      }
    },
  };
}

/** Sends a notice that something changed in a session, at most once a second. */
function createActivity({ clock, send, declares }: Pick<ControlsOptions, 'clock' | 'send' | 'declares'>) {
  const waiting = new Map<string, { cancel: Cancel; defaults: boolean }>();
  return (sessionId: string, defaults = false) => {
    const before = waiting.get(sessionId);
    if (before) return void (before.defaults ||= defaults);
    const tell = () => {
      const { defaults: isDefault } = waiting.get(sessionId) ?? {};
      waiting.delete(sessionId);
      if (declares(relayCapabilities.settings))
        send({ type: 'settings_activity', session_id: sessionId, ...(isDefault ? { defaults: true } : {}) });
    };
    waiting.set(sessionId, { cancel: clock.after(tellEveryMs, tell), defaults });
  };
}
