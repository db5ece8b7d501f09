/** The answers to the relay's requests for the settings of a session, and for the defaults of an agent. */
import { type FromDaemon, type Setting, type ToDaemon, limits, relayCapabilities } from '@relay/protocol';
import { reasonOf } from '@relay/machine';
import type { Agent, SessionChoices } from './agent.ts';
import { keepHead } from './bounds.ts';
import { type Caps, isCap } from './caps.ts';
import { type ControlRecords, optionOf, valuesOf } from './control-records.ts';
import type { StoredSettings } from './session-file.ts';
import { SettingRefused, withinBounds } from './settings.ts';
import type { Store } from './store.ts';

export interface ControlAnswers {
  answer(frame: ToDaemon<'settings_request'>): Promise<FromDaemon<'settings_response'>>;
  answerAgent(frame: ToDaemon<'agent_settings_request'>): FromDaemon<'agent_settings_response'>;
}

interface AnswersOptions {
  agents: ReadonlyMap<string, Agent>;
  agent: Agent;
  caps: Pick<Caps, 'settings' | 'change'>;
  store: Store;
  declares: (capability: string) => boolean;
  records: ControlRecords;
  /** Notes that something changed in a session, or in the defaults of its agent. */
  activity: (sessionId: string, defaults?: boolean) => void;
  /** The settings that the agent knows of a session. */
  cachedSettings: (sessionId: string) => ReturnType<NonNullable<Agent['cachedSettings']>> | undefined;
  /** The settings that the store keeps of a session. */
  kept: (sessionId: string) => StoredSettings;
  keepIn: (sessionId: string, change: Partial<StoredSettings>) => void;
  markChanges: (sessionId: string, before: Record<string, string>, now: readonly Setting[], by?: string) => void;
  forSession: (sessionId: string) => SessionChoices;
}

const refusal = (error: unknown) => ({
  ...(error instanceof SettingRefused ? { code: error.code } : {}),
  error: keepHead(reasonOf(error), limits.lastMessageBytes),
});

export function createControlAnswers(options: AnswersOptions): ControlAnswers {
  const { agents, agent, caps, store, records, activity, cachedSettings, kept, keepIn, markChanges, forSession } =
    options;
  const { offerOf, setDefault, canOf } = records;
  const typeOf = (sessionId: string) => store.session(sessionId)?.agentType ?? '';

  return {
    async answer({ request_id: requestId, session_id: sessionId, change, known: onlyCached, keep, changed_on: by }) {
      const reply = { type: 'settings_response', request_id: requestId, session_id: sessionId } as const;
      const session = store.session(sessionId);
      if (!session) return { ...reply, error: 'this device has no such session' };
      const more = options.declares(relayCapabilities.controls) ? canOf(typeOf(sessionId)) : {};
      try {
        if (onlyCached && !change) {
          const now = cachedSettings(sessionId);
          const own = caps.settings(sessionId);
          if (now?.isLive) return { ...reply, settings: withinBounds([...now.settings, ...own]), ...more };
          // Another session shows which settings the agent offers, but not the values of this session.
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
          return {
            ...reply,
            settings: withinBounds([...(cachedSettings(sessionId)?.settings ?? []), ...own]),
            ...more,
          };
        }
        const { projectPath } = session;
        const before = valuesOf(cachedSettings(sessionId)?.settings ?? []);
        const offered = await agent.settings?.({ sessionId, projectPath, choices: forSession(sessionId) }, change);
        const settings = [...(offered ?? []), ...caps.settings(sessionId)];
        if (settings.length === 0)
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
        return { ...reply, settings: withinBounds(settings), ...more };
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
        const own = records.defaultsOf(agentType);
        const settings = offer.map((one) => {
          const value = own[one.id];
          return value !== undefined && optionOf(offer, { id: one.id, value }) ? { ...one, value } : { ...one };
        });
        const at = records.offeredAt(agentType);
        return { ...reply, settings, ...(at === undefined ? {} : { as_of: at }), ...canOf(agentType) };
      } catch (error) {
        return { ...reply, ...refusal(error) };
      }
    },
  };
}
