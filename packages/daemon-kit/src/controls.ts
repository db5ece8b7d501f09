/**
 * The settings that outlive a process of an agent: the choices of each session, the defaults of each agent, and the settings that each agent
 * reported last. The relay keeps nothing of them.
 */
import { type FromDaemon, type MessageSetting, type Setting, relayCapabilities } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import { type Agent, type Choice, type SessionChoices, SettingNotApplied } from './agent.ts';
import type { Caps } from './caps.ts';
import type { Cancel, Clock } from './clock.ts';
import { type ControlAnswers, createControlAnswers } from './control-answers.ts';
import { createRecords, nameOf, optionOf, valuesOf } from './control-records.ts';
import type { Log } from './log.ts';
import type { StoredSettings } from './session-file.ts';
import { withinBounds } from './settings.ts';
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

export interface Controls extends ControlAnswers {
  /** Returns the initial choices of a new session. @throws SettingNotApplied */
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
}

const reportEveryMs = 1000;

export function createControls(options: ControlsOptions): Controls {
  const { agents, agent, caps, store, clock, log } = options;
  const time = () => new Date(clock.now()).toISOString();
  const records = createRecords({ ...options, time });
  const { offerOf } = records;
  const typeOf = (sessionId: string) => store.session(sessionId)?.agentType ?? '';
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

  const cachedSettings = (sessionId: string) => agent.cachedSettings?.(sessionId);

  for (const [agentType, one] of agents)
    one.onSettings?.((sessionId, how) => {
      const { settings = [] } = one.cachedSettings?.(sessionId) ?? {};
      const shown = withinBounds(settings);
      if (how === 'offered' && shown.length > 0) records.offered(agentType, shown, one.abilities?.());
      const before = kept(sessionId);
      if (how === 'own') {
        // The agent left its mode by itself, after a plan for instance: the next process continues in the new mode.
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
      if (restricted === 'agent' && isMode && records.defaultsOf(agentType)[id] !== value)
        throw new SettingNotApplied('An agent cannot choose the mode of a session.');
      return { id, value, ...(restricted === undefined ? {} : { isSafe: true }) };
    });
  };

  const forSession: Controls['forSession'] = (sessionId) => ({
    choices: Object.entries(kept(sessionId).chosen).map(([id, value]) => ({ id, value })),
    gone: gone(sessionId),
  });

  return {
    forNew(agentType, wanted) {
      const settings = checked(agentType, wanted);
      const isSafe = wanted.restricted === undefined ? {} : { isSafe: true as const };
      const choices = Object.entries(records.defaultsOf(agentType))
        .filter(([id]) => !settings.some((one) => one.id === id))
        .map(([id, value]) => ({ id, value, ...isSafe }));
      const left: Choice[] = [];
      return { choices: { choices, gone: (choice) => void left.push(choice) }, settings };
    },
    begun(sessionId, agentType, { choices: { choices }, settings }) {
      const now = cachedSettings(sessionId)?.settings ?? [];
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
      const now = cachedSettings(sessionId)?.settings ?? [];
      keepIn(sessionId, {
        chosen: { ...before.chosen, ...Object.fromEntries(settings.map(({ id, value }) => [id, value])) },
      });
      for (const choice of settings)
        if (optionOf(now, choice)?.danger === true && before.chosen[choice.id] !== choice.value)
          options.mark(sessionId, { text: nameOf(now, choice), danger: true });
    },
    keep(agentType, settings = []) {
      for (const { id, value, keep } of settings) if (keep === true) records.setDefault(agentType ?? '', id, value);
    },
    ...createControlAnswers({ ...options, records, activity, cachedSettings, kept, keepIn, markChanges, forSession }),
  };
}

/** Sends a notice that something changed in a session, at most once a second. */
function createActivity({ clock, send, declares }: Pick<ControlsOptions, 'clock' | 'send' | 'declares'>) {
  const waiting = new Map<string, { cancel: Cancel; defaults: boolean }>();
  return (sessionId: string, defaults = false) => {
    const before = waiting.get(sessionId);
    if (before) return void (before.defaults ||= defaults);
    const report = () => {
      const { defaults: isDefault } = waiting.get(sessionId) ?? {};
      waiting.delete(sessionId);
      if (declares(relayCapabilities.settings))
        send({ type: 'settings_activity', session_id: sessionId, ...(isDefault ? { defaults: true } : {}) });
    };
    waiting.set(sessionId, { cancel: clock.after(reportEveryMs, report), defaults });
  };
}
