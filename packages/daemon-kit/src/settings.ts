/** Settings of sessions, between the agent and the relay: within their bounds, and with a notice to the relay when one changed. */
import {
  type FromDaemon,
  type Setting,
  type ToDaemon,
  limits,
  relayCapabilities,
  settingLimits,
} from '@relay/protocol';
import type { Agent } from './agent.ts';
import { type Caps, isCap } from './caps.ts';
import { entryBytes, keepHead } from './bounds.ts';
import type { Cancel, Clock } from './clock.ts';
import { reasonOf } from './failure.ts';
import { SettingRefused } from './setting-refused.ts';
import type { Link } from './link.ts';
import type { Store } from './store.ts';

export async function answerSettings(
  { agent, store, caps }: { agent: Pick<Agent, 'settings'>; store: Store; caps: Caps },
  { request_id: requestId, session_id: sessionId, change }: ToDaemon<'settings_request'>,
): Promise<FromDaemon<'settings_response'>> {
  const reply = { type: 'settings_response', request_id: requestId, session_id: sessionId } as const;
  const session = store.session(sessionId);
  if (!session) return { ...reply, error: 'this device has no such session' };
  try {
    const { projectPath } = session;
    // A cap belongs to the daemon, so no agent is asked.
    if (change && isCap(change.id)) return { ...reply, settings: caps.change(sessionId, change) };
    const own = caps.settings(sessionId);
    const offered = (await agent.settings?.({ sessionId, projectPath }, change)) ?? [];
    const told = [...offered, ...own];
    if (told.length === 0)
      throw new SettingRefused('SETTINGS_NOT_SUPPORTED', 'The agent of this session has no settings.');
    return { ...reply, settings: withinBounds(told) };
  } catch (error) {
    const code = error instanceof SettingRefused ? { code: error.code } : {};
    return { ...reply, ...code, error: keepHead(reasonOf(error), limits.lastMessageBytes) };
  }
}

/** The settings within the bounds: the excess is left out, except for the current option. */
function withinBounds(settings: readonly Setting[]): Setting[] {
  let left: number = settingLimits.bytes - 1024;
  const kept = settings
    .filter(({ id, value }) => isId(id) && isId(value))
    .slice(0, settingLimits.settings)
    .map((setting): Setting => ({ ...described(setting), options: [] }));
  for (const setting of kept) left -= entryBytes(setting);
  for (const setting of kept) {
    const { options = [] } = settings.find(({ id }) => id === setting.id) ?? {};
    const current = options.filter(({ id }) => id === setting.value);
    const others = options.filter(({ id }) => id !== setting.value && isId(id));
    const fit = new Set<string>();
    for (const option of [...current, ...others].slice(0, settingLimits.options)) {
      const size = entryBytes(described(option));
      if (size > left) break;
      left -= size;
      fit.add(option.id);
    }
    setting.options = options.filter(({ id }) => fit.has(id)).map(described);
  }
  return left < 0 ? [] : kept;
}

const isId = (text: string) => text !== '' && text.length <= limits.idCharacters;
const described = <T extends { name: string; description?: string; group?: string; category?: string }>(one: T): T => ({
  ...one,
  name: keepHead(one.name, limits.nameCharacters),
  ...(one.group === undefined ? {} : { group: keepHead(one.group, limits.nameCharacters) }),
  ...(one.category === undefined ? {} : { category: keepHead(one.category, limits.nameCharacters) }),
  ...(one.description === undefined ? {} : { description: keepHead(one.description, limits.promptOptionCharacters) }),
});

const tellEveryMs = 1000;

/** Sends a notice that something changed in a session, at most once a second. */
export function tellSettings(
  sources: readonly Agent['onSettings'][],
  clock: Clock,
  { isDeclared, send }: Pick<Link, 'isDeclared' | 'send'>,
): void {
  const waiting = new Map<string, Cancel>();
  const changed = (sessionId: string) => {
    if (waiting.has(sessionId)) return;
    const say = () => {
      waiting.delete(sessionId);
      if (isDeclared(relayCapabilities.settings)) send({ type: 'settings_activity', session_id: sessionId });
    };
    waiting.set(sessionId, clock.after(tellEveryMs, say));
  };
  for (const source of sources) source?.(changed);
}
